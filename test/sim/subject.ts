// What the simulator tries to break: the product's own code, or a copy of it with a planted bug.

import { applyTurn, fold } from "../../src/core/apply.ts";
import { decide } from "../../src/core/decide.ts";
import { modelRequest } from "../../src/core/request.ts";
import { statusOf } from "../../src/core/run.ts";
import { traceOf } from "../../src/core/trace.ts";
import { Door } from "../../src/engine/door.ts";
import { planFork } from "../../src/engine/fork.ts";
import { MemoryDisk, memoryStore } from "../../src/store/memory.ts";

export interface Subject {
  readonly applyTurn: typeof applyTurn;
  readonly fold: typeof fold;
  readonly decide: typeof decide;
  readonly modelRequest: typeof modelRequest;
  readonly statusOf: typeof statusOf;
  readonly traceOf: typeof traceOf;
  readonly Door: typeof Door;
  readonly planFork: typeof planFork;
  readonly MemoryDisk: typeof MemoryDisk;
  readonly memoryStore: typeof memoryStore;
}

export const product: Subject = {
  applyTurn,
  fold,
  decide,
  modelRequest,
  statusOf,
  traceOf,
  Door,
  planFork,
  MemoryDisk,
  memoryStore,
};

/** The same from another folder of sources. */
export async function subjectIn(sources: URL): Promise<Subject> {
  const files = [
    "core/apply.ts",
    "core/decide.ts",
    "core/request.ts",
    "core/run.ts",
    "core/trace.ts",
    "engine/door.ts",
    "engine/fork.ts",
    "store/memory.ts",
  ];
  const modules = await Promise.all(files.map((file) => import(new URL(file, sources).href)));
  return Object.assign({}, ...modules) as Subject;
}
