// The configuration of the agent: which tools it may request, and how much of everything a run has.

import { durationMs } from "../base/duration.ts";
import { get, isObject, type Json, type JsonObject } from "../base/json.ts";

export interface LoopConfig {
  readonly tools: readonly string[];
  readonly stepsMax: number;
  readonly reframesMax: number;
  readonly attemptsMax: number;
  readonly onToolError: "escalate" | "reflect";
  readonly toolDeadlineMs: (tool: string) => number;
  readonly modelTriesMax: number;
  readonly turnReserveMs: number;
  readonly model: ModelChoice;
  readonly toolSpec: (tool: string) => ToolSpec;
  readonly workspaceRoot: string | undefined;
  readonly toolOutputCharsMax: number;
  readonly toolInputBytesMax: number;
  readonly activeRunsMax: number;
  readonly keepTerminalRuns: number;
  readonly terminalTtlMs: number;
}

export interface ToolSpec {
  readonly description: string;
  readonly inputSchema: JsonObject | undefined;
}

export type ModelChoice =
  | { readonly kind: "none" }
  | { readonly kind: "scripted"; readonly script: string }
  | {
      readonly kind: "provider";
      /** As `packloop.yaml` writes a model. */
      readonly setting: JsonObject;
      readonly outputTokensMax: number | undefined;
    };

export interface ReadConfig {
  readonly config: LoopConfig;
  /** Each says what is wrong and where; with any of them no run is started. */
  readonly problems: readonly string[];
  /** No run can be started without tools, but one that is under way may still end. */
  readonly noTools: string | undefined;
}

/** The agent's own name: it may never be one of its tools. */
export const AGENT = "agentic-loop";

const TOOL_NAME = /^[a-z0-9][a-z0-9_-]{0,63}$/;

export function readLoopConfig(value: JsonObject): ReadConfig {
  const reader = new Reader(value);
  const { tools, noTools } = readTools(value);
  const deadline = reader.time("tool_deadline", "20m");
  const deadlines = readDeadlines(value, reader);
  const specs = get(value, "tools");
  const config: LoopConfig = {
    tools,
    stepsMax: reader.count("max_steps", 20, 1),
    reframesMax: reader.count("max_reframes", 2, 0),
    attemptsMax: reader.count("max_attempts", 3, 1),
    onToolError: reader.oneOf("on_tool_error", ["escalate", "reflect"]),
    toolDeadlineMs: (tool) => deadlines.get(tool) ?? deadline,
    modelTriesMax: reader.count("max_model_tries", 5, 0),
    turnReserveMs: reader.time("turn_reserve", "10s"),
    model: readModel(value, reader),
    toolSpec: (tool) => toolSpec(get(specs, tool)),
    workspaceRoot: reader.text("workspace_root"),
    toolOutputCharsMax: reader.count("max_tool_output_chars", 12_000, 200),
    toolInputBytesMax: reader.count("max_tool_input_bytes", 32_768, 2),
    activeRunsMax: reader.count("max_active_runs", 20, 1),
    keepTerminalRuns: reader.count("keep_terminal_runs", 20, 0),
    terminalTtlMs: reader.time("terminal_ttl", "24h"),
  };
  return { config, problems: reader.problems, noTools };
}

function readTools(value: JsonObject): { tools: readonly string[]; noTools: string | undefined } {
  const named = get(value, "allowed_plugins");
  const list: readonly Json[] = Array.isArray(named) ? named : [];
  const tools = list.filter((one): one is string => typeof one === "string" && TOOL_NAME.test(one));
  const others = [...new Set(tools)].filter((one) => one !== AGENT);
  if (tools.includes(AGENT))
    return {
      tools: others,
      noTools: `\`${AGENT}\` may not be its own tool (take it out of allowed_plugins)`,
    };
  if (tools.length < list.length || (named !== undefined && !Array.isArray(named)))
    return { tools: others, noTools: "`allowed_plugins` is a list of names of plugins" };
  if (tools.length === 0)
    return { tools: others, noTools: "no tool may be requested (name some in allowed_plugins)" };
  return { tools: others, noTools: undefined };
}

function readDeadlines(value: JsonObject, reader: Reader): ReadonlyMap<string, number> {
  const deadlines = new Map<string, number>();
  const given = get(value, "tool_deadlines") ?? {};
  if (!isObject(given)) reader.problems.push("`tool_deadlines` is a mapping from tools to lengths of time");
  for (const [tool, text] of Object.entries(isObject(given) ? given : {})) {
    const ms = typeof text === "string" ? durationMs(text) : undefined;
    if (ms === undefined)
      reader.problems.push(`the deadline of \`${tool}\` is no length of time (like \`5m\`)`);
    else deadlines.set(tool, ms);
  }
  return deadlines;
}

function readModel(value: JsonObject, reader: Reader): ModelChoice {
  const model = get(value, "model");
  const script = reader.text("script");
  if (script !== undefined) return { kind: "scripted", script };
  if (model === undefined || model === null) return { kind: "none" };
  if (typeof model === "string") return providerModel(model, reader);
  if (!isObject(model)) {
    reader.problems.push("`model` is a mapping with `provider` and `name`");
    return { kind: "none" };
  }
  if (get(model, "provider") !== "scripted") return mappedModel(model, reader);
  const file = get(model, "script");
  if (typeof file === "string" && file !== "") return { kind: "scripted", script: file };
  reader.problems.push("a scripted model needs `script`, the file with its answers");
  return { kind: "none" };
}

/** `anthropic/claude-sonnet-5`, as everywhere else. */
function providerModel(text: string, reader: Reader): ModelChoice {
  const slash = text.indexOf("/");
  if (slash > 0)
    return {
      kind: "provider",
      setting: { provider: text.slice(0, slash), model: text.slice(slash + 1) },
      outputTokensMax: undefined,
    };
  reader.problems.push(`the model \`${text}\` names no provider (write \`provider/model\`)`);
  return { kind: "none" };
}

function mappedModel(model: JsonObject, reader: Reader): ModelChoice {
  const { name, max_output_tokens: tokens, ...rest } = model;
  const named = name ?? model["model"];
  if (typeof get(model, "provider") !== "string" || typeof named !== "string") {
    reader.problems.push("`model` needs `provider` and `name`");
    return { kind: "none" };
  }
  return {
    kind: "provider",
    setting: { ...rest, model: named },
    outputTokensMax: typeof tokens === "number" && tokens > 0 ? tokens : undefined,
  };
}

function toolSpec(value: Json | undefined): ToolSpec {
  const description = get(value, "description");
  const schema = get(value, "input_schema");
  return {
    description: typeof description === "string" ? description : "",
    inputSchema: isObject(schema) ? schema : undefined,
  };
}

class Reader {
  readonly problems: string[] = [];
  readonly #value: JsonObject;

  constructor(value: JsonObject) {
    this.#value = value;
  }

  count(key: string, usual: number, least: number): number {
    const value = get(this.#value, key) ?? usual;
    if (typeof value === "number" && Number.isSafeInteger(value) && value >= least) return value;
    this.problems.push(`\`${key}\` is \`${JSON.stringify(value)}\`, not a whole number from ${least} on`);
    return usual;
  }

  time(key: string, usual: string): number {
    const value = get(this.#value, key) ?? usual;
    const ms = typeof value === "string" ? durationMs(value) : undefined;
    if (ms !== undefined) return ms;
    this.problems.push(
      `\`${key}\` is \`${JSON.stringify(value)}\`, not a length of time (like \`${usual}\`)`,
    );
    return durationMs(usual) ?? 0;
  }

  oneOf<T extends string>(key: string, names: readonly [T, ...T[]]): T {
    const value = get(this.#value, key) ?? names[0];
    const found = names.find((name) => name === value);
    if (found !== undefined) return found;
    this.problems.push(`\`${key}\` is \`${JSON.stringify(value)}\`, not one of ${names.join(", ")}`);
    return names[0];
  }

  text(key: string): string | undefined {
    const value = get(this.#value, key) ?? undefined;
    if (value === undefined || (typeof value === "string" && value !== "")) return value;
    this.problems.push(`\`${key}\` is not a text`);
    return undefined;
  }
}
