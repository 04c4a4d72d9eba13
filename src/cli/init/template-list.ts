// The templates of `packloop init`: folders of `templates/` as they are written out, and what has to be made
// beyond copying files.

import { readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { packageFile } from "../package-version.ts";

export interface Template {
  readonly name: string;
  readonly summary: string;
  /** A folder that becomes a git repository with one commit. */
  readonly repository?: string;
  /** An SQLite database made from a file of statements. */
  readonly database?: { readonly from: string; readonly file: string };
}

/** The simplest first. */
export const templates: readonly [Template, ...Template[]] = [
  { name: "worker", summary: "a worker that checks its own work, mends it, and gives up in time" },
  {
    name: "codegen",
    summary: "plan, write code, run the tests, mend, review; one git commit per visit",
    repository: "project",
  },
  {
    name: "explore",
    summary: "hypothesis, SQL query, analysis, until a question about data is answered",
    database: { from: "data/shop.sql", file: "data/shop.db" },
  },
  { name: "remediate", summary: "diagnose, propose, wait for a person, execute, verify, write it up" },
  { name: "research", summary: "search, read, record checked claims, answer, close the gaps" },
  { name: "draft", summary: "write, have a program judge the draft, revise until every criterion is met" },
  { name: "audit", summary: "have an agent investigate each finding of a scanner: a loop in a loop" },
  { name: "etl", summary: "map, transform, validate, and mend the mapping until every row is valid" },
];

/** Paths of the files of a template, with forward slashes. */
export function filesOf({ name }: Template): readonly string[] {
  const root = folderOf(name);
  const inside = (folder: string): readonly string[] =>
    readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
      const path = folder === "" ? entry.name : `${folder}/${entry.name}`;
      return entry.isDirectory() ? inside(path) : [path];
    });
  return inside("").toSorted();
}

export const folderOf = (name: string): string => fileURLToPath(packageFile(`templates/${name}`));
