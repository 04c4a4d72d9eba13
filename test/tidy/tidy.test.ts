// The house rules a machine can see. Each problem is one line: `path:line: message`.

import { describe, expect, test } from "vitest";
import { root, type SourceFile, sourceFiles } from "./source-files.ts";

const files = sourceFiles("src", "web/src");
const tests = sourceFiles("test", "scripts", "bench");
const byPath = new Map(files.map((file) => [file.path, file]));
/** The suite that every store runs lives beside the stores. */
const isTest = (path: string) => /\.test\.ts$|^src\/store\/(conformance|sample|stored)/.test(path);
const product = files.filter((file) => !isTest(file.path));

/** Who may import whom: a folder under src/ sees itself and these. */
const allowed: Readonly<Record<string, readonly string[]>> = {
  base: [],
  core: ["base"],
  pack: ["base", "core"],
  engine: ["base", "core"],
  goal: ["base", "core", "pack"],
  "goal-plugin": ["base", "core", "engine", "adapter", "goal"],
  store: ["base", "core", "engine"],
  process: ["base"],
  telemetry: ["base", "core", "engine"],
  adapter: ["base", "core", "engine", "process"],
  gateway: ["base", "core", "pack", "engine", "process"],
  server: ["base", "core", "pack", "engine", "host", "telemetry"],
  host: ["base", "core", "pack", "engine", "store", "adapter", "goal"],
  library: ["base", "core", "pack", "engine", "store", "adapter", "telemetry"],
  web: ["base", "core", "pack"],
  cli: [
    "base",
    "core",
    "pack",
    "engine",
    "store",
    "adapter",
    "host",
    "gateway",
    "server",
    "telemetry",
    "goal",
  ],
};

/** What each entry of the package and each program starts from. */
const roots = new Set([
  "src/cli/main.ts",
  "web/src/main.tsx",
  "web/src/journal/journal-worker.ts",
  "src/library/packloop.ts",
  "src/library/sqlite.ts",
  "src/library/postgres.ts",
  "src/goal-plugin/main.ts",
  "src/pack/pack.ts",
  "src/store/sqlite/commit-thread.ts",
  "src/adapter/tool/fetch/page-thread.ts",
  "src/adapter/tool/sql/sqlite-process.ts",
]);

const folderOf = (path: string) => (path.startsWith("web/") ? "web" : (path.split("/")[1] ?? ""));

function problems(
  check: (file: SourceFile, say: (line: number, message: string) => void) => void,
  of: readonly SourceFile[] = product,
) {
  const found: string[] = [];
  for (const file of of) check(file, (line, message) => found.push(`${file.path}:${line}: ${message}`));
  return found;
}

describe("imports", () => {
  test("follow the table of folders", () => {
    const found = problems((file, say) => {
      const seen = allowed[folderOf(file.path)];
      if (seen === undefined) return say(1, `folder \`${folderOf(file.path)}\` is not in the table`);
      for (const one of file.imports) {
        const folder = folderOf(one.target);
        if (!one.local || !/^(src|web)\//.test(one.target)) continue;
        // The page knows what the server says, and none of how it does it.
        if (folderOf(file.path) === "web" && one.typeOnly && ["server", "host"].includes(folder)) continue;
        if (folder === folderOf(file.path) || seen.includes(folder)) continue;
        say(one.line, `${folderOf(file.path)} may not import ${folder}`);
      }
      return undefined;
    });
    expect(found).toEqual([]);
  });

  test("stores and adapters see only the ports of the engine", () => {
    const found = problems((file, say) => {
      if (!["store", "adapter"].includes(folderOf(file.path))) return;
      for (const one of file.imports) {
        if (one.target.startsWith("src/engine/") && !one.target.endsWith("/ports.ts"))
          say(one.line, "only engine/ports");
      }
    });
    expect(found).toEqual([]);
  });

  test("have no cycle", () => {
    expect(cycles()).toEqual([]);
  });

  test("of Node are named node: and stay out of pure folders", () => {
    const found = problems((file, say) => {
      const pure = ["base", "core", "pack", "goal"].includes(folderOf(file.path));
      for (const one of file.imports)
        if (pure && one.target.startsWith("node:")) say(one.line, `pure code imports ${one.target}`);
    });
    expect(found).toEqual([]);
  });
});

describe("size and shape", () => {
  test("files have at most 400 lines", () => {
    expect(
      problems((file, say) => file.lines.length > 401 && say(401, `${file.lines.length - 1} lines`), files),
    ).toEqual([]);
  });

  test("lines have at most 110 columns, texts that cannot be broken aside", () => {
    const columns = (line: string) => [...line.replace(/(["'`]).*\1|`[^`]*$/, '""')].length;
    const found = problems((file, say) => {
      for (const [index, line] of file.lines.entries()) {
        if (columns(line) > 110) say(index + 1, `${columns(line)} columns`);
      }
    }, files);
    expect(found).toEqual([]);
  });

  test("functions have at most 70 lines", () => {
    expect(problems((file, say) => longFunctions(file, say))).toEqual([]);
  });

  test("file names say what is in them", () => {
    const banned = /(^|[/-])(utils?|helpers?|types|common|misc|manager|handler)\.tsx?$/;
    const found = problems(
      (file, say) => {
        if (banned.test(file.path)) say(1, "a name that could hold anything");
        if (!/^[a-z0-9-]+(\.test)?\.tsx?$/.test(file.path.split("/").at(-1) ?? ""))
          say(1, "file names are kebab-case");
      },
      [...files, ...tests],
    );
    expect(found).toEqual([]);
  });

  test("every file opens with what it is for", () => {
    const found = problems(
      (file, say) => {
        if (!/^(\/\/|\/\*\*)/.test(file.lines[0] ?? "")) say(1, "no opening comment");
      },
      product.filter((file) => !/^src\/base\/(assert)\.ts$/.test(file.path)),
    );
    expect(found).toEqual([]);
  });
});

describe("words", () => {
  const lines = (pattern: RegExp, message: string, of: readonly SourceFile[] = product) =>
    problems((file, say) => {
      for (const [index, line] of file.lines.entries()) if (pattern.test(code(line))) say(index + 1, message);
    }, of);
  const pure = product.filter((file) => ["core", "pack", "goal"].includes(folderOf(file.path)));

  test("core and pack know no clock, no chance and no waiting", () => {
    const banned = /\b(async|await|Promise)\b|\bDate\.now\b|\bnew Date\(|\bMath\.random\b/;
    expect(lines(banned, "pure code is synchronous and deterministic", pure)).toEqual([]);
  });

  test("types are not switched off", () => {
    expect(
      lines(/\bas any\b|: any\b|<any\b|@ts-(ignore|nocheck|expect-error)/, "types are switched off", files),
    ).toEqual([]);
  });

  test("nothing is exported by default or by star", () => {
    expect(lines(/^export default\b|^export \*/, "export by name")).toEqual([]);
  });

  test("nothing is left for later", () => {
    expect(lines(/\b(FIXME|TODO|XXX|HACK)\b/, "do it or drop it", [...files])).toEqual([]);
  });
});

describe("nothing lies about", () => {
  test("every file is imported", () => {
    const used = new Set([...files, ...tests].flatMap((file) => file.imports.map((one) => one.target)));
    const alone = product.filter((file) => !used.has(file.path) && !roots.has(file.path));
    expect(alone.map((file) => file.path)).toEqual([]);
  });

  test("every export is used elsewhere, or says in a signature what a caller gets", () => {
    const used = new Set<string>();
    for (const file of [...files, ...tests]) {
      for (const one of file.imports) for (const name of one.names) used.add(`${one.target}#${name}`);
    }
    const found = problems((file, say) => {
      if (roots.has(file.path)) return;
      for (const { name, line, isType } of file.exports) {
        const mentions = file.lines.filter((text) => new RegExp(`\\b${name}\\b`).test(text)).length;
        if (used.has(`${file.path}#${name}`) || (isType && mentions > 1)) continue;
        say(line, `\`${name}\` is exported for nobody`);
      }
    });
    expect(found).toEqual([]);
  });

  test("the repository root is where it should be", () => {
    expect(byPath.has("src/cli/main.ts"), root).toBe(true);
  });
});

/** The line without strings and comments, so that words in messages are not taken for code. */
function code(line: string): string {
  return line
    .replace(/\/\/.*$/, (comment) => (/FIXME|TODO|XXX|HACK|@ts-/.test(comment) ? comment : ""))
    .replace(/(["'`])(?:\\.|(?!\1).)*\1/g, '""');
}

function longFunctions(file: SourceFile, say: (line: number, message: string) => void): void {
  const start =
    /^(\s*)(?:export )?(?:async )?(?:function\*? [\w$]+|(?:static |async |get |set |\*)*#?[\w$]+\s*(?:<[^>]*>)?\([^;]*$|(?:const|let) [\w$]+.*=>\s*\{$)/;
  for (const [index, line] of file.lines.entries()) {
    const indent = start.exec(line)?.[1];
    if (indent === undefined || /^\s*(if|for|while|switch|return|throw|expect|test|describe)\b/.test(line))
      continue;
    const closings = new Set(["}", "};", "});", "},"].map((closing) => `${indent}${closing}`));
    const end = file.lines.findIndex((other, at) => at > index && closings.has(other));
    if (end !== -1 && end - index + 1 > 70) say(index + 1, `${end - index + 1} lines`);
  }
}

/**
 * Static imports only: what is loaded on demand cannot lock up the start. Type imports may not go upwards
 * either.
 */
function cycles(): string[] {
  const found: string[] = [];
  const state = new Map<string, "open" | "done">();
  const visit = (path: string, trail: readonly string[]): void => {
    if (state.get(path) === "done") return;
    if (state.get(path) === "open") {
      found.push([...trail.slice(trail.indexOf(path)), path].join(" -> "));
      return;
    }
    state.set(path, "open");
    for (const one of byPath.get(path)?.imports ?? []) {
      if (one.local && !one.dynamic && byPath.has(one.target)) visit(one.target, [...trail, path]);
    }
    state.set(path, "done");
  };
  for (const file of product) visit(file.path, []);
  return found;
}
