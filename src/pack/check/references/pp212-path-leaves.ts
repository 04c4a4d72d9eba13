// PP212: a path leads out of the pack's folder, or to nothing.

import { fragmentNamed } from "../../../core/part-site.ts";
import type { PackFile } from "../../shape/generated/pack-file.ts";
import { onValue, type Rule } from "../rule.ts";
import { type PackPath, packPaths } from "./pack-paths.ts";

export const pathLeaves: Rule = {
  code: "PP212",
  severity: "error",
  title: "path leaves the pack, or leads nowhere",
  explain:
    "Skills, schemas and media are named by paths relative to the pack's folder, and must stay inside it " +
    "after links are followed: a pack is copied and served as one folder, and a path out of it would read " +
    "files of whoever runs it. A path inside that leads to nothing is a warning. Move the file inside, or " +
    "correct the path.",
  bad: `
prompts:
  greet: { id: greet, name: Greet, version: 1.0.0, system_template: Say hello. }
skills: [../shared-skills]
`,
  good: `
prompts:
  greet: { id: greet, name: Greet, version: 1.0.0, system_template: Say hello. }
skills: [skills/manners]
`,
  check: ({ pack, config }, report) => {
    const missing = new Set<string>();
    for (const found of packPaths(pack)) {
      if (isElsewhere(found) || isFragment(pack, found)) continue;
      const { kind, value } = found;
      const file = fileOf(found);
      const at = onValue(...found.path);
      const data = { kind, path: value };
      if (leaves(file)) {
        const help = "move it inside, and name it relative to the pack";
        report({
          at,
          message: `${kind} path \`${value}\` leaves the pack`,
          why: "packs are self-contained",
          help,
          data,
        });
        continue;
      }
      const probed = missing.has(file) ? "inside" : config.probeFile?.(file);
      if (probed === "outside") {
        const why = "a link in it leads out of the folder, and packs are self-contained";
        report({
          at,
          message: `${kind} path \`${value}\` leaves the pack`,
          why,
          help: "move it inside",
          data,
        });
      } else if (probed === "missing") {
        missing.add(file);
        report({
          at,
          severity: "warning",
          message: `${kind} path \`${value}\` does not exist`,
          why: "it is looked for in the folder of the pack",
          help: "add the file, or correct the path",
          data,
        });
      }
    }
  },
};

function isFragment({ fragments }: PackFile, { kind, value }: PackPath): boolean {
  const name = kind === "schema" ? fragmentNamed(value) : undefined;
  return name !== undefined && Object.hasOwn(fragments ?? {}, name);
}

/** Web addresses, package names and patterns are not files of the folder. */
function isElsewhere({ kind, value }: PackPath): boolean {
  if (/^[a-z][a-z0-9+.-]+:/i.test(value) && !/^file:\//i.test(value)) return true;
  return value === "" || value.startsWith("#") || (kind === "skill" && /^@|\*/.test(value));
}

/** A schema may be a part of a file: `schemas/all.json#/$defs/order`; a bare `#…` points into the pack. */
function fileOf({ kind, value }: PackPath): string {
  const hash = kind === "schema" ? value.indexOf("#") : -1;
  return hash === -1 ? value : value.slice(0, hash);
}

/** By its text alone: absolute, or with more steps up than down. */
function leaves(file: string): boolean {
  if (/^(?:[/\\]|[a-z]:|file:\/|~[/\\])/i.test(file)) return true;
  let depth = 0;
  for (const part of file.split(/[/\\]/)) {
    if (part === "..") depth--;
    else if (part !== "" && part !== ".") depth++;
    if (depth < 0) return true;
  }
  return false;
}
