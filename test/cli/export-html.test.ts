// `packloop export --html` and `packloop verify FILE.html` as commands.

import { cpSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { builtExport } from "../web/built-page.ts";
import { runFolder } from "./run-folder.ts";

const pack = `id: small
name: Small
version: 1.0.0
template_engine: { version: v1, syntax: "{{variable}}" }
prompts:
  work:
    id: work
    name: Work
    version: 1.0.0
    system_template: "Do {{task}}."
    variables: [{ name: task, type: string, required: true }]
workflow:
  version: 2
  entry: work
  states:
    work: { prompt_task: work, artifacts: { note: { type: text/plain } }, on_event: { Done: end } }
    end: { prompt_task: work, terminal: true }
`;

const script = `states:
  work: [{ artifacts: { note: seen }, event: Done }]
  end: [{ text: Goodbye. }]
`;

/** Has the form of a key that an issuer gives out. */
const secret = ["sk", "proj", "Zq7Rt2Lm9Xw4Vb6Nc1Hd8Kf3Js5Pg0"].join("-");

test("a page is written whole, without secrets, and verified as a file", async () => {
  const shipped = fileURLToPath(new URL("../../dist/web-export", import.meta.url));
  if (!existsSync(join(shipped, "page.js"))) cpSync(await builtExport(), shipped, { recursive: true });
  using folder = runFolder({ "pack.yaml": pack, "script.yaml": script });
  const { summary } = folder.summary([
    "run",
    "pack.yaml",
    "--script",
    "script.yaml",
    "--var",
    `task=${secret}`,
  ]);
  expect(summary.status).toBe("completed");
  const made = folder.cli(["export", "@", "--html", "--out", "run.html"]);
  expect([made.code, made.stdout]).toEqual([0, ""]);
  expect(made.stderr).toContain("secrets were taken out of turn 1");
  const file = join(folder.path, "run.html");
  const html = readFileSync(file, "utf8");
  expect(html).toMatch(
    /http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'sha256-/,
  );
  expect(folder.cli(["verify", "run.html"])).toMatchObject({
    code: 0,
    stdout: `${summary.run} sound (1 turn was redacted and not compared with the store)\n`,
  });
  folder.cli(["export", "@", "--html", "--no-redact", "--from", "3", "--out", "late.html"]);
  expect(folder.cli(["verify", "late.html"]).stdout).toBe(`${summary.run} sound (as in the store)\n`);
  writeFileSync(file, html.replace(/(data-sha256=")./, "$1x"));
  expect(folder.cli(["verify", "run.html"]).code).toBe(2);
  writeFileSync(file, html.replace("<script>", "<script>0;"));
  const changed = folder.cli(["verify", "run.html", "--json"]);
  expect(changed.code).toBe(1);
  expect(JSON.parse(changed.stdout)).toMatchObject({ same: false, problems: 1 });
  expect(folder.cli(["verify", "none.html"]).code).toBe(2);
  expect(folder.cli(["export", "@", "--from", "2"]).stderr).toContain("--from and --to go with --html");
  expect(folder.cli(["export", "@", "--html", "--to", "99"]).stderr).toContain("has no turn 99");
});
