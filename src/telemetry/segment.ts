// The spans of one segment of a run: the segment itself, the visits in it, and the agents called from them. A
// segment goes from a start, or from being taken up, to a wait, an end or a stop, so no span outlasts a wait.

import { type Attributes, type Context, type Link, type Span, SpanStatusCode } from "@opentelemetry/api";
import type { CallAsk, Entered, Fact, Outcome, Traced } from "../core/facts.ts";
import { missingKey } from "../core/missing-key.ts";
import type { Program } from "../core/program.ts";
import { type Run, statusOf } from "../core/run.ts";
import { summaryOf } from "../core/summary.ts";
import { ATTR, EVENTS, OPERATIONS, OWN } from "./names.ts";
import { type OpenSpan, startSpan } from "./start-span.ts";
import { headersOf, timeOf } from "./trace-headers.ts";

export interface SegmentTerms {
  readonly id: string;
  readonly run: Run;
  readonly program: Program;
  readonly at: number;
  readonly number: number;
  /** Whom it is part of. */
  readonly context: Context;
  readonly links: readonly Link[];
  /** The trace somebody else started the run in. */
  readonly origin: string | undefined;
  readonly baggage: string | undefined;
}

export class Segment {
  readonly startedAt: number;
  readonly origin: string | undefined;
  readonly baggage: string | undefined;
  readonly workflow: string;
  /** Whether the journal says where it is. */
  isNoted = false;
  readonly #terms: SegmentTerms;
  readonly #own: OpenSpan;
  #visit: OpenSpan | undefined;
  readonly #agents = new Map<number, OpenSpan>();

  constructor(terms: SegmentTerms) {
    const { id, run, program, at, number, links } = terms;
    this.#terms = terms;
    this.startedAt = at;
    this.origin = terms.origin;
    this.baggage = terms.baggage;
    this.workflow = program.name || program.id;
    this.#own = startSpan(terms.context, at, () => ({
      name: `${OPERATIONS.workflow} ${this.workflow}`,
      links: [...links],
      attributes: {
        [ATTR.operation]: OPERATIONS.workflow,
        [ATTR.workflowName]: this.workflow,
        [ATTR.conversation]: id,
        [OWN.packId]: program.id,
        [OWN.packVersion]: program.version,
        [OWN.packDigest]: run.digest,
        [OWN.segment]: number,
        ...(run.parent && { [OWN.parentRun]: run.parent.run, [OWN.parentStep]: run.parent.step }),
        ...(run.forkedFrom && {
          [OWN.forkedFromRun]: run.forkedFrom.run,
          [OWN.forkedFromTurn]: run.forkedFrom.turn,
        }),
      },
    }));
  }

  /** What the journal keeps of it; nothing where nobody watches. */
  get note(): Traced | undefined {
    const headers = headersOf(this.#own.span.spanContext(), this.baggage);
    if (headers === undefined) return undefined;
    const { origin } = this;
    return {
      type: "noted",
      what: "traced",
      ...headers,
      ...(origin !== undefined && { origin }),
      segment: this.#terms.number,
    };
  }

  /** Where calls are made. */
  get context(): Context {
    return (this.#visit ?? this.#own).context;
  }

  get span(): Span {
    return this.#own.span;
  }

  /** Where the run of an agent is part of. */
  agentContext(step: number): Context | undefined {
    return this.#agents.get(step)?.context;
  }

  /** A run that is taken up stands in the middle of a visit, and may wait for agents. */
  takeUp(run: Run, at: number): void {
    this.#openVisit(
      { state: run.state, prompt: run.prompt, visit: visitOf(run) },
      { cause: "resumed", hops: [], at },
    );
    for (const [step, { ask, hold }] of Object.entries(run.open))
      if (ask.kind === "agent" && hold === null) this.#openAgent(Number(step), ask, at);
  }

  take(facts: readonly Fact[], run: Run, at: number): void {
    if (this.#visit === undefined && !facts.some(({ type }) => type === "entered")) {
      const cause = facts[0]?.type === "started" ? "entry" : "resumed";
      const visit = { state: run.state, prompt: run.prompt, visit: visitOf(run) };
      this.#openVisit(visit, { cause, hops: [], at });
    }
    for (const fact of facts) this.#take(fact, run, at);
  }

  #take(fact: Fact, run: Run, at: number): void {
    if (fact.type === "entered") {
      this.#visit?.span.end(timeOf(at));
      this.#openVisit(fact, { ...causeOf(fact), at });
    } else if (fact.type === "asked" && fact.ask.kind === "agent") this.#openAgent(fact.step, fact.ask, at);
    else if (fact.type === "noted" && fact.what === "resumed") {
      const ask = run.open[fact.step]?.ask;
      if (ask?.kind === "agent" && !this.#agents.has(fact.step)) this.#openAgent(fact.step, ask, at);
    } else if (fact.type === "answered") this.#closeAgent(fact.step, fact.outcome, at);
  }

  /** A wait or an end, by how the run stands; or a stop, where it stands at work. */
  end(run: Run, at: number): { readonly errorType: string | undefined } {
    const status = statusOf(run);
    const { span } = this.#own;
    const { id, program } = this.#terms;
    const pack = { id: program.id, version: program.version, digest: run.digest };
    if (status === "waiting")
      for (const { step, kind } of summaryOf(id, pack, run).waiting_for)
        span.addEvent(EVENTS.waiting, { [OWN.kind]: kind, [OWN.step]: step }, timeOf(at));
    if (missingKey(run) !== undefined) span.addEvent(EVENTS.waiting, { [OWN.kind]: "auth" }, timeOf(at));
    if (status === "running") span.addEvent(EVENTS.stopped, {}, timeOf(at));
    const errorType = errorTypeOf(run);
    for (const { span: agent } of this.#agents.values()) agent.end(timeOf(at));
    this.#agents.clear();
    if (errorType !== undefined && this.#visit !== undefined) markFailed(this.#visit.span, errorType);
    this.#visit?.span.end(timeOf(at));
    span.setAttribute(OWN.status, status === "running" ? "stopped" : status);
    if (errorType !== undefined) markFailed(span, errorType);
    span.end(timeOf(at));
    return { errorType };
  }

  #openVisit(
    { state, prompt, visit }: { state: string | null; prompt: string; visit: number },
    { cause, hops, at }: { cause: string; hops: readonly string[]; at: number },
  ): void {
    const { id, program } = this.#terms;
    this.#visit = startSpan(this.#own.context, at, () => {
      const spec = Object.hasOwn(program.prompts, prompt) ? program.prompts[prompt] : undefined;
      const key = prompt === "" ? (state ?? "") : prompt;
      const name = spec?.name || key;
      const attributes: Attributes = {
        [ATTR.operation]: OPERATIONS.agent,
        [ATTR.agentId]: key,
        [ATTR.agentName]: name,
        ...(spec !== undefined && { [ATTR.agentVersion]: spec.version }),
        [ATTR.conversation]: id,
        ...(state !== null && { [OWN.state]: state }),
        [OWN.visit]: visit,
        [OWN.cause]: cause,
        ...(hops.length > 0 && { [OWN.redirectedFrom]: [...hops] }),
      };
      return { name: `${OPERATIONS.agent} ${name}`, attributes };
    });
  }

  #openAgent(step: number, ask: CallAsk, at: number): void {
    const opened = startSpan(this.context, at, () => ({
      name: `${OPERATIONS.tool} ${ask.tool}`,
      attributes: {
        [ATTR.operation]: OPERATIONS.tool,
        [ATTR.toolName]: ask.tool,
        [ATTR.toolType]: "agent",
        [ATTR.toolCallId]: ask.call,
        [ATTR.conversation]: this.#terms.id,
        [OWN.step]: step,
      },
    }));
    this.#agents.set(step, opened);
  }

  #closeAgent(step: number, outcome: Outcome, at: number): void {
    const open = this.#agents.get(step);
    if (open === undefined) return;
    if (!outcome.ok) markFailed(open.span, outcome.code);
    open.span.end(timeOf(at));
    this.#agents.delete(step);
  }
}

const visitOf = ({ visits, state }: Run): number =>
  state !== null && Object.hasOwn(visits, state) ? (visits[state] as number) : 1;

function causeOf({ cause }: Entered): { readonly cause: string; readonly hops: readonly string[] } {
  if (cause.kind === "entry") return { cause: "entry", hops: [] };
  const { hops = [], by } = cause;
  return { cause: hops.length > 0 ? "redirect" : by === undefined ? "event" : "outside", hops };
}

/** A cancelled run did not fail; a budget that is used up did. */
function errorTypeOf({ final, reason }: Run): string | undefined {
  if (final === "budget_exhausted") return final;
  return final === "failed" ? (reason?.code ?? final) : undefined;
}

/** The code says what kind of failure it was. Its text may repeat what was said, and stays here. */
export function markFailed(span: Span, errorType: string, message?: string): void {
  span.setAttribute(ATTR.errorType, errorType);
  span.setStatus({ code: SpanStatusCode.ERROR, ...(message !== undefined && { message }) });
}
