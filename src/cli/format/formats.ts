// The formats of `packloop check` by the name given to `--format`.

import type { Format } from "./check-report.ts";
import { checkstyle } from "./checkstyle.ts";
import { concise } from "./concise.ts";
import { github } from "./github.ts";
import { gitlab } from "./gitlab.ts";
import { json } from "./json.ts";
import { jsonl } from "./jsonl.ts";
import { junit } from "./junit.ts";
import { pretty } from "./pretty.ts";
import { rdjson } from "./rdjson.ts";
import { sarif } from "./sarif.ts";

export const formatNames = [
  "pretty",
  "concise",
  "json",
  "jsonl",
  "github",
  "gitlab",
  "junit",
  "checkstyle",
  "rdjson",
  "sarif",
] as const;

export type FormatName = (typeof formatNames)[number];

export const formats: Readonly<Record<FormatName, Format>> = {
  pretty,
  concise,
  json,
  jsonl,
  github,
  gitlab,
  junit,
  checkstyle,
  rdjson,
  sarif,
};
