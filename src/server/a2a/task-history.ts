// What was said to a task and what it asked or answered, read from the journal in its order.

import type { Message, Part } from "@a2a-js/sdk";
import type { JsonObject } from "../../base/json.ts";
import { applyTurn } from "../../core/apply.ts";
import type { Fact, TurnRow } from "../../core/facts.ts";
import { emptyRun, type Run } from "../../core/run.ts";
import { turnsOf } from "../../host/stored-runs.ts";
import type { SeenRun } from "../seen-run.ts";
import type { ServerParts } from "../server-parts.ts";
import { dataPart, filePart, type TaskPlace, textPart, userMessage } from "./message-parts.ts";
import { statusView } from "./task-status.ts";

/** What journals keep of a message that a client sent: its id, and a hash of all of it. */
export const keyOfMessage = ({ id, hash }: { readonly id: string; readonly hash: string }): string =>
  `a2a ${hash.slice(0, 32)} ${id}`;

const MESSAGE_KEY = /^a2a [0-9a-f]{32} (.*)$/s;

/** Undefined for other keys. */
export const messageIdIn = (key: string): string | undefined => MESSAGE_KEY.exec(key)?.[1];

export interface TaskPast {
  readonly seen: Pick<SeenRun, "record" | "run">;
  readonly place: TaskPlace;
  /** The id of the message that began it. */
  readonly firstId: string;
  /** The newest so many. */
  readonly limit: number;
}

export async function taskHistory(parts: ServerParts, past: TaskPast): Promise<readonly Message[]> {
  const { seen, place, firstId, limit } = past;
  if (limit === 0) return [];
  const messages: Message[] = [];
  let run: Run = emptyRun;
  for await (const row of turnsOf(parts.store, place.id, { from: 1, to: seen.run.turn })) {
    run = applyTurn(run, row);
    const said = saidIn(row.facts);
    if (said.length > 0) {
      const message = idOf(row, place, firstId);
      const files = parts.blobs.files.ofMessage({ run: place.id, message }).map(filePart);
      messages.push(userMessage(place, message, [...said, ...files]));
    }
    if (!changesStatus(row)) continue;
    const { status } = await statusView(parts, { record: seen.record, run }, place);
    const { message } = status;
    const isTold = message !== undefined && messages.at(-1)?.messageId !== message.messageId;
    // What only says that something elsewhere is waited for is no part of the talk.
    if (isTold && !message.messageId.startsWith(`${place.id}/waits/`)) messages.push(message);
  }
  return Number.isFinite(limit) ? messages.slice(-limit) : messages;
}

/** Most turns are about models and tools; only after these may somebody be asked or told something else. */
const changesStatus = ({ facts }: TurnRow): boolean =>
  facts.some(
    (fact) =>
      fact.type === "finished" ||
      (fact.type === "asked" && ["event", "message", "approval"].includes(fact.ask.kind)) ||
      (fact.type === "noted" && (fact.what === "in_doubt" || fact.what === "deferred")),
  );

function idOf({ turn, facts }: TurnRow, { id }: TaskPlace, firstId: string): string {
  if (turn === 1) return firstId;
  const sent = facts.flatMap((fact) => {
    const message = fact.type === "noted" && fact.what === "dedupe" ? messageIdIn(fact.key) : undefined;
    return message === undefined ? [] : [message];
  });
  return sent[0] ?? `${id}/said/${turn}`;
}

function saidIn(facts: readonly Fact[]): readonly Part[] {
  return facts.flatMap((fact): readonly Part[] => {
    switch (fact.type) {
      case "started":
        return startParts(fact.input, fact.variables);
      case "entered": {
        const { cause, context } = fact;
        if (cause.kind !== "event" || cause.by === undefined) return [];
        return [dataPart({ event: cause.event, ...(context !== "" && { context }) })];
      }
      case "answered": {
        const { outcome, by, step } = fact;
        if (by === undefined) return [];
        return [dataPart({ step, ...(outcome.ok ? { answer: outcome.value } : { error: outcome.message }) })];
      }
      case "noted":
        if (fact.what === "message") return [textPart(fact.text)];
        return fact.what === "resumed" && fact.input !== undefined
          ? [dataPart({ step: fact.step, answer: fact.input })]
          : [];
      default:
        return [];
    }
  });
}

function startParts(input: string, variables: JsonObject): readonly Part[] {
  const data = Object.keys(variables).length > 0 ? [dataPart(variables)] : [];
  return input === "" && data.length > 0 ? data : [textPart(input), ...data];
}
