// Pipelines as they are written, to nodes and edges. A split has no join: what follows it follows each
// branch. A call is the called pipeline's steps in its place.

import { must } from "../../base/assert.ts";
import type { Json } from "../../base/json.ts";
import { suggest } from "../../base/suggest.ts";
import type { Pipeline, PipelineNode } from "./pipeline.ts";
import { readPipeline, type Say, type WrittenPipeline, type WrittenStep } from "./read-pipeline.ts";

/** Calls of calls can multiply. */
const NODES_MAX = 1_000;

/** Sorted by name. Pipelines with errors are left out; `say` hears why. */
export function compilePipelines(values: readonly Json[], say: Say): ReadonlyMap<string, Pipeline> {
  const written = new Map<string, WrittenPipeline>();
  const named = new Set<string>();
  for (const value of values) {
    const read = readPipeline(value, say);
    const name = read?.name;
    if (name === undefined) continue;
    if (named.has(name)) say(`two pipelines have the name \`${name}\``, value);
    named.add(name);
    written.set(name, read as WrittenPipeline);
  }
  const compiled = [...written.values()].flatMap((one) => compile(one, written, say) ?? []);
  return new Map(compiled.toSorted(byName).map((one) => [one.name, one]));
}

const byName = (a: Pipeline, b: Pipeline): number => (a.name < b.name ? -1 : 1);

function compile(
  pipeline: WrittenPipeline,
  all: ReadonlyMap<string, WrittenPipeline>,
  say: Say,
): Pipeline | undefined {
  const assembly = new Assembly(all);
  const part = assembly.sequence(pipeline.steps, "", [pipeline.name]);
  for (const [problem, about] of assembly.problems)
    say(`pipeline \`${pipeline.name}\`: ${problem}`, about ?? pipeline.source);
  if (assembly.problems.size > 0) return undefined;
  const { name, on, isSynchronous, timeoutMs } = pipeline;
  const terminals = part.exits;
  return { name, on, isSynchronous, timeoutMs, nodes: assembly.nodes(), entries: part.entries, terminals };
}

interface Part {
  readonly entries: readonly string[];
  readonly exits: readonly string[];
}

const NOTHING: Part = { entries: [], exits: [] };

class Assembly {
  /** Each with the step it is about, unless it is about the whole. */
  readonly problems = new Map<string, Json | undefined>();
  readonly #all: ReadonlyMap<string, WrittenPipeline>;
  readonly #nodes = new Map<string, Omit<PipelineNode, "next">>();
  readonly #next = new Map<string, string[]>();

  constructor(all: ReadonlyMap<string, WrittenPipeline>) {
    this.#all = all;
  }

  /** `trail` names the pipelines we are inside of. */
  sequence(steps: readonly WrittenStep[], prefix: string, trail: readonly string[]): Part {
    let whole: Part | undefined;
    for (const step of steps) {
      const part = this.#part(step, prefix, trail);
      for (const from of whole?.exits ?? []) for (const to of part.entries) this.#connect({ from, to });
      whole = { entries: whole?.entries ?? part.entries, exits: part.exits };
    }
    return whole ?? NOTHING;
  }

  nodes(): ReadonlyMap<string, PipelineNode> {
    return new Map([...this.#nodes].map(([id, node]) => [id, { ...node, next: this.#next.get(id) ?? [] }]));
  }

  #connect({ from, to }: { from: string; to: string }): void {
    const next = must(this.#next.get(from), "edges start at nodes");
    if (!next.includes(to)) next.push(to);
  }

  #part(step: WrittenStep, prefix: string, trail: readonly string[]): Part {
    switch (step.kind) {
      case "uses":
        return this.#node(step, `${prefix}${step.id}`);
      case "steps":
        return this.sequence(step.steps, prefix, trail);
      case "split": {
        const parts = step.steps.map((branch) => this.#part(branch, prefix, trail));
        return { entries: parts.flatMap((one) => one.entries), exits: parts.flatMap((one) => one.exits) };
      }
      case "call":
        return this.#call(step, `${prefix}${step.id}/`, trail);
    }
  }

  #node(step: WrittenStep & { kind: "uses" }, id: string): Part {
    if (this.#nodes.size >= NODES_MAX) {
      this.problems.set(`it has more than ${NODES_MAX} steps, those of called pipelines included`, undefined);
      return NOTHING;
    }
    const { plugin, baggage, source } = step;
    if (this.#nodes.has(id)) this.problems.set(`two steps have the id \`${id}\``, source);
    this.#nodes.set(id, { id, plugin, baggage, with: step.with, source });
    this.#next.set(id, []);
    return { entries: [id], exits: [id] };
  }

  #call(step: WrittenStep & { kind: "call" }, prefix: string, trail: readonly string[]): Part {
    const called = this.#all.get(step.pipeline);
    if (trail.includes(step.pipeline)) {
      this.problems.set(`it calls itself: ${[...trail, step.pipeline].join(" → ")}`, step.source);
      return NOTHING;
    }
    if (called === undefined) {
      const meant = suggest(step.pipeline, this.#all.keys());
      const hint = meant === undefined ? "" : ` (did you mean \`${meant}\`?)`;
      const problem = `step \`${step.id}\` calls \`${step.pipeline}\`, which is not a pipeline${hint}`;
      this.problems.set(problem, step.source);
      return NOTHING;
    }
    if (this.problems.size > 0) return NOTHING;
    return this.sequence(called.steps, prefix, [...trail, step.pipeline]);
  }
}
