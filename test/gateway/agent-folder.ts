// A gateway's folder with the agent and the tools that are shipped, as real processes, and a scripted model.

import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parse } from "yaml";
import { get, type Json, type JsonObject } from "../../src/base/json.ts";
import { type Bodies, gatewayFolder, shellPlugin, writePlugin } from "./gateway-folder.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const shipped = (...path: readonly string[]): string => join(root, "plugins", ...path);

export interface AgentParts {
  /** The model's answers; those of the worked example if there are none. */
  readonly turns?: readonly Json[];
  /** Added to the agent's configuration. */
  readonly agent?: JsonObject;
  /** Entries of plugins in the gateway's configuration. */
  readonly entries?: Readonly<Record<string, JsonObject>>;
  /** Tools in place of the shipped ones, and further plugins. */
  readonly plugins?: Bodies;
  readonly pipelines?: readonly JsonObject[];
  readonly router?: JsonObject;
  /** A shell line around every shipped plugin; `$REAL` runs it. */
  readonly around?: string;
}

const example = (name: string): string => readFileSync(join(root, "examples", "gateway", name), "utf8");

/** The pipelines of the loop as they are shipped, with one more for every further tool. */
export function agentPipelines(...tools: readonly string[]): readonly JsonObject[] {
  const { pipelines } = parse(example("pipelines.yaml")) as { pipelines: readonly JsonObject[] };
  const loop = pipelines.filter(({ on }) => String(on).startsWith("agentic."));
  const text = JSON.stringify(loop.find(({ name }) => name === "agentic-tool-page-reader"));
  const more = tools.map((tool) => JSON.parse(text.replaceAll("page-reader", tool)) as JsonObject);
  return [...loop, ...more];
}

export const exampleTurns = (): readonly Json[] =>
  get(JSON.parse(example("script.json")) as Json, "turns") as readonly Json[];

const END = { name: "end", on: "agent.completed", steps: [{ id: "tell", uses: "sink" }] };
const STOP = { name: "stop", on: "agent.escalated", steps: [{ id: "tell", uses: "sink" }] };

export function agentFolder({
  turns = exampleTurns(),
  agent = {},
  entries = {},
  plugins = {},
  pipelines = agentPipelines(),
  router = {},
  around,
}: AgentParts = {}): string {
  const folder = gatewayFolder({
    plugins: { sink: shellPlugin(`cat > /dev/null; echo '{"status":"ok","result":"heard"}'`), ...plugins },
    config: {
      router,
      plugins: {
        ...entries,
        "page-reader": {
          config: { pages_dir: join(root, "examples/gateway/pages") },
          ...entries["page-reader"],
        },
        "agentic-loop": {
          ...entries["agentic-loop"],
          config: {
            allowed_plugins: ["page-reader", "text-writer"],
            model: { provider: "scripted", script: "SCRIPT" },
            ...agent,
          },
        },
      },
    },
    pipelines: [...pipelines, END, STOP],
  });
  const config = join(folder, "config.yaml");
  writeFileSync(config, readFileSync(config, "utf8").replace("SCRIPT", join(folder, "script.json")));
  writeFileSync(join(folder, "script.json"), JSON.stringify({ turns }));
  for (const name of ["agentic-loop", "page-reader", "text-writer"])
    if (!Object.hasOwn(plugins, name)) install(join(folder, "plugins"), name, around);
  return folder;
}

/** The plugin as it is shipped; before a build the agent's sources take the place of its one file. */
function install(plugins: string, name: string, around: string | undefined): void {
  const manifest = parse(readFileSync(shipped(name, "manifest.yaml"), "utf8")) as JsonObject;
  const program = shipped(name, String(manifest["entrypoint"]));
  const real = existsSync(program) ? program : join(root, "src/goal-plugin/main.ts");
  if (around === undefined && real === program) {
    mkdirSync(join(plugins, name), { mode: 0o755 });
    cpSync(shipped(name), join(plugins, name), { recursive: true });
    return;
  }
  const how = real.endsWith(".py") ? real : `${process.execPath} ${real}`;
  const text = around === undefined ? `exec ${how}` : around.replaceAll("$REAL", how);
  writePlugin(plugins, name, shellPlugin(text), { ...manifest, entrypoint: "run" });
}
