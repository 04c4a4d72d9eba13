// The engine's observer that makes spans and metrics of OpenTelemetry. It speaks to the global API only: what
// becomes of them is up to whoever registered a provider, and nothing does where nobody has.

import { context, type Link, trace } from "@opentelemetry/api";
import type { Fact, Finished, TurnRow } from "../core/facts.ts";
import type { Program } from "../core/program.ts";
import { isAtWork, type Run } from "../core/run.ts";
import type {
  CallWatch,
  EngineObserver,
  PlannedCall,
  PlannedTurn,
  TakenRun,
  TurnWatch,
} from "../engine/observer.ts";
import type { TraceHeaders } from "../engine/ports.ts";
import type { Redaction } from "../engine/redaction.ts";
import { CallSpan } from "./call-span.ts";
import { Content } from "./content.ts";
import { guarded, guardedCall, unwatchedCall } from "./guarded.ts";
import { METRICS } from "./metric-list.ts";
import { type Labels, MetricRegistry } from "./metric-registry.ts";
import { ATTR, LINKS, OPERATIONS, OWN } from "./names.ts";
import { OpenAsks } from "./open-asks.ts";
import { Segment } from "./segment.ts";
import { contextBelow, headersOf, listedBaggage, spanContextOf } from "./trace-headers.ts";

export interface TelemetryOptions {
  readonly redaction?: Redaction | undefined;
  /** What was said leaves, too. */
  readonly content?: boolean;
  /** Keys of baggage that are sent on. */
  readonly baggage?: readonly string[];
}

/** As the environment wants it. */
export function telemetryFromEnv(
  redaction: Redaction | undefined,
  env: Readonly<Record<string, string | undefined>> = process.env,
): Telemetry {
  const keys = (env["PACKLOOP_OTEL_BAGGAGE"] ?? "").split(",").map((key) => key.trim());
  const content = ["1", "true"].includes(env["PACKLOOP_OTEL_CONTENT"] ?? "");
  return new Telemetry({ redaction, content, baggage: keys.filter((key) => key !== "") });
}

export class Telemetry implements EngineObserver {
  readonly metrics = new MetricRegistry();
  readonly #options: TelemetryOptions;
  readonly #content: Content | undefined;
  /** Of the runs that are at work here, by run. */
  readonly #segments = new Map<string, { readonly segment: Segment; run: Run }>();
  readonly #openAsks = new OpenAsks(this.metrics);

  constructor(options: TelemetryOptions = {}) {
    this.#options = options;
    this.#content = options.content === true ? new Content(options.redaction) : undefined;
  }

  began(at: number, isShared: boolean): void {
    this.#openAsks.begin(at, isShared);
  }

  active(): TraceHeaders | undefined {
    return guarded(() => headersOf(trace.getSpanContext(context.active())), undefined);
  }

  turn(planned: PlannedTurn): TurnWatch {
    return guarded(() => this.#turn(planned), { note: undefined, committed: () => undefined });
  }

  resuming({ id, run, program, at }: TakenRun): () => void {
    const began = performance.now();
    guarded(() => {
      this.#openAsks.took(id, run);
      const known = this.#segments.get(id);
      if (run.final !== null || !isAtWork(run) || known?.run.turn === run.turn) return;
      // Others have moved it: what they did is in a segment of theirs, and this one goes on behind it.
      if (known !== undefined) this.#end(id, known.segment, { run: known.run, at });
      const segment = this.#begin({ id, run, program, at, facts: [], trace: undefined });
      segment.takeUp(run, at);
      this.#segments.set(id, { segment, run });
    }, undefined);
    return () => {
      const seconds = (performance.now() - began) / 1000;
      guarded(() => this.metrics.add(METRICS.recoveryDuration, seconds), undefined);
    };
  }

  call(call: PlannedCall): CallWatch {
    const make = (): CallWatch => {
      const segment = this.#segments.get(call.id)?.segment;
      const parent = segment?.context ?? contextBelow(undefined);
      const terms = {
        call,
        parent,
        baggage: segment?.baggage,
        metrics: this.metrics,
        content: this.#content,
      };
      return guardedCall(new CallSpan(terms));
    };
    return guarded(make, unwatchedCall);
  }

  dropped(id: string, at: number): void {
    guarded(() => {
      this.#openAsks.left(id);
      const known = this.#segments.get(id);
      if (known !== undefined) this.#end(id, known.segment, { run: known.run, at });
    }, undefined);
  }

  stopped(at: number): void {
    guarded(() => {
      for (const [id, { segment, run }] of this.#segments) this.#end(id, segment, { run, at });
    }, undefined);
  }

  #turn(planned: PlannedTurn): TurnWatch {
    const { id, before, after, facts, at } = planned;
    const open = this.#segments.get(id)?.segment;
    const isOver = before !== undefined && before.final !== null;
    const begins = open === undefined && !isOver && moves(after, facts);
    const segment = begins ? this.#begin({ ...planned, run: after, at }) : open;
    return {
      note: segment?.isNoted === false ? segment.note : undefined,
      committed: (turn) =>
        guarded(() => {
          this.metrics.add(METRICS.commitDuration, turn.tookMs / 1000);
          this.#count(turn.row, planned.program);
          this.#openAsks.moved({ id, before, after: turn.run });
          if (segment !== undefined) this.#committed(id, segment, turn);
        }, undefined),
    };
  }

  #committed(id: string, segment: Segment, { row, run }: { row: TurnRow; run: Run }): void {
    segment.isNoted = true;
    segment.take(row.facts, run, row.at);
    this.#segments.set(id, { segment, run });
    if (run.final !== null || !isAtWork(run)) this.#end(id, segment, { run, at: row.at });
  }

  #end(id: string, segment: Segment, { run, at }: { run: Run; at: number }): void {
    this.#segments.delete(id);
    const end = Math.max(at, segment.startedAt);
    const { errorType } = segment.end(run, end);
    this.metrics.add(METRICS.workflowDuration, (end - segment.startedAt) / 1000, {
      [ATTR.operation]: OPERATIONS.workflow,
      [ATTR.workflowName]: segment.workflow,
      ...(errorType !== undefined && { [ATTR.errorType]: errorType }),
    });
  }

  /**
   * A segment is part of its caller's call where that is under way here, else of the trace of the request
   * that moved the run, else of the trace that somebody started the run in. Without any it begins a trace.
   */
  #begin({ id, run, program, at, facts, trace: given }: Beginning): Segment {
    const isFork = facts[0]?.type === "forked";
    const kept = run.trace;
    const caller = run.parent === null ? undefined : this.#segments.get(run.parent.run)?.segment;
    const called = run.parent === null ? undefined : caller?.agentContext(run.parent.step);
    const origin = (isFork ? undefined : kept?.origin) ?? caller?.origin ?? given?.traceparent;
    const headers = given ?? (origin === undefined ? undefined : { traceparent: origin });
    return new Segment({
      ...{ id, run, program, at, origin },
      number: isFork ? 1 : (kept?.segment ?? 0) + 1,
      context: called ?? contextBelow(headers && spanContextOf(headers)),
      links: [...linkTo(kept, isFork ? LINKS.fork : LINKS.previous), ...this.#agentLinks(id, facts)],
      baggage: listedBaggage(given?.baggage ?? kept?.baggage, this.#options.baggage ?? []) ?? caller?.baggage,
    });
  }

  /** An agent that goes on wakes its caller. */
  #agentLinks(id: string, facts: readonly Fact[]): readonly Link[] {
    return facts.flatMap((fact) => {
      if (fact.type !== "noted" || fact.what !== "resumed") return [];
      const child = this.#segments.get(`${id}/${fact.step}`)?.segment;
      return child === undefined
        ? []
        : [{ context: child.span.spanContext(), attributes: { [OWN.link]: LINKS.agent } }];
    });
  }

  #count({ facts }: TurnRow, program: Program): void {
    for (const fact of facts) {
      if (fact.type === "entered") {
        this.metrics.add(METRICS.visits, 1, stateLabels(program, fact.state));
        const hops = fact.cause.kind === "event" ? (fact.cause.hops ?? []) : [];
        for (const state of hops) this.metrics.add(METRICS.redirects, 1, stateLabels(program, state));
      } else if (isExhausted(fact)) {
        const limit = fact.reason?.limit ?? fact.reason?.code ?? "";
        this.metrics.add(METRICS.budgetExhausted, 1, { ...workflowLabels(program), [OWN.limit]: limit });
      }
    }
  }
}

const workflowLabels = (program: Program): Labels => ({ [ATTR.workflowName]: program.name || program.id });

/** As many for each program as it has states. */
const labelsByState = new WeakMap<Program, Map<string, Labels>>();

function stateLabels(program: Program, state: string): Labels {
  const byState = labelsByState.get(program) ?? new Map<string, Labels>();
  labelsByState.set(program, byState);
  const labels = byState.get(state) ?? { ...workflowLabels(program), [OWN.state]: state };
  byState.set(state, labels);
  return labels;
}

interface Beginning {
  readonly id: string;
  readonly run: Run;
  readonly program: Program;
  readonly at: number;
  readonly facts: readonly Fact[];
  readonly trace: TraceHeaders | undefined;
}

/** Notes on a run that waits, and goes on waiting, are no stretch of work. */
const moves = (after: Run, facts: readonly Fact[]): boolean =>
  isAtWork(after) || facts.some(({ type }) => type !== "noted");

const isExhausted = (fact: Fact): fact is Finished =>
  fact.type === "finished" && fact.status === "budget_exhausted";

function linkTo(kept: TraceHeaders | undefined, link: string): readonly Link[] {
  const to = kept && spanContextOf(kept);
  return to === undefined ? [] : [{ context: to, attributes: { [OWN.link]: link } }];
}
