// G3–G5 as the outside sees them. The model and the tools are another process, which keeps a ledger of the
// calls that reach it and, at each, looks into the journal: the call must be on record there as asked and not
// as answered. The driver is killed around every commit and while each call is with the ledger.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import type { Json } from "../../src/base/json.ts";
import type { Fact } from "../../src/core/facts.ts";
import { TRANSITION } from "../../src/core/reserved.ts";
import { openSqliteStore } from "../../src/store/sqlite/sqlite-store.ts";
import { folderWith } from "../cli/run-cli.ts";
import { sample, sweep, type Trial } from "./sweep.ts";

const FILE = "ledger";
const MINUTES = 60_000;
const driver = fileURLToPath(new URL("./ledger-run.ts", import.meta.url));

interface Call {
  readonly pid: number;
  readonly name: string;
  readonly key: string;
  readonly step: number;
  readonly state: string;
  readonly nth: number;
  readonly args: Json;
}

/** How one driver dies: around its nth commit, or while the ledger has its nth call. */
type Death = { readonly commit: string } | { readonly call: number };

interface Ended {
  /** What happened to the run, without what a crash may add to it. */
  readonly way: readonly string[];
  readonly calls: readonly Call[];
  readonly turns: number;
}

test("the ledger's run ends, pays twice and asks the model four times", async () => {
  const { calls, way } = await drive(undefined);
  expect(calls.map(({ name }) => name)).toEqual(["model", "look", "pay", "model", "pay", "model", "model"]);
  expect(way.at(-1)).toBe("finished completed");
});

describe("whenever the driver is killed", () => {
  test("the outside is asked for nothing twice that it had answered", { timeout: 10 * MINUTES }, async () => {
    const whole = await drive(undefined);
    const commits = Array.from({ length: whole.turns }, (_, index) => index + 1);
    const deaths: readonly Death[] = [
      ...commits.flatMap((n) => [{ commit: `commit:${n}:before` }, { commit: `commit:${n}:after` }]),
      ...whole.calls.map((_, index) => ({ call: index + 1 })),
    ];
    const trial = (death: Death): Trial => ({
      name: "commit" in death ? death.commit : `call:${death.call}`,
      check: async () => {
        const { way, calls } = await drive(death);
        expect(way).toEqual(whole.way);
        const payments = calls.filter(({ name }) => name === "pay").map(({ args }) => JSON.stringify(args));
        expect(payments, "each payment reaches the ledger once").toEqual(['{"amount":1}', '{"amount":2}']);
        // At most the call that was under way comes twice, and under the same key.
        expect(new Set(calls.map(({ key }) => key)).size).toBe(whole.calls.length);
        expect(calls.length).toBeLessThanOrEqual(whole.calls.length + 2);
      },
    });
    await sweep(FILE, "drivers killed", sample(deaths, 20).map(trial));
  });
});

/** Drives the run with one driver that dies and one that does not. */
async function drive(death: Death | undefined): Promise<Ended> {
  using folder = folderWith({});
  const store = join(folder.path, "runs.db");
  const calls: Call[] = [];
  const wrong: string[] = [];
  const answers = new Map<string, Json>();
  const serve = async (request: IncomingMessage, response: ServerResponse) => {
    // A connection that is kept would keep the driver from ending.
    response.setHeader("connection", "close");
    const call = (await json(request)) as Call;
    if (request.url === "/known") return response.end(JSON.stringify(answers.get(call.key) ?? null));
    wrong.push(...(await objections(store, call)));
    calls.push(call);
    answers.set(call.key, answers.get(call.key) ?? answerTo(call));
    if (death !== undefined && "call" in death && death.call === calls.length) {
      process.kill(call.pid, "SIGKILL");
      return response.destroy();
    }
    return response.end(JSON.stringify(answers.get(call.key)));
  };
  const server = createServer((request, response) => {
    serve(request, response).catch((error: unknown) => {
      wrong.push(String(error));
      response.destroy();
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  try {
    if (death !== undefined) {
      const env = "commit" in death ? { PACKLOOP_CRASH_AT: death.commit } : {};
      expect(await end([store, url], env)).toBe("SIGKILL");
    }
    expect(await end([store, url])).toBe(0);
  } finally {
    server.close();
  }
  expect(wrong).toEqual([]);
  const facts = await factsIn(store);
  return { way: facts.flat().flatMap(lineOf), calls, turns: facts.length };
}

async function end(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<unknown> {
  const child = spawn(process.execPath, [driver, ...args], {
    env: { ...process.env, ...env },
    stdio: ["ignore", "inherit", "inherit"],
  });
  const [code, signal] = (await once(child, "close")) as [number | null, string | null];
  return signal ?? code;
}

async function factsIn(path: string): Promise<readonly (readonly Fact[])[]> {
  await using store = await openSqliteStore(path, { readOnly: true });
  const rows = await store.rows("r_ledger", { from: 1, to: 1_000, limit: 1_000 });
  return rows.map(({ facts }) => facts);
}

/** G3, G5: what is wrong with a call, by the journal as it is when the call comes in. */
async function objections(store: string, { name, key, step }: Call): Promise<readonly string[]> {
  const facts = (await factsIn(store)).flat();
  const about = (type: "asked" | "answered") =>
    facts.some((fact) => fact.type === type && fact.step === step);
  const isSent = facts.some((fact) => fact.type === "noted" && fact.what === "sent" && fact.step === step);
  return [
    ...(about("asked") ? [] : [`${name} ${key} came before it was recorded`]),
    ...(about("answered") ? [`${name} ${key} came after its answer was recorded`] : []),
    ...(name === "pay" && !isSent ? [`${name} ${key} left without a note that it does`] : []),
  ];
}

const usage = { inputTokens: 0, outputTokens: 0, costUsd: 0 };

function answerTo({ name, step, state, nth, args }: Call): Json {
  if (name !== "model") return { done: args };
  const pay = (amount: number) => ({ id: `${step}.${amount}`, tool: "pay", args: { amount } });
  const rounds = [
    [{ id: `${step}.0`, tool: "look", args: {} }, pay(1)],
    [pay(2)],
    [{ id: `${step}.0`, tool: TRANSITION, args: { event: "Done" } }],
  ];
  const calls = state === "work" ? (rounds[nth] ?? []) : [];
  return { text: calls.length === 0 ? "Paid." : "", calls, usage };
}

/** A crash may leave notes of doubt and retries; everything else is as it would have been. */
function lineOf(fact: Fact): readonly string[] {
  if (fact.type === "asked") return [`asked ${fact.step} ${fact.ask.kind}`];
  if (fact.type === "answered") return [`answered ${fact.step} ${JSON.stringify(fact.outcome)}`];
  if (fact.type === "entered") return [`entered ${fact.state} ${fact.visit}`];
  return fact.type === "finished" ? [`finished ${fact.status}`] : [];
}
