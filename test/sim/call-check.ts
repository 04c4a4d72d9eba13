// What the journal says of calls that are not over at once, and of forks onto another pack, against the books
// and what was said to the run (S13, S31, S46, S47, S52).

import { canonical, isObject, type Json } from "../../src/base/json.ts";
import type { Fact, Forked, Limits } from "../../src/core/facts.ts";
import type { Input } from "../../src/core/input.ts";
import type { Program } from "../../src/core/program.ts";
import type { Books, OpenEntry } from "./books.ts";
import { claim } from "./claim.ts";

type CallNote = Extract<Extract<Fact, { type: "noted" }>, { step: number }>;

export function checkNote(books: Books, fact: CallNote, input: Input): void {
  const open = books.open.get(fact.step);
  claim(open !== undefined, `a note about a step that is not open: ${fact.what}`);
  const { kind } = open.ask;
  claim(kind === "tool" || kind === "agent", `${kind} is noted ${fact.what}`);
  switch (fact.what) {
    case "sent":
      claim(input.type === "sent" && input.step === fact.step, "noted as sent by nobody");
      claim(!open.sent && open.hold === null, "S46: noted as sent although it is not to be sent");
      return;
    case "in_doubt":
    case "deferred":
      claim(input.type === "hold" && input.hold === fact.what && input.step === fact.step, "held by nobody");
      claim(open.hold === null, "held twice");
      if (fact.what === "deferred") checkDeferred(fact, input);
      return;
    case "retried":
      claim(input.type === "retry" && input.step === fact.step, "S46: retried by nobody");
      return;
    case "resumed":
      checkResumed(books, open, fact, input);
  }
}

export function checkHeld(
  books: Books,
  fact: Extract<Extract<Fact, { type: "noted" }>, { what: "held" | "unheld" }>,
  input: Input,
): void {
  const said = fact.what === "held" ? "pause" : "unpause";
  claim(input.type === said && input.by === fact.by, `the run is ${fact.what} by nobody`);
  claim((books.heldBy === undefined) === (said === "pause"), `the run is ${fact.what} twice`);
}

function checkDeferred(
  fact: Extract<CallNote, { what: "deferred" }>,
  input: Extract<Input, { type: "hold" }>,
): void {
  claim(same(fact.handle, input.handle), "a deferred call loses its handle");
  claim(same(fact.question, input.question), "a deferred call loses its question");
  claim(fact.looks === input.looks, "a deferred call forgets that it only looks");
  claim(fact.stoppable === input.stoppable, "a deferred call forgets that it can be stopped");
  claim((fact.wakes === true) === (input.until !== undefined), "a deferred call loses its time");
}

/** By the timer of the call, by what a person answered to its question, or because its agent works again. */
function checkResumed(
  books: Books,
  open: OpenEntry,
  fact: Extract<CallNote, { what: "resumed" }>,
  input: Input,
): void {
  claim(open.hold === "deferred", "a call goes on that was not deferred");
  if (input.type === "unpause") {
    claim(open.ask.kind === "agent" && fact.input === undefined, "a call goes on because its run was held");
    return;
  }
  if (input.type === "resume") {
    claim(open.ask.kind === "agent" && input.step === fact.step, "a call goes on for no reason");
    claim(fact.input === undefined, "an agent that goes on is given an input");
    return;
  }
  claim(input.type === "answer", "a call goes on for no reason");
  if (input.step === fact.step) {
    claim(open.asked && input.outcome.ok, "a call that asked nothing is given an input");
    claim(same(fact.input, input.outcome.value), "a call is given another input");
    return;
  }
  const ask = books.asks.get(input.step);
  claim(ask?.kind === "timer" && ask.wakes === fact.step, "a call is woken by something else");
  claim(open.wakes && fact.input === undefined, "a woken call is given an input");
}

export function checkWaker(
  books: Books,
  timer: { readonly due: number; readonly wakes: number },
  input: Input,
): void {
  const { due, wakes } = timer;
  claim(
    input.type === "hold" && input.until === due && input.step === wakes,
    "a timer wakes at another time",
  );
  claim(books.wakersOf(wakes).length === 0, "two timers wake one call");
}

/** After a turn: a timer for each call that wakes, and none besides. */
export function checkWakers(books: Books): void {
  for (const [step, { hold, wakes, ask }] of books.open) {
    const wanted = hold === "deferred" && wakes ? 1 : 0;
    const found = books.wakersOf(step).length;
    claim(found === wanted, `${found} timers wake a call that has ${wanted}`);
    if (ask.kind === "timer" && ask.wakes !== undefined)
      claim(books.open.has(ask.wakes), "a timer is left that wakes nothing");
  }
}

/** S13: another pack's limits, but what was tightened for this run stays tightened; its gates are added. */
export function checkPack(
  books: Books,
  { before, after }: { readonly before: Program; readonly after: Program },
  pack: NonNullable<Forked["pack"]>,
): void {
  const own = books.started;
  claim(own !== null, "a fork of nothing");
  const [old, young] = [budgetOf(before), budgetOf(after)];
  for (const key of Object.keys(young) as (keyof typeof young)[]) {
    const isTighter = own.limits[key] !== null && own.limits[key] !== old[key];
    const most = isTighter ? Math.min(own.limits[key] ?? Infinity, young[key] ?? Infinity) : young[key];
    claim(pack.limits[key] === most, `S13: ${key} is ${pack.limits[key]} in the fork, not ${most}`);
  }
  claim(pack.wallClock === (after.workflow?.wallClock ?? "total"), "the fork's clock is not its pack's");
  const governance = after.metadata["governance"];
  const level = isObject(governance) ? governance["autonomy_level"] : undefined;
  const isGated = (tool: string) =>
    own.gated.includes(tool) ||
    (level === "acts_with_approval" && after.tools[tool]?.actionScope["effect"] === "external");
  const tools = [...new Set([...Object.keys(after.tools), ...own.gated])];
  claim(same(pack.gated, tools.filter(isGated).sort()), "S31: the fork gates other tools");
}

type PackLimits = Pick<Limits, "visits" | "toolCalls" | "wallMs" | "modelCalls">;

function budgetOf({ workflow }: Program): PackLimits {
  const { budget } = workflow ?? {};
  const seconds = budget?.wallTimeSec ?? null;
  return {
    visits: budget?.visitsMax ?? null,
    toolCalls: budget?.toolCallsMax ?? null,
    wallMs: seconds === null ? null : seconds * 1000,
    modelCalls: budget?.modelCallsMax ?? null,
  };
}

/** As JSON: absent is absent. */
const same = (a: Json | undefined, b: Json | undefined): boolean =>
  (a === undefined ? "" : canonical(a)) === (b === undefined ? "" : canonical(b));
