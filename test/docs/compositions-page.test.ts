// docs/compositions.md: its pack is right, and its script ends as shown.

import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { pathOf, runFolder } from "../cli/run-folder.ts";

const page = readFileSync(new URL("../../docs/compositions.md", import.meta.url), "utf8");
const blocks = [...page.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].map(([, , text]) => text ?? "");

test("the pack of the page runs as the page shows", () => {
  const [pack = "", script = "", command = "", shown = ""] = blocks;
  using folder = runFolder({ "brief.pack.yaml": pack, "script.yaml": script });
  expect(folder.cli(["check", "--strict", "brief.pack.yaml"]).code).toBe(0);
  const ran = folder.summary(command.trim().split(" ").slice(1));
  const { status, output, composition } = ran.summary;
  expect(`${status}: ${pathOf(folder.trace())}\n\n${output?.text ?? ""}\n`).toBe(shown);
  expect(composition, "the run has left the composition").toBeUndefined();
  const ended = folder.trace()[0]?.steps?.map(({ id }) => id) ?? [];
  expect(ended.toSorted()).toEqual(["both", "judge", "long", "short", "text"]);
  const rendered = folder.cli(["render", "brief.pack.yaml", "brief.short", "--var", "audience=me"]);
  expect(rendered.stdout).toContain("Sum up the text for me.");
  expect(folder.cli(["graph", "brief.pack.yaml", "--format", "json"]).stdout).toContain('"judge"');
});
