// `packloop graph`

import { writeFileSync } from "node:fs";
import { Command, Option } from "commander";
import { isDrawable } from "../../pack/graph/drawable.ts";
import { type GraphModel, graphOf } from "../../pack/graph/model.ts";
import { usageError } from "../exit.ts";
import { loadProgram } from "../load-pack.ts";
import { onePack } from "../one-pack.ts";
import { note, write } from "../output.ts";

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
    .addHelpText(
      "after",
      [
        "",
        "Examples:",
        "  packloop graph codegen.pack.yaml",
        "  packloop graph codegen.pack.yaml --out codegen.svg",
        "",
        "Exit codes: 0 drawn, 2 unusable arguments or pack, 3 a defect of packloop",
      ].join("\n"),
    )
    .action(async (pack: string | undefined, flags: Flags) => {
      const { program } = await loadProgram(onePack(pack));
      const format = formatOf(flags);
      const graph = graphOf(program);
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
