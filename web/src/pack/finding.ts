// What the checker says of a pack, as the server shows it, and the ways on the graph that a finding is about.

import { isObject, type Json } from "../../../src/base/json.ts";
import type { Program } from "../../../src/core/program.ts";
import { wayKey } from "../journal/way-key.ts";

export interface Finding {
  readonly code: string;
  readonly severity: "error" | "warning" | "info";
  readonly message: string;
  readonly why?: string;
  readonly help?: string;
  readonly label?: string;
  readonly line: number;
  readonly column: number;
  readonly related?: readonly Related[];
  readonly fix?: { readonly applicability: "safe" | "unsafe" } | null;
  readonly data?: Json;
}

interface Related {
  readonly message: string;
  readonly line: number;
  readonly column: number;
  readonly pointer: string;
}

/** Keys of the ways that a run of the finding takes, redirects included; empty where it names no run. */
export function waysOf({ related = [], data }: Finding, { workflow }: Program): ReadonlySet<string> {
  const ways = new Set<string>();
  const states = workflow?.states ?? {};
  const stateOf = (name: string) => (Object.hasOwn(states, name) ? states[name] : undefined);
  for (const { pointer } of related) {
    const [from, event] = sentAt(pointer) ?? [];
    if (from === undefined || event === undefined) continue;
    const events = stateOf(from)?.events ?? {};
    const to = Object.hasOwn(events, event) ? events[event] : undefined;
    if (to !== undefined) ways.add(wayKey(from, to, false));
  }
  if (ways.size === 0) return ways;
  const guards = isObject(data ?? null)
    ? (data as { readonly full_guards?: Json })["full_guards"]
    : undefined;
  for (const guard of Array.isArray(guards) ? (guards as readonly Json[]) : []) {
    const to = typeof guard === "string" ? stateOf(guard)?.onMaxVisits : undefined;
    if (typeof guard === "string" && typeof to === "string") ways.add(wayKey(guard, to, true));
  }
  return ways;
}

/** The state and the event of `/workflow/states/STATE/on_event/EVENT`. */
function sentAt(pointer: string): readonly [string, string] | undefined {
  const parts = pointer.split("/").map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
  const [, workflow, states, from, key, event, ...more] = parts;
  const isOne = workflow === "workflow" && states === "states" && key === "on_event" && more.length === 0;
  return isOne && from !== undefined && event !== undefined ? [from, event] : undefined;
}

/** The lines under a finding, word for word as `packloop check` prints them. */
export function notesOf({ related = [], why, help, fix }: Finding): readonly string[] {
  const mark =
    fix === undefined || fix === null ? "" : fix.applicability === "safe" ? " [--fix]" : " [--unsafe-fixes]";
  return [
    ...related.map(({ line, column, message }) => `${line}:${column}: ${message}`),
    ...(why === undefined ? [] : [why]),
    ...(help === undefined ? [] : [`help: ${help}${mark}`]),
  ];
}
