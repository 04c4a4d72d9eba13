// The public module `packloop`.

export type { FunctionContext, FunctionTool, ToolObject } from "../adapter/tool/function-tools.ts";
export { later } from "../adapter/tool/function-tools.ts";
export type { Fact, Limits, Outcome, TurnRow } from "../core/facts.ts";
export type { Refusal } from "../core/input.ts";
export type { ModelRequest } from "../core/request.ts";
export type { Summary } from "../core/summary.ts";
export type { TraceRow } from "../core/trace.ts";
export { type CallContext, type Delta, Fault, type ModelPort, type Store } from "../engine/ports.ts";
export { memoryStore } from "../store/memory.ts";
export type { AnyModel } from "./any-model.ts";
export {
  createEngine,
  type EngineOptions,
  type ForkOptions,
  type LoopEngine,
  type StartOptions,
} from "./create-engine.ts";
export { Refused } from "./refused.ts";
export type { By, EventOptions, RunHandle } from "./run-handle.ts";
