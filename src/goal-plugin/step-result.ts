// A step's result: kept whole as a file where there are files, and clipped for the one prompt that shows it.

import { get, isObject, type Json, type JsonObject, put } from "../base/json.ts";
import { clip } from "../goal/clip.ts";
import type { ShownResult } from "../goal/goal-prompt.ts";
import type { RunRecord } from "../goal/run-record.ts";
import { artifactsNamed, type ToolResult } from "../goal/tool-result.ts";
import type { Workspace } from "./workspace.ts";

export interface KeptResult {
  readonly shown: ShownResult;
  /** Files of this step, those that the tool wrote last. */
  readonly artifacts: readonly string[];
  /** The file that holds all of it. */
  readonly stored: string | undefined;
}

interface Step {
  readonly step: number;
  readonly attempt: number;
  readonly tool: string;
}

export function keepResult(
  result: ToolResult,
  { at, workspace, charsMax }: { at: Step; workspace: Workspace | undefined; charsMax: number },
): KeptResult {
  const value: JsonObject = result.ok ? result.value : { error: { ...result.error } };
  const name = artifactName(at);
  const stored = workspace?.create(`${name}.json`, `${JSON.stringify(value, null, 1)}\n`);
  const texts: string[] = [];
  const text = shownText(value, {
    charsMax,
    stored,
    keep: (long) => {
      const file = workspace?.create(`${name}.txt`, long);
      if (file !== undefined) texts.push(file);
      return file;
    },
  });
  const named = result.ok ? artifactsNamed(value) : [];
  const there = named.filter((path) => workspace?.isFile(path) ?? true);
  const { step, tool } = at;
  return {
    shown: { step, tool, status: result.ok ? "ok" : "error", text },
    artifacts: [...new Set([...(stored === undefined ? [] : [stored]), ...texts, ...there])],
    stored,
  };
}

const artifactName = ({ step, attempt, tool }: Step): string =>
  `artifacts/${String(step).padStart(2, "0")}-${attempt}-${tool}`;

interface Showing {
  readonly charsMax: number;
  readonly stored: string | undefined;
  readonly keep: (long: string) => string | undefined;
}

/** A long text in it is clipped by itself, so that the fields beside it stay readable. */
function shownText(value: Json, { charsMax, stored, keep }: Showing): string {
  const shown: Record<string, Json> = {};
  for (const [key, one] of Object.entries(isObject(value) ? value : { value })) {
    const isLong = typeof one === "string" && one.length > charsMax;
    put(shown, key, isLong ? clip(one, Math.floor(charsMax * 0.6), keep(one)) : one);
  }
  return clip(JSON.stringify(shown), charsMax, stored);
}

const DEFERRED_MAX = 8000;

/** What a later invocation needs to go on; it may see none of the files. */
export const deferredResult = ({ shown, stored }: KeptResult): JsonObject => ({
  step: shown.step,
  tool: shown.tool,
  status: shown.status,
  text: clip(shown.text, DEFERRED_MAX, stored),
  ...(stored !== undefined && { artifact: stored }),
});

export function recalled(
  run: RunRecord,
  { workspace, charsMax }: { workspace: Workspace | undefined; charsMax: number },
): ShownResult | undefined {
  const kept = run.deferred_result;
  if (kept === null) return undefined;
  const [step, tool, status, text] = ["step", "tool", "status", "text"].map((key) => get(kept, key));
  const file = get(kept, "artifact");
  const whole = typeof file === "string" ? storedValue(workspace, file) : undefined;
  const again = whole && shownText(whole, { charsMax, stored: String(file), keep: () => String(file) });
  return {
    step: Number(step ?? run.step),
    tool: String(tool ?? ""),
    status: status === "error" ? "error" : "ok",
    text: again ?? String(text ?? ""),
  };
}

/** The stored result of a step, by the name its file was given. */
export function resultOfStep(
  run: RunRecord,
  step: number,
  workspace: Workspace | undefined,
): Json | undefined {
  const prefix = `artifacts/${String(step).padStart(2, "0")}-`;
  const file = run.artifacts.findLast((path) => path.startsWith(prefix) && path.endsWith(".json"));
  return file === undefined ? undefined : storedValue(workspace, file);
}

function storedValue(workspace: Workspace | undefined, file: string): JsonObject | undefined {
  const text = workspace?.read(file);
  if (text === undefined) return undefined;
  try {
    const value = JSON.parse(text) as Json;
    return isObject(value) ? value : undefined;
  } catch (error) {
    // A tool may have written it; then it is only not there.
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
