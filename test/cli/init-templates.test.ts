// Every template as a newcomer meets it: made, checked, run with its scripts, traced, tested.

import { createHash } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import type { Json } from "../../src/base/json.ts";
import { pathOf, type RunFolder } from "./run-folder.ts";
import { templateFolder } from "./template-folder.ts";

const root = fileURLToPath(new URL("../../templates/", import.meta.url));
const names = readdirSync(root).toSorted();

interface Script {
  readonly name: string;
  readonly script: string;
  readonly status: string;
  readonly path: string;
}

const scripts: readonly Script[] = names.flatMap((name) =>
  readdirSync(join(root, name))
    .filter((file) => file.startsWith("script"))
    .map((script) => {
      const [first = ""] = readFileSync(join(root, name, script), "utf8").split("\n");
      const [, status = "", path = ""] = /^# expect (\w+): (.+)$/.exec(first) ?? [];
      return { name, script, status, path };
    }),
);

test("there are at least five, all on their page, each with a script that completes", () => {
  expect(names.length).toBeGreaterThanOrEqual(5);
  const page = readFileSync(fileURLToPath(new URL("../../docs/templates.md", import.meta.url)), "utf8");
  expect([...page.matchAll(/^\| `(\w+)` \|/gm)].map(([, name = ""]) => name).toSorted()).toEqual(names);
  const complete = scripts.filter(({ script, status }) => script === "script.yaml" && status === "completed");
  expect(complete.map(({ name }) => name)).toEqual(names);
});

describe.each(names)("%s", (name) => {
  test("passes the check without a warning, and every run of it is bounded by its guards", () => {
    using folder = templateFolder(name);
    const ran = folder.cli(["check", "--strict", "--max-warnings", "0", "--bound"]);
    expect(ran.code, ran.stdout).toBe(0);
    expect(ran.stdout).toMatch(
      new RegExp(`^${name}\\.pack\\.yaml(?: from \\w+)?: bounded by guards   exact`, "m"),
    );
    expect(ran.stdout).not.toContain("warning");
  });

  test("passes its own tests, before and after a run, and they change nothing of it", () => {
    using folder = templateFolder(name);
    passes(folder);
    folder.cli(["run", "--script", "script.yaml"]);
    passes(folder);
  });

  function passes(folder: RunFolder): void {
    const before = contents(folder.path);
    const ran = folder.cli(["test"]);
    expect(ran.code, ran.stdout + ran.stderr).toBe(0);
    expect(ran.stdout).toMatch(/^[2-9] passed, 0 failed/m);
    expect(contents(folder.path)).toEqual(before);
  }
});

test.each(scripts)("$name runs $script: $status", ({ name, script, status, path }) => {
  using folder = templateFolder(name);
  const ran = folder.summary(["run", "--script", script]);
  expect(ran.stderr).toBe("");
  expect(ran.summary.status).toBe(status);
  expect(ran.code).toBe(status === "completed" ? 0 : 10);
  expect(pathOf(folder.trace())).toBe(path);
  expect(folder.cli(["trace", "@"]).stdout).toContain("Transition");
});

/** All files but those that packloop and git keep for themselves. */
function contents(folder: string): Readonly<Record<string, string>> {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true });
  const own = files.filter(
    (entry) => entry.isFile() && !/[\\/]\.(packloop|git)([\\/]|$)/.test(entry.parentPath),
  );
  return Object.fromEntries(
    own.map(({ parentPath, name }) => [
      join(parentPath, name),
      readFileSync(join(parentPath, name)).toString("hex"),
    ]),
  );
}

test("draft: the table of criteria improves from review to review", () => {
  using folder = templateFolder("draft");
  folder.cli(["run", "--script", "script.yaml"]);
  const judged = folder.trace().filter(({ from }) => from === "review");
  expect(judged.map(({ artifacts }) => artifacts["criteria"])).toMatchObject([
    { met: 2 },
    { met: 4 },
    { met: 5 },
  ]);
});

test("etl: the number of errors falls to none", () => {
  using folder = templateFolder("etl");
  folder.cli(["run", "--script", "script.yaml"]);
  const validated = folder.trace().filter(({ from }) => from === "validate");
  const reports = validated.map(({ artifacts }) => artifacts["report"] as unknown as Report);
  expect(reports.map(({ errors, left_out = 0 }) => errors.length + left_out)).toEqual([27, 11, 0]);
});

interface Report {
  readonly errors: readonly Json[];
  readonly left_out?: number;
}

test("research: every claim carries url, hash and time of a stored page, and its quote stands there", () => {
  using folder = templateFolder("research");
  folder.cli(["run", "--script", "script.yaml"]);
  const library = join(folder.path, "library");
  const pages = JSON.parse(readFileSync(join(library, "index.json"), "utf8")) as readonly Record<
    string,
    string
  >[];
  const claims = folder.trace().at(-1)?.artifacts["claims"] as unknown as readonly Record<string, string>[];
  expect(claims).toHaveLength(4);
  for (const { url, quote, sha256, fetched_at } of claims) {
    const page = pages.find((one) => one["url"] === url);
    const text = readFileSync(join(library, page?.["file"] ?? ""), "utf8");
    expect(sha256).toBe(createHash("sha256").update(text).digest("hex"));
    expect(fetched_at).toBe(page?.["fetched_at"]);
    expect(text.replaceAll(/\s+/g, " ")).toContain(quote);
  }
});

describe("explore", () => {
  interface Result {
    readonly query_id: string;
    readonly rows: readonly (readonly Json[])[];
  }

  const resultsOf = (folder: RunFolder): readonly Result[] =>
    folder
      .trace()
      .flatMap((row) => (row.from === "query" ? [row.artifacts["result"] as unknown as Result] : []));

  test("the three planted facts come out of the database", () => {
    using folder = templateFolder("explore");
    expect(folder.cli(["run", "--script", "script.yaml"]).code).toBe(0);
    const results = resultsOf(folder);
    const rows = results.map((result) => result.rows);
    expect(rows[1]?.[0]).toEqual(["kettle", "Heron", 101, 41.6]);
    expect(rows[1]?.[1]?.[3]).toBe(7.1);
    expect(rows[2]?.[0]).toEqual(["Norway", 1, 49, 11]);
    expect(rows[2]?.slice(1).every((row) => row[3] === 4)).toBe(true);
    expect(rows[3]).toEqual([[5, 31.4]]);
    const findings = folder.trace().at(-1)?.artifacts["findings"] as unknown as readonly Result[];
    expect(findings).toHaveLength(4);
    const asked = results.map((result) => result.query_id);
    expect(findings.filter(({ query_id }) => !asked.includes(query_id))).toEqual([]);
  });

  test("with other data the figures are others", async () => {
    using folder = templateFolder("explore");
    const { DatabaseSync } = await import("node:sqlite");
    using db = new DatabaseSync(join(folder.path, "data", "shop.db"));
    db.exec("UPDATE orders SET returned = 0");
    expect(folder.cli(["run", "--script", "script.yaml"]).code).toBe(0);
    expect(resultsOf(folder)[1]?.rows.map((row) => row[3])).toEqual([0, 0, 0, 0, 0]);
  });
});

describe("remediate", () => {
  const poolOf = ({ path }: RunFolder): number =>
    (JSON.parse(readFileSync(join(path, "service", "service.json"), "utf8")) as { pool: number }).pool;

  test("nothing is changed before a person has approved, and then exactly that", () => {
    using folder = templateFolder("remediate");
    expect(folder.summary(["run", "--script", silent(folder)])).toMatchObject({
      code: 10,
      summary: { status: "waiting", state: "await_approval" },
    });
    expect(poolOf(folder)).toBe(40);
    const ended = folder.summary(["send", "@", "Approved", "--by", "bob", "--follow"]);
    expect(ended).toMatchObject({ code: 0, summary: { status: "completed" } });
    expect(poolOf(folder)).toBe(80);
    expect(folder.trace().find(({ to }) => to === "execute")).toMatchObject({ event: "Approved", by: "bob" });
  });

  test("a rejected proposal is never executed", () => {
    using folder = templateFolder("remediate");
    folder.cli(["run", "--script", silent(folder)]);
    const again = folder.summary([
      "send",
      "@",
      "Rejected",
      "--context",
      "Why 80?",
      "--by",
      "bob",
      "--follow",
    ]);
    expect(again).toMatchObject({ code: 10, summary: { state: "await_approval" } });
    expect(folder.summary(["send", "@", "HandledByHand", "--by", "bob", "--follow"]).code).toBe(0);
    expect(poolOf(folder)).toBe(40);
    expect(folder.trace().map(({ to }) => to)).not.toContain("execute");
  });

  test.each([
    ["approve", true],
    ["reject", false],
  ])("a destructive call waits for its own decision: %s", async (decision, isMade) => {
    using folder = templateFolder("remediate");
    const { summary } = folder.summary(["run", "--script", "script-restart.yaml"]);
    const [waiting] = summary.waiting_for;
    expect(waiting).toMatchObject({ kind: "approval", tool: "restart_service" });
    const decided = [decision, "@", String(waiting?.step), "--by", "bob", "--follow"];
    expect(folder.summary(decided)).toMatchObject({ code: 0, summary: { status: "completed" } });
    const journal = JSON.stringify(await folder.journal(summary.run));
    expect(journal.includes("lost_requests")).toBe(isMade);
  });

  /** The script without its people. */
  function silent({ path }: RunFolder): string {
    const text = readFileSync(join(path, "script.yaml"), "utf8");
    writeFileSync(join(path, "silent.yaml"), text.slice(0, text.indexOf("\nevents:")));
    return "silent.yaml";
  }
});
