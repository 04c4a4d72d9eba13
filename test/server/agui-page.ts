// A page that speaks AG-UI: what it is sent is checked as the client of the protocol checks it.

import { verifyEvents } from "@ag-ui/client";
import { EventSchemas } from "@ag-ui/core/schemas";
import { from, lastValueFrom, toArray } from "rxjs";
import { expect, onTestFinished } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import type { Served } from "./served.ts";

export type AguiEvent = { readonly type: string } & Record<string, unknown>;

export interface Page {
  readonly events: readonly AguiEvent[];
  readonly types: readonly string[];
  readonly last: AguiEvent;
}

export interface PageOptions {
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface OpenPage {
  readonly status: number;
  /** Resolves with the first event of the type, which may have come already. */
  first(type: string): Promise<AguiEvent>;
  /** The stream to its end, or to where it broke. */
  readonly done: Promise<Page>;
  close(): void;
}

export async function openPage(
  server: Pick<Served, "url">,
  body: JsonObject,
  options: PageOptions = {},
): Promise<OpenPage> {
  const gone = new AbortController();
  onTestFinished(() => gone.abort());
  const response = await fetch(`${server.url}${options.path ?? "/agui"}`, {
    method: "POST",
    headers: { "content-type": "application/json", ...options.headers },
    body: JSON.stringify({ messages: [], tools: [], context: [], ...body }),
    signal: gone.signal,
  });
  const events: AguiEvent[] = [];
  let changed = Promise.withResolvers<void>();
  let isOver = false;
  const reading = read(response, (event) => {
    events.push(event);
    changed.resolve();
    changed = Promise.withResolvers();
  }).finally(() => {
    isOver = true;
    changed.resolve();
  });
  // Whoever does not wait for the end does not mind how it comes.
  reading.catch(() => undefined);
  const first = async (type: string): Promise<AguiEvent> => {
    for (;;) {
      const found = events.find((event) => event.type === type);
      if (found !== undefined) return found;
      if (isOver)
        throw new Error(`the stream ended without ${type}: ${events.map((one) => one.type).join(" ")}`);
      await changed.promise;
    }
  };
  const page = () => ({ events, types: events.map(({ type }) => type), last: events.at(-1) as AguiEvent });
  const done = reading.then(page, page);
  return { status: response.status, first, done, close: () => gone.abort() };
}

async function read(response: Response, take: (event: AguiEvent) => void): Promise<void> {
  let text = "";
  const decoder = new TextDecoder();
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk as Uint8Array, { stream: true });
    const blocks = text.split("\n\n");
    text = blocks.pop() ?? "";
    for (const block of blocks) if (block.startsWith("data: ")) take(JSON.parse(block.slice(6)) as AguiEvent);
  }
}

/** One request to its end. */
export async function post(
  server: Served,
  body: JsonObject,
  path = "/agui",
  headers: PageOptions["headers"] = {},
): Promise<Page> {
  const opened = await openPage(server, body, { path, headers });
  expect(opened.status).toBe(200);
  const page = await opened.done;
  await checked(page);
  return page;
}

/** Every event is one of the protocol, and they come in an order that its client takes. */
export async function checked({ events }: Page): Promise<void> {
  for (const event of events) EventSchemas.parse(event);
  await lastValueFrom(from(events as never[]).pipe(verifyEvents(), toArray()));
}

export const said = (text: string, id = "m1"): JsonObject[] => [{ id, role: "user", content: text }];

export function interrupts({ last }: Page): readonly JsonObject[] {
  const outcome = last["outcome"] as JsonObject | undefined;
  expect(outcome?.["type"]).toBe("interrupt");
  return outcome?.["interrupts"] as unknown as JsonObject[];
}

/** The run behind the page. */
export function runOf({ events: [first] }: Page): string {
  const metadata = first?.["metadata"] as JsonObject | undefined;
  return String(metadata?.["run"]);
}
