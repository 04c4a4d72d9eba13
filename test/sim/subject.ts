// What the simulator tries to break: the product's own code, or a copy of it with a planted bug.

import { applyTurn, fold } from "../../src/core/apply.ts";
import { decide } from "../../src/core/decide.ts";
import { digestFor, replayTurn } from "../../src/core/replay.ts";
import { modelRequest } from "../../src/core/request.ts";
import { statusOf } from "../../src/core/run.ts";
import { traceOf } from "../../src/core/trace.ts";
import { Dispatcher } from "../../src/engine/dispatcher.ts";
import { Door } from "../../src/engine/door.ts";
import { planFork } from "../../src/engine/fork.ts";
import { Fault } from "../../src/engine/ports.ts";
import { MemoryDisk, memoryStore } from "../../src/store/memory.ts";

export interface Subject {
  readonly applyTurn: typeof applyTurn;
  readonly fold: typeof fold;
  readonly decide: typeof decide;
  readonly digestFor: typeof digestFor;
  readonly replayTurn: typeof replayTurn;
  readonly modelRequest: typeof modelRequest;
  readonly statusOf: typeof statusOf;
  readonly traceOf: typeof traceOf;
  readonly Dispatcher: typeof Dispatcher;
  readonly Door: typeof Door;
  readonly Fault: typeof Fault;
  readonly planFork: typeof planFork;
  readonly MemoryDisk: typeof MemoryDisk;
  readonly memoryStore: typeof memoryStore;
}

export const product: Subject = {
  applyTurn,
  fold,
  decide,
  digestFor,
  replayTurn,
  modelRequest,
  statusOf,
  traceOf,
  Dispatcher,
  Door,
  Fault,
  planFork,
  MemoryDisk,
  memoryStore,
};

/** The same from another folder of sources. */
export async function subjectIn(sources: URL): Promise<Subject> {
  const files = [
    "core/apply.ts",
    "core/decide.ts",
    "core/replay.ts",
    "core/request.ts",
    "core/run.ts",
    "core/trace.ts",
    "engine/dispatcher.ts",
    "engine/door.ts",
    "engine/fork.ts",
    "engine/ports.ts",
    "store/memory.ts",
  ];
  const modules = await Promise.all(files.map((file) => import(new URL(file, sources).href)));
  return Object.assign({}, ...modules) as Subject;
}
