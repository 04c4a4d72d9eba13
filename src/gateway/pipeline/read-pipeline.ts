// Pipelines as they are written: names, kinds of steps and what each may say. Anything that is not understood
// is refused, because a condition that is skipped changes what a pipeline means.

import { durationMs } from "../../base/duration.ts";
import { get, isObject, type Json, type JsonObject } from "../../base/json.ts";
import { suggest } from "../../base/suggest.ts";
import type { Source } from "./pipeline.ts";

export interface WrittenPipeline {
  readonly name: string;
  readonly on: string;
  readonly isSynchronous: boolean;
  readonly timeoutMs: number;
  readonly steps: readonly WrittenStep[];
  /** What it was read from. */
  readonly source: Json;
}

export type WrittenStep = { readonly id: string; readonly source: Json } & (
  | {
      readonly kind: "uses";
      readonly plugin: string;
      readonly baggage: ReadonlyMap<string, Source>;
      readonly with: ReadonlyMap<string, string>;
    }
  | { readonly kind: "steps" | "split"; readonly steps: readonly WrittenStep[] }
  | { readonly kind: "call"; readonly pipeline: string }
);

/** Hears what is wrong, and with which part of what was written. */
export type Say = (problem: string, about?: Json) => void;

const PIPELINE_KEYS = ["name", "on", "execution_mode", "timeout", "max_depth", "steps"];
const KINDS = ["uses", "steps", "split", "call"] as const;
const DEPTH_MAX = 50;

/** Undefined when it cannot be used; `say` hears why. */
export function readPipeline(value: Json, say: Say): WrittenPipeline | undefined {
  const name = get(value, "name");
  if (!isObject(value) || typeof name !== "string" || !/^[^\s/]{1,200}$/.test(name)) {
    say("a pipeline has no `name`, or one with white space or `/` in it", value);
    return undefined;
  }
  let isRight = true;
  const wrong: Say = (problem, about = value) => {
    isRight = false;
    say(`pipeline \`${name}\`: ${problem}`, about);
  };
  unknownKeys(value, PIPELINE_KEYS, wrong);
  const on = get(value, "on");
  if (typeof on !== "string" || !/^\S{1,200}$/.test(on)) wrong("`on` is not a type of event");
  const mode = get(value, "execution_mode") ?? "async";
  if (mode !== "async" && mode !== "synchronous") wrong("`execution_mode` is neither async nor synchronous");
  const timeout = get(value, "timeout") ?? "30s";
  const timeoutMs = typeof timeout === "string" ? durationMs(timeout) : undefined;
  if (timeoutMs === undefined) wrong("`timeout` is not a time (expected 30s or 5m)");
  const depth = get(value, "max_depth") ?? 0;
  if (typeof depth !== "number" || !Number.isSafeInteger(depth) || depth < 0)
    wrong("`max_depth` is not a whole number");
  const steps = readSteps(get(value, "steps"), { prefix: "", depth: 0, key: "steps" }, wrong);
  repeatedIds(steps, wrong);
  if (!isRight) return undefined;
  const isSynchronous = mode === "synchronous";
  return { name, on: String(on), isSynchronous, timeoutMs: timeoutMs ?? 0, steps, source: value };
}

interface Place {
  /** Of ids that are not given. */
  readonly prefix: string;
  readonly depth: number;
  readonly key: string;
}

function readSteps(value: Json | undefined, place: Place, wrong: Say): readonly WrittenStep[] {
  if (place.depth > DEPTH_MAX) {
    wrong(`steps are nested deeper than ${DEPTH_MAX} levels`);
    return [];
  }
  if (!Array.isArray(value) || value.length === 0) {
    wrong(`\`${place.key}\` is not a list with at least one step`);
    return [];
  }
  return (value as readonly Json[]).flatMap((step, index) => {
    const read = readStep(step, { ...place, prefix: `${place.prefix}step_${index + 1}` }, wrong);
    return read === undefined ? [] : [read];
  });
}

function readStep(value: Json, place: Place, refuse: Say): WrittenStep | undefined {
  const wrong: Say = (problem, about) => refuse(problem, about ?? (isObject(value) ? value : undefined));
  const id = get(value, "id") ?? place.prefix;
  if (!isObject(value) || typeof id !== "string" || !/^\S{1,200}$/.test(id)) {
    wrong(`\`${place.prefix}\` is not a step, or its \`id\` is not a name`);
    return undefined;
  }
  const kinds = KINDS.filter((kind) => Object.hasOwn(value, kind));
  const [kind] = kinds;
  if (kind === undefined || kinds.length > 1) {
    const has = kinds.length === 0 ? "none" : kinds.map((one) => `\`${one}\``).join(" and ");
    wrong(`step \`${id}\` needs exactly one of uses, steps, split and call, and has ${has}`);
    return undefined;
  }
  unknownKeys(value, kind === "uses" ? ["id", "uses", "baggage", "with"] : ["id", kind], (problem) =>
    wrong(`step \`${id}\`: ${problem}`),
  );
  if (kind === "steps" || kind === "split") {
    const inside = { prefix: `${id}/`, depth: place.depth + 1, key: kind };
    return { id, kind, steps: readSteps(value[kind], inside, wrong), source: value };
  }
  const target = value[kind];
  if (typeof target !== "string" || target === "") {
    wrong(`step \`${id}\`: \`${kind}\` is not a name`);
    return undefined;
  }
  if (kind === "call") return { id, kind, pipeline: target, source: value };
  const say: Say = (problem) => wrong(`step \`${id}\`: ${problem}`);
  const parts = { baggage: readBaggage(value, say), with: readWith(value, say) };
  return { id, kind, plugin: target, ...parts, source: value };
}

function readBaggage(step: JsonObject, wrong: Say): ReadonlyMap<string, Source> {
  const read = new Map<string, Source>();
  const value = get(step, "baggage") ?? {};
  if (!isObject(value)) wrong("`baggage` is not a mapping of paths to sources");
  for (const [path, source] of Object.entries(isObject(value) ? value : {})) {
    if (path === "from" || path === "namespace") wrong("the bulk form of `baggage` is not supported");
    else if (!isPath(path)) wrong(`\`${path}\` in \`baggage\` is not a path`);
    else {
      const [from, ...rest] = typeof source === "string" ? source.split(".") : [];
      if ((from === "payload" || from === "context") && rest.length > 0 && isPath(rest.join(".")))
        read.set(path, { from, path: rest });
      else wrong(`\`baggage.${path}\` is neither payload.PATH nor context.PATH`);
    }
  }
  return read;
}

const isPath = (text: string): boolean => text.split(".").every((part) => /^[^\s.]+$/.test(part));

function readWith(step: JsonObject, wrong: Say): ReadonlyMap<string, string> {
  const value = get(step, "with") ?? {};
  if (!isObject(value)) wrong("`with` is not a mapping of keys to templates");
  const entries = Object.entries(isObject(value) ? value : {});
  for (const [key, template] of entries)
    if (typeof template !== "string") wrong(`\`with.${key}\` is not a template`);
  return new Map(entries.map(([key, template]) => [key, String(template)]));
}

const UNSUPPORTED = new Set(["if", "from_plugin", "on-hook", "relay"]);

function unknownKeys(value: JsonObject, known: readonly string[], wrong: Say): void {
  for (const key of Object.keys(value)) {
    if (known.includes(key)) continue;
    const meant = suggest(key, known);
    if (UNSUPPORTED.has(key)) wrong(`\`${key}\` is not supported`);
    else wrong(`\`${key}\` is not a key here${meant === undefined ? "" : ` (did you mean \`${meant}\`?)`}`);
  }
}

function repeatedIds(steps: readonly WrittenStep[], wrong: Say): void {
  const seen = new Set<string>();
  const visit = (step: WrittenStep): void => {
    if (seen.has(step.id)) wrong(`two steps have the id \`${step.id}\``, step.source);
    seen.add(step.id);
    if (step.kind === "steps" || step.kind === "split") step.steps.forEach(visit);
  };
  steps.forEach(visit);
}
