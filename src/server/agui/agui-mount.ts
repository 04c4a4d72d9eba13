// AG-UI: a page that talks to agents starts runs, sees them work and answers what they ask. A thread of the
// page is a run of ours; each request is one stretch of it, streamed to the next wait or the end.

import type { Operation } from "fast-json-patch";
import { isoTime } from "../../base/iso-time.ts";
import { get, type JsonObject } from "../../base/json.ts";
import { sha256Of } from "../../base/sha256.ts";
import type { Input } from "../../core/input.ts";
import { emptyRun, type Run } from "../../core/run.ts";
import type { Delta } from "../../engine/ports.ts";
import { hindrance, saidTo, sayAnswer } from "../answer-question.ts";
import { beginRun, type RunWish, runOfKey } from "../begin-run.ts";
import { demandScope } from "../demand-scope.ts";
import { eventStream } from "../event-stream.ts";
import type { Reader } from "../feed.ts";
import type { Mount, MountRequest } from "../mount.ts";
import { needsAuth, type OpenQuestion } from "../open-questions.ts";
import { packById } from "../opened-pack.ts";
import { Problem, problemOf, refusalProblem } from "../problem.ts";
import { isResting, type StandingRun, standingRun } from "../resting-run.ts";
import { mayUse, speaker } from "../scope.ts";
import type { ServerParts } from "../server-parts.ts";
import { type AguiInput, lastSaid, type ResumeEntry, readInput, type SaidMessage } from "./agui-input.ts";
import { type AguiEvent, Stretch, type StretchOptions } from "./stretch.ts";

/** Turns read at a time. */
const PAGE = 100;

export const aguiMount: Mount = {
  name: "agui",
  paths: [
    { method: "post", path: "/agui", scope: "any" },
    { method: "post", path: "/agui/{pack}/{agent}", scope: "any" },
  ],
  async handle(mounted, parts) {
    const input = await readInput(mounted.request);
    const { default: patches } = await import("fast-json-patch");
    const around = { mounted, parts, input, compare: patches.compare };
    const entered = await enter(around).catch((error: unknown) => refused(error, parts));
    if ("refusal" in entered) return eventStream(sent([entered.refusal]), { leave: () => undefined });
    const reader = parts.feed.follow(entered.id, { agents: true });
    return eventStream(streamed(around, entered, reader), reader);
  },
};

interface Around {
  readonly mounted: MountRequest;
  readonly parts: ServerParts;
  readonly input: AguiInput;
  readonly compare: (before: JsonObject, after: JsonObject) => Operation[];
}

/** Where the stretch begins. */
interface Entry {
  readonly id: string;
  readonly run: Run;
}

/** Starts the thread's run, or says to it what the page sends. Nothing is said before all of it is right. */
async function enter(around: Around): Promise<Entry> {
  const { parts, input, mounted } = around;
  const { principal } = mounted;
  const own = await runOfKey(parts, principal, keyOf(input.threadId));
  // A thread is named as the page began it, or by the run itself.
  const id = own ?? (await parts.store.record(input.threadId))?.run;
  if (id === undefined) return begin(around);
  if (own === undefined) demandScope(principal, "runs:read");
  else demandScope(principal, "runs:read", "runs:write");
  const standing = await standingRun(parts, id);
  for (const { question, says } of await sayings(around, standing)) {
    const said = await sayAnswer(parts, question, says);
    if (said.kind === "refused") throw refusalProblem(said.refusal);
  }
  return { id, run: standing.run };
}

async function begin({ parts, input, mounted }: Around): Promise<Entry> {
  const { principal, params } = mounted;
  if (input.resume.length > 0)
    throw new Problem("unknown-run", `thread \`${input.threadId}\` has no run to resume`);
  demandScope(principal, "runs:write");
  const wish: Omit<RunWish, "requestHash"> = { ...input.wish, ...addressed(parts, params) };
  const chosen = wish.pack === undefined && wish.digest === undefined ? soleDigest(parts) : {};
  const said = lastSaid(input);
  const { record } = await beginRun(parts, principal, {
    ...{ ...wish, ...chosen, input: said?.text ?? "", key: keyOf(input.threadId) },
    requestHash: keyOf(input.threadId),
    setup: { agui: { thread: input.threadId, ...(said !== undefined && { said: keyOfSaid(said) }) } },
  });
  return { id: record.run, run: emptyRun };
}

const keyOf = (threadId: string): string => `agui ${threadId}`;

/** The same words under the same id are one message, however often a page sends them. */
const keyOfSaid = ({ id, text }: SaidMessage): string =>
  `agui ${sha256Of(JSON.stringify([id, text])).slice(0, 32)}`;

function addressed(parts: ServerParts, { pack, agent }: MountRequest["params"]): Partial<RunWish> {
  if (pack === undefined || agent === undefined) return {};
  return { digest: packById(parts, pack).digest, ...(agent !== pack && { agent }) };
}

/** Where nothing is said about it, the one pack there is. */
function soleDigest({ side }: ServerParts): Partial<RunWish> {
  const [first, second] = side.packs({ before: undefined, limit: 2 });
  if (first !== undefined && second === undefined) return { digest: first.digest };
  throw new Problem(
    "bad-request",
    "say which pack (post to /agui/PACK/AGENT, or give forwardedProps.digest)",
  );
}

interface Saying {
  readonly question: OpenQuestion;
  readonly says: Input;
}

async function sayings(around: Around, standing: StandingRun): Promise<readonly Saying[]> {
  const { parts, input, mounted } = around;
  const { principal } = mounted;
  if (input.resume.length === 0) return messageSaid(around, standing);
  const terms = { by: speaker(principal, undefined), at: parts.clock.now() };
  const said: Saying[] = [];
  for (const [question, { status, payload }] of answered(input, standing)) {
    // Cancelled by the page: the run goes on waiting.
    if (status === "cancelled") continue;
    const problem = await hindrance(parts, principal, question);
    if (problem !== undefined) throw problem;
    const dedupeKey = `agui ${sha256Of(JSON.stringify([input.runId, question.id])).slice(0, 32)}`;
    said.push({ question, says: saidTo(question, payload, { ...terms, dedupeKey }) });
  }
  return said;
}

/** Every open question with its answer. What was answered before is passed over (S50). */
function answered(
  { resume }: AguiInput,
  { questions, run }: StandingRun,
): readonly (readonly [OpenQuestion, ResumeEntry])[] {
  const byId = new Map(resume.map((entry) => [entry.interruptId, entry]));
  const open = new Set(questions.map(({ id }) => id));
  const unknown = [...byId.keys()].filter((id) => !open.has(id) && !wasAsked(run, id));
  const missing = [...open].filter((id) => !byId.has(id));
  // Nothing of it is open: the page only missed what came of it.
  if (unknown.length === 0 && missing.length === open.size) return [];
  if (missing.length > 0 || unknown.length > 0 || byId.size < resume.length) {
    const partly = missing.length > 0 ? `leaves out ${listed(missing)}` : `names ${listed(unknown)}`;
    const wrong = byId.size < resume.length ? "answers something twice" : partly;
    throw new Problem("bad-request", `\`resume\` ${wrong}; every open interrupt is to be answered once`);
  }
  return questions.flatMap((question) => {
    const entry = byId.get(question.id);
    return entry === undefined ? [] : [[question, entry] as const];
  });
}

const listed = (ids: readonly string[]): string => ids.join(", ").slice(0, 200);

/** It may have been a question of the run, or of an agent that it called. */
function wasAsked({ step: last }: Run, id: string): boolean {
  const step = /^[1-9]\d{0,9}(?=$|\/)/.exec(id)?.[0];
  return step !== undefined && Number(step) <= last;
}

/** What the person said last, to a run that waits for it. Said again, it is the same message (S50). */
async function messageSaid(
  { input, mounted, parts }: Around,
  { questions, run, record }: StandingRun,
): Promise<readonly Saying[]> {
  const question = questions.find(({ wait }) => wait.kind === "message");
  const said = lastSaid(input);
  if (question === undefined || said === undefined) return [];
  const dedupeKey = keyOfSaid(said);
  // What a run was started with, it has heard.
  const first = get(get(record.setup, "agui"), "said");
  if (first === dedupeKey || Object.hasOwn(run.dedupe, dedupeKey)) return [];
  const problem = await hindrance(parts, mounted.principal, question);
  if (problem !== undefined) throw problem;
  const terms = { by: speaker(mounted.principal, undefined), at: parts.clock.now(), dedupeKey };
  return [{ question, says: saidTo(question, { text: said.text }, terms) }];
}

/** Wrong requests change nothing and end the AG-UI run; a caller that may not come in is told so by HTTP. */
function refused(error: unknown, { log }: ServerParts): { readonly refusal: AguiEvent } {
  const problem = problemOf(error);
  if (problem.status === 403 || problem.status >= 500) throw problem;
  log.debug({ code: problem.code }, problem.message);
  const metadata = { problem: problem.code, ...problem.extras };
  return { refusal: { type: "RUN_ERROR", message: problem.message, code: "rejected", metadata } };
}

async function* streamed(around: Around, entry: Entry, reader: Reader<Delta>): AsyncGenerator<string> {
  const { parts, input, compare, mounted } = around;
  // Who may not ask for it by reference gets all of it.
  const refer: StretchOptions["refer"] = (place, value) =>
    mayUse(mounted.principal, "runs:read")
      ? parts.blobs.refer({ run: entry.id, ...place }, value)
      : undefined;
  const stretch = new Stretch({ ...entry, threadId: input.threadId, compare, refer });
  yield* sent(stretch.begin());
  while (!reader.stopped) {
    // Asked for before looking: what comes while we look must not be missed.
    const changed = reader.next();
    for (const delta of reader.take().items)
      if (delta.step > 0 && isAsked(stretch.run, delta)) yield* sent(stretch.delta(delta));
    const { turn } = stretch.run;
    const rows = await parts.store.rows(entry.id, {
      from: turn + 1,
      to: Number.MAX_SAFE_INTEGER,
      limit: PAGE,
    });
    for (const row of rows) yield* sent(stretch.turn(row));
    if (rows.length > 0) continue;
    const standing = await standingRun(parts, entry.id);
    if (standing.run.turn !== stretch.run.turn) continue;
    if (isResting(standing)) return yield* sent(stretch.end(lastEvent(standing, stretch)));
    await changed;
  }
}

/** Text that comes after its answer was journaled has been told already. */
const isAsked = ({ open }: Run, { step }: Delta): boolean => open[step]?.ask.kind === "model";

async function* sent(events: Iterable<AguiEvent>): AsyncGenerator<string> {
  for (const event of events) yield `data: ${JSON.stringify(event)}\n\n`;
}

function lastEvent(standing: StandingRun, stretch: Stretch): AguiEvent {
  const { status, reason, output } = standing.summary;
  if (status === "completed") return { type: "RUN_FINISHED", outcome: { type: "success" }, result: output };
  if (status !== "waiting") {
    const message = reason?.message ?? reason?.code ?? status;
    return { type: "RUN_ERROR", code: status, message, metadata: { reason: reason ?? null } };
  }
  const interrupts = standing.questions.map((question) => interruptOf(question, standing, stretch));
  return { type: "RUN_FINISHED", outcome: { type: "interrupt", interrupts } };
}

function interruptOf(question: OpenQuestion, { run, record }: StandingRun, stretch: Stretch): JsonObject {
  const { id, wait, text, schema, parent } = question;
  const ask = run.open[wait.step]?.ask;
  const call =
    id === String(wait.step) && ask !== undefined && "call" in ask ? stretch.callOf(ask.call) : undefined;
  const plain = call !== undefined ? "tool_call" : "input_required";
  const special = needsAuth(question) ? "packloop:auth_required" : undefined;
  const reason = wait.kind === "in_doubt" ? "packloop:in_doubt" : (special ?? plain);
  return {
    id,
    reason,
    message: text,
    ...(call !== undefined && { toolCallId: call }),
    responseSchema: schema,
    ...(record.due !== null && { expiresAt: isoTime(record.due) }),
    metadata: {
      ...(wait as unknown as JsonObject),
      run: question.run,
      ...(parent !== null && { parent: { ...parent } }),
    },
  };
}
