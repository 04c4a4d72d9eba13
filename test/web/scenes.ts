// Everything that the page can show: each screen, dialog and state of one, and how to get there.

import type { Page } from "playwright-core";
import type { JsonObject } from "../../src/base/json.ts";
import { Fault } from "../../src/engine/ports.ts";
import { noSettings } from "../../src/host/run-settings.ts";
import { changedWorlds } from "../server/changed-worlds.ts";
import { asks, start } from "../server/sample-pack.ts";
import { type Served, served } from "../server/served.ts";
import { completed, startedRun, waiting } from "../server/started-run.ts";
import { builtPage } from "./built-page.ts";

export interface Scene {
  readonly path: string;
  /** What is there once the scene is. */
  readonly shows: string | RegExp;
  /** Buttons that are pressed first, one after the other. */
  readonly press?: readonly string[];
  readonly before?: (page: Page) => Promise<unknown>;
  readonly act?: (page: Page) => Promise<unknown>;
}

export interface Stage {
  readonly server: Served;
  readonly scenes: Readonly<Record<string, Scene>>;
}

const question = {
  text: "Which light?",
  schema: {
    type: "object",
    required: ["room"],
    properties: {
      room: { type: "string", title: "Room", enum: ["hall", "attic"], description: "where it hangs" },
      watts: { type: "integer", title: "Watts" },
      dimmed: { type: "boolean", title: "Dimmed" },
      more: { type: "array", title: "More" },
    },
  },
  problem: "the answer does not fit: /room: it is needed",
};

/** A run whose call of `look` was let through, and came to what `where` says. */
async function called(server: Served, where: string): Promise<string> {
  const script = { states: { work: [{ calls: [{ tool: "look", args: { where } }] }, { event: "Done" }] } };
  const run = await startedRun(server, start(script));
  const { waiting_for: waits } = await server.until(run, ({ status }) => status === "waiting");
  if (where === "here") return run;
  await server.post(`/api/runs/${run}/approvals/${waits[0]?.step}`, { decision: "approve" });
  await server.until(run, ({ waiting_for: now }) => ["answer", "in_doubt"].includes(now[0]?.kind ?? ""));
  return run;
}

export async function stage(): Promise<Stage> {
  const worlds = changedWorlds((ports) => ({
    ...ports,
    tools: {
      ...ports.tools,
      isSafe: () => false,
      async call(_tool, args) {
        const { where } = args as { where: string };
        if (where === "asked") return { deferred: true, question };
        throw new Fault("cut", "the line was cut", { retry: "unknown" });
      },
    },
  }));
  const tools: Readonly<Record<string, JsonObject>> = {
    look: { exec: ["true"], tier: "destructive", rollback: "Switch it off again." },
  };
  const settings = { ...noSettings("."), tools };
  const server = await served({ webFolder: await builtPage(), ...worlds, settings });
  return { server, scenes: await scenesOf(server) };
}

async function scenesOf(server: Served): Promise<Readonly<Record<string, Scene>>> {
  const done = await completed(server);
  const gated = await called(server, "here");
  const lost = await called(server, "lost");
  const asked = await called(server, "asked");
  const open = await waiting(server, {
    script: {
      ...asks,
      states: { ...(asks["states"] as JsonObject), work: [{ artifacts: { note: "# Seen" }, event: "Ask" }] },
    },
  });
  const { body } = await server.get(`/api/runs/${done}`);
  const pack = `/p/${encodeURIComponent((body["pack"] as { digest: string }).digest)}`;
  return {
    ...runScenes(done, open),
    ...askScenes({ gated, lost, asked, open }),
    runs: { path: "/", shows: done },
    "no run": { path: "/?text=nothing-like-this", shows: "No run fits" },
    compare: { path: `/compare/${done}/${open}`, shows: "They part in" },
    pack: { path: pack, shows: "Every run ends." },
    prompts: { path: `${pack}?tab=prompts`, shows: "Close {{artifacts.note}}." },
    settings: { path: "/settings", shows: "somebody on this machine" },
    keys: { path: "/settings", shows: "next and previous turn", act: (page) => page.keyboard.press("?") },
    nowhere: {
      path: "/settings",
      shows: "There is nothing at this address",
      act: (page) =>
        page.evaluate("history.pushState(null, '', '/nowhere'); dispatchEvent(new Event('popstate'))"),
    },
    "unknown run": { path: "/r/r_none", shows: "does not exist" },
    ...brokenScenes(),
  };
}

const runScenes = (done: string, open: string): Readonly<Record<string, Scene>> => ({
  run: { path: `/r/${done}`, shows: "The model said" },
  prompt: { path: `/r/${done}?tab=prompt&turn=2`, shows: "Tools offered" },
  messages: { path: `/r/${done}?tab=messages&turn=2`, shows: "Model call, step" },
  artifacts: { path: `/r/${done}?tab=artifacts`, shows: "by model" },
  diff: { path: `/r/${done}?tab=artifacts&diff=note`, shows: "since turn" },
  raw: { path: `/r/${done}?tab=raw`, shows: "Request" },
  facts: { path: `/r/${done}?tab=facts`, shows: "Facts of turn" },
  way: { path: `/r/${done}?graph=way&panel=graph`, shows: "The model said" },
  graph: { path: `/r/${done}?panel=graph`, shows: "The model said" },
  trace: { path: `/r/${done}?panel=trace`, shows: "→ work (2)" },
  "table of states": { path: `/r/${done}?graph=table&panel=graph`, shows: "Leads to" },
  waiting: { path: `/r/${open}`, shows: "Waits for an event" },
  fork: { path: `/r/${done}?turn=2`, shows: "It begins in", press: ["Fork from here"] },
  replay: { path: `/r/${done}?turn=2`, shows: "were decided again", press: ["Fork from here", "Replay"] },
  edits: {
    path: `/r/${done}?turn=2`,
    shows: "It begins in",
    press: ["Fork from here", "Edit, then run", "Add an edit", "Add an edit"],
    async act(page) {
      await page.getByLabel("Which artifact").first().selectOption("note");
      await page.getByLabel("What to change").last().selectOption("event");
      await page.getByLabel("Event", { exact: true }).fill("Done");
      await page.getByRole("button", { name: "Preview" }).click();
    },
  },
  "compare with": { path: `/r/${done}`, shows: `Compare ${done} with`, press: ["Compare"] },
});

interface Asking {
  readonly gated: string;
  readonly lost: string;
  readonly asked: string;
  readonly open: string;
}

const askScenes = ({ gated, lost, asked, open }: Asking): Readonly<Record<string, Scene>> => ({
  inbox: { path: "/inbox", shows: "It may have been made or not" },
  tools: { path: `/r/${lost}?tab=tools`, shows: "Arguments" },
  logs: { path: `/r/${lost}?tab=logs`, shows: "the call may have been made or not" },
  approval: { path: `/r/${gated}`, shows: "Switch it off again." },
  approve: { path: `/r/${gated}`, shows: "Comment, kept in the journal", press: ["Approve"] },
  "approve twice": {
    path: `/r/${gated}`,
    shows: "cannot simply be taken back",
    press: ["Approve", "Approve"],
  },
  reject: { path: `/r/${gated}`, shows: "Reason", press: ["Reject"] },
  "other arguments": {
    path: `/r/${gated}`,
    shows: '"there"',
    press: ["Change arguments"],
    act: (page) => page.getByLabel("Arguments, as JSON").fill('{"where": "there"}'),
  },
  "in doubt": { path: `/r/${lost}`, shows: "Make the call again" },
  "supply the result": { path: `/r/${lost}`, shows: "Result, as text or JSON", press: ["Supply the result"] },
  question: { path: `/r/${asked}`, shows: "Which light?" },
  "no answer": { path: `/r/${asked}`, shows: "Room is needed", press: ["Answer"] },
  event: { path: `/r/${open}`, shows: "Context of Yes", press: ["Yes"] },
});

/** What stands there while nothing came yet, and when nothing comes. */
const brokenScenes = (): Readonly<Record<string, Scene>> => ({
  loading: {
    path: "/inbox",
    shows: "Inbox",
    before: (page) => page.route("**/api/inbox*", () => undefined),
    act: (page) => page.getByLabel("Loading the inbox").waitFor(),
  },
  failed: {
    path: "/inbox",
    shows: "This did not work",
    before: (page) => page.route("**/api/inbox*", (route) => route.fulfill({ status: 500, body: "" })),
  },
  "nothing waits": {
    path: "/inbox",
    shows: "Nothing waits for you",
    before: (page) => emptyInbox(page, []),
  },
  "a webhook is off": {
    path: "/inbox",
    shows: "is told nothing any more",
    before: (page) =>
      emptyInbox(page, [{ webhook: "w", url: "https://example.org/hook", why: "it is gone" }]),
  },
  "signed out": {
    path: "/",
    shows: "This server asks for a token",
    before: (page) =>
      page.route("**/api/session", (route) =>
        route.fulfill({ json: { name: null, scopes: [], signed_in: false, key: null } }),
      ),
  },
});

const emptyInbox = (page: Page, notices: readonly JsonObject[]): Promise<unknown> =>
  page.route("**/api/inbox*", (route) => route.fulfill({ json: { items: [], notices, next_cursor: null } }));
