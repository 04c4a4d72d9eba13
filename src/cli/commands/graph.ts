// `packloop graph`

import { writeFileSync } from "node:fs";
import { Command, Option } from "commander";
import { type TraceRow, Tracer } from "../../core/trace.ts";
import { storedProgram, turnsOf } from "../../host/stored-runs.ts";
import { isDrawable } from "../../pack/graph/drawable.ts";
import { type GraphModel, graphOf } from "../../pack/graph/model.ts";
import { withRun } from "../../pack/graph/overlay.ts";
import { usageError } from "../exit.ts";
import { loadProgram } from "../load-pack.ts";
import { onePack } from "../one-pack.ts";
import { note, write } from "../output.ts";
import { loadRun } from "../runs/load-run.ts";
import { openStore } from "../runs/open-store.ts";

/** Each format is loaded when it is asked for; the layout of an SVG is the heavy one. */
const formats = {
  ascii: async () => (await import("../../pack/graph/ascii.ts")).toAscii,
  mermaid: async () => (await import("../../pack/graph/mermaid.ts")).toMermaid,
  dot: async () => (await import("../../pack/graph/dot.ts")).toDot,
  svg: async () => (await import("../../pack/graph/svg.ts")).toSvg,
  json: async () => (await import("../../pack/graph/json.ts")).toGraphJson,
} as const satisfies Record<string, () => Promise<(graph: GraphModel) => string>>;

type FormatName = keyof typeof formats;

const formatByEnding: Readonly<Record<string, FormatName>> = {
  svg: "svg",
  dot: "dot",
  gv: "dot",
  mmd: "mermaid",
  mermaid: "mermaid",
  json: "json",
};

interface Flags {
  readonly format?: FormatName;
  readonly json?: true;
  readonly out?: string;
  readonly run?: string;
  readonly store?: string;
}

export function graphCommand(): Command {
  return new Command()
    .description(
      "Draw a pack's states and the events between them, or the prompts of a pack without workflow.",
    )
    .argument("[pack]", "a file, or - for standard input; may be left out in a folder with one pack")
    .addOption(
      new Option("--format <name>", "ascii unless the ending of --out says another").choices(
        Object.keys(formats),
      ),
    )
    .option("--json", "the same as --format json")
    .option("--out <file>", "write to a file instead of stdout")
    .option("--run <run>", "RUN or RUN@TURN: how often it visited each state and took each way")
    .option("--store <path>", "where runs are kept (./.packloop/runs.db)")
    .addHelpText(
      "after",
      [
        "",
        "Examples:",
        "  packloop graph codegen.pack.yaml --out codegen.svg",
        "  packloop graph --run @",
        "",
        "Without a pack, --run draws the one the run was started with.",
        "",
        "Exit codes: 0 drawn, 2 unusable arguments or pack, 3 a defect of packloop, 5 no such run",
      ].join("\n"),
    )
    .action(async (pack: string | undefined, flags: Flags) => {
      const format = formatOf(flags);
      const graph =
        flags.run === undefined ? await packGraph(pack) : await runGraph(pack, flags.run, flags.store);
      if (format === "svg" && !isDrawable(graph)) {
        throw usageError(
          `the graph is too large to be drawn (${graph.nodes.length} states); use --format dot`,
        );
      }
      const text = (await formats[format]())(graph);
      if (flags.out === undefined || flags.out === "-") return write(text);
      writeOut(flags.out, text);
      return note(`wrote ${flags.out}`);
    });
}

const packGraph = async (pack: string | undefined): Promise<GraphModel> =>
  graphOf((await loadProgram(onePack(pack))).program);

/** Over the pack that is named, or the one the run has, whatever became of its file. */
async function runGraph(pack: string | undefined, given: string, path?: string): Promise<GraphModel> {
  await using store = await openStore({ store: path, readOnly: true });
  const { id, turn, run } = await loadRun(store, given);
  const graph = pack === undefined ? graphOf(await storedProgram(store, run.digest)) : await packGraph(pack);
  const ways: TraceRow[] = [];
  const tracer = new Tracer();
  for await (const row of turnsOf(store, id, { from: 1, to: turn })) ways.push(...tracer.take(row));
  return withRun(graph, { state: run.state, ways });
}

function formatOf({ format, json, out }: Flags): FormatName {
  if (format !== undefined) return format;
  if (json === true) return "json";
  const ending = /\.([a-z]+)$/i.exec(out ?? "")?.[1]?.toLowerCase() ?? "";
  return (Object.hasOwn(formatByEnding, ending) ? formatByEnding[ending] : undefined) ?? "ascii";
}

function writeOut(file: string, text: string): void {
  try {
    writeFileSync(file, text);
  } catch (error) {
    throw usageError(`cannot write \`${file}\` (${(error as NodeJS.ErrnoException).code ?? String(error)})`);
  }
}
