// The public module `packloop/pack`.

export type { Program } from "../core/program.ts";
export type { CheckConfig } from "./check/rule.ts";
export type { Diagnostic, Fix, Severity } from "./diagnostic.ts";
export type { Bound } from "./flow/bound.ts";
export {
  type BadPack,
  type GoodPack,
  type OpenedPack,
  type OpenOptions,
  openPack,
  PackError,
} from "./open-pack.ts";
