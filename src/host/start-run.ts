// Starts a run for a server: what is wrong with the request is found before anything is stored or called.

import { readScript, type ScriptProblem } from "../adapter/script/read-script.ts";
import type { JsonObject } from "../base/json.ts";
import { decide } from "../core/decide.ts";
import type { Limits, Mode } from "../core/facts.ts";
import type { Refusal, StartInput } from "../core/input.ts";
import type { Program } from "../core/program.ts";
import { emptyRun, type Run } from "../core/run.ts";
import type { Engine } from "../engine/engine.ts";
import { Fault } from "../engine/ports.ts";
import type { RunSettings } from "./run-settings.ts";
import type { RunWorlds } from "./run-worlds.ts";
import { startTerms } from "./start-terms.ts";

export interface RunRequest {
  readonly id: string;
  readonly program: Program;
  readonly digest: string;
  readonly source: string;
  readonly settings: RunSettings;
  readonly mode: Mode;
  readonly variables: JsonObject;
  readonly input: string;
  readonly prompt?: string | undefined;
  readonly state?: string | undefined;
  readonly limits: Partial<Limits>;
  /** As a script file says it. */
  readonly script?: JsonObject | undefined;
  readonly key?: string | undefined;
  /** Kept with the run beside what it works with. */
  readonly setup: JsonObject;
  readonly now: number;
  readonly warn: (line: string) => void;
}

export type StartedRun =
  | { readonly kind: "done"; readonly run: Run }
  | { readonly kind: "refused"; readonly refusal: Refusal }
  | { readonly kind: "bad-script"; readonly problems: readonly ScriptProblem[] }
  /** A model, a key or a server that the run needs is not there. */
  | { readonly kind: "missing"; readonly code: string; readonly message: string };

export async function startRun(engine: Engine, worlds: RunWorlds, request: RunRequest): Promise<StartedRun> {
  const { id, program, digest, source, settings, limits, key, warn } = request;
  const read = request.script === undefined ? undefined : readScript(request.script);
  if (read !== undefined && read.problems.length > 0) return { kind: "bad-script", problems: read.problems };
  const input: Omit<StartInput, "type" | "at" | "digest"> = {
    mode: request.mode,
    variables: request.variables,
    input: request.input,
    limits,
    ...(request.prompt !== undefined && { prompt: request.prompt }),
    ...(request.state !== undefined && { state: request.state }),
  };
  const early = decide(program, emptyRun, { ...input, type: "start", at: request.now, digest });
  if (early.kind === "refused") return early;
  try {
    const terms = await startTerms(worlds, { program, settings, script: read?.script, limits, warn });
    const setup = { ...request.setup, ...terms.setup, ...(request.script && { script: request.script }) };
    const started = await engine.start({
      ...{ id, program, digest, source, setup },
      input: { ...input, ...terms.input },
      ...(key !== undefined && { key }),
    });
    return started.kind === "refused" ? started : { kind: "done", run: started.run };
  } catch (error) {
    // Of the store the caller hears as everywhere else.
    if (!(error instanceof Fault) || error.code.startsWith("store-")) throw error;
    return { kind: "missing", code: error.code, message: error.message };
  }
}
