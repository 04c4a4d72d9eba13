// The same plugin on three hosts: what each of them makes of the same events, and that the plugin says the
// same to all of them (FX-4).

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Json, JsonObject } from "../../src/base/json.ts";
import { type Emitted, LoopHost, onlyEvent, type Response, root } from "./loop-host.ts";
import { worked } from "./scripted-turns.ts";

interface Host {
  readonly config: JsonObject;
  readonly workspaceDir: string | undefined;
  /** The request's parts for a tool's event, as this host hands it on. */
  readonly handedOn: (
    request: Emitted,
    event: { readonly type: string; readonly payload: JsonObject },
  ) => { readonly event: JsonObject; readonly context: JsonObject; readonly payload?: JsonObject };
}

/** Everything any payload ever held is in the context, and in every payload that lacks it. */
function leaking(): Host {
  let context: JsonObject = {};
  return {
    config: { workspace_root: "runs" },
    workspaceDir: "workspaces/relative",
    handedOn(request, { type, payload }) {
      context = { ...context, ...request.payload, ...payload, agentic: request.payload["agentic"] as Json };
      return { context, event: { type, payload: { ...context, ...payload }, source: "tool" } };
    },
  };
}

/** No folders; what pipelines claim is all there is in the context; marks of its own in every payload. */
const claiming: Host = {
  config: { workspace_root: "runs" },
  workspaceDir: undefined,
  handedOn({ payload: asked }, { type, payload }) {
    const agentic = { run_id: asked["run_id"], step: asked["step"], tool: asked["tool"], attempt: 1 };
    const marks = { ductile: { depth: 2 }, ductile_plugin: "agentic-loop" };
    const raw = { type, payload: { ...payload, ...marks } };
    const context = { agentic, ...marks } as JsonObject;
    return { context, payload: raw, event: { type, payload: { ...raw.payload, ...context } } };
  },
};

const ours: Host = {
  config: {},
  workspaceDir: "workspaces/root-job",
  handedOn({ payload: asked }, event) {
    return { context: { agentic: asked["agentic"] as Json }, payload: { ...event }, event: { ...event } };
  },
};

async function said({ config, workspaceDir, handedOn }: Host): Promise<readonly Emitted[]> {
  const host = new LoopHost(worked, config);
  host.workspaceDir = workspaceDir;
  const first = onlyEvent(await host.start({ goal: "g", run_id: "R1" }));
  const deliver = (request: Emitted, type: string, payload: JsonObject): Promise<Response> => {
    const { event, ...job } = handedOn(request, { type, payload });
    return host.handle(event, job);
  };
  const second = onlyEvent(
    await deliver(first, "content_ready", { url: "http://example.test/a", content: "PAGE", step: 77 }),
  );
  const end = onlyEvent(await deliver(second, "fabric.completed", { output: "TWO PARAGRAPHS" }));
  return [first, second, end];
}

/** Without what names a host's folders, and the nulls that hide what a host lets leak. */
function bare({ type, payload, ...rest }: Emitted): Json {
  const { agentic, ...own } = payload;
  const { workspace_ref: _ref, ...correlation } = (agentic ?? {}) as JsonObject;
  const kept = Object.fromEntries(Object.entries(own).filter(([, value]) => value !== null));
  return { type, ...rest, payload: { ...kept, agentic: correlation } };
}

test("FX-4: a run says the same on every host, up to folders and what must be hidden there", async () => {
  const here = await said(ours);
  expect(here.map(({ type }) => type)).toEqual([
    "agentic.tool_request.jina-reader",
    "agentic.tool_request.fabric",
    "agent.completed",
  ]);
  for (const host of [leaking(), claiming]) expect((await said(host)).map(bare)).toEqual(here.map(bare));
  const [, second] = await said(leaking());
  expect(second?.payload).toMatchObject({ url: null, content: null, text: "PAGE" });
});

test("FX-4: nothing in the plugin asks which host it is on", () => {
  const folders = ["src/goal", "src/goal-plugin"].map((folder) => join(root, folder));
  const mentions = folders.flatMap((folder) =>
    readdirSync(folder).filter((name) =>
      /ductile|gateway_|gateway\.step|"workspaces"/.test(readFileSync(join(folder, name), "utf8")),
    ),
  );
  // Names that hosts keep for themselves (9.2), what is taken away from a result (9.5), which folder (14.1).
  expect(mentions.toSorted()).toEqual(["loop-turn.ts", "tool-request.ts", "tool-result.ts"]);
});
