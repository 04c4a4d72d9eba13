// What a call of a tool can do, as far as the pack and the settings say: what somebody who decides about one
// looks at first. Nothing is opened for it.

import type { BoundTool, Tier } from "../adapter/tool/bound-tool.ts";
import { get, type JsonObject } from "../base/json.ts";
import type { Program } from "../core/program.ts";

export interface CallRisk {
  /** Null where nobody says. */
  readonly tier: Tier | null;
  /** After a crash it is made again with the same key; false: its end may stay unknown. */
  readonly idempotent: boolean;
  /** As the pack says. */
  readonly reversibility: "reversible" | "compensable" | "irreversible" | null;
  /** How what it does is put back, in the words of the settings. */
  readonly rollback: string | null;
}

/** Whoever knows the worlds of runs. */
export interface RiskOf {
  riskOf(setup: JsonObject, call: { readonly program: Program; readonly tool: string }): CallRisk;
}

interface Known {
  readonly program: Program;
  readonly tool: string;
  readonly bound: BoundTool | undefined;
  /** A script answers it. */
  readonly isScripted: boolean;
}

export function callRisk({ program, tool, bound, isScripted }: Known): CallRisk {
  const scope = Object.hasOwn(program.tools, tool) ? program.tools[tool]?.actionScope : undefined;
  const effect = get(scope, "effect");
  const reversibility = REVERSIBILITIES.find((one) => one === get(scope, "reversibility")) ?? null;
  return {
    tier: bound?.tier ?? tierOf(effect, reversibility),
    // The rule of the dispatcher: what only reads, and what is declared safe, is repeated.
    idempotent: isScripted || effect === "read" || bound?.safe === true,
    reversibility,
    rollback: bound?.rollback ?? null,
  };
}

const REVERSIBILITIES = ["reversible", "compensable", "irreversible"] as const;

function tierOf(effect: unknown, reversibility: CallRisk["reversibility"]): Tier | null {
  if (effect === "read") return "read";
  if (reversibility === "irreversible") return "destructive";
  if (effect === "external") return "egress";
  return effect === "write" ? "write" : null;
}
