// A pipeline as it is run: nodes that start plugins, and what follows what. Nesting, splits and calls are
// gone.

import type { Json } from "../../base/json.ts";

export interface Pipeline {
  readonly name: string;
  /** The type of event that enters it. */
  readonly on: string;
  readonly isSynchronous: boolean;
  /** How long a synchronous caller waits. */
  readonly timeoutMs: number;
  readonly nodes: ReadonlyMap<string, PipelineNode>;
  readonly entries: readonly string[];
  readonly terminals: readonly string[];
}

export interface PipelineNode {
  readonly id: string;
  readonly plugin: string;
  /** Path in the context → where it is copied from. */
  readonly baggage: ReadonlyMap<string, Source>;
  /** Key of the payload → template. */
  readonly with: ReadonlyMap<string, string>;
  readonly next: readonly string[];
  /** The step as it was written. */
  readonly source: Json;
}

export interface Source {
  readonly from: "payload" | "context";
  readonly path: readonly string[];
}

export const nextOf = (pipeline: Pipeline | undefined, step: string | null): readonly string[] =>
  step === null ? [] : (pipeline?.nodes.get(step)?.next ?? []);
