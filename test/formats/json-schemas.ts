// What readers of our JSON formats accept, as JSON Schema in our own words. Closed objects: a field nobody
// documented is a mistake.

import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";

const ajv = new Ajv2020({ strict: true, allErrors: true });

/** The problems a schema finds; empty when the value is valid. */
export function problemsOf(validate: ValidateFunction, value: unknown): readonly string[] {
  if (validate(value)) return [];
  return (validate.errors ?? []).map((error) => `${error.instancePath}: ${error.message}`);
}

const closed = (properties: object, optional: readonly string[] = []) => ({
  type: "object",
  properties,
  required: Object.keys(properties).filter((name) => !optional.includes(name)),
  additionalProperties: false,
});
const list = (items: object) => ({ type: "array", items });

const text = { type: "string" };
const position = { type: "integer", minimum: 1 };
const offset = { type: "integer", minimum: 0 };
const countOrNull = { type: ["integer", "null"], minimum: 0 };

const edit = closed({ start: offset, end: offset, text });
const fix = closed({ applicability: { enum: ["safe", "unsafe"] }, title: text, edits: list(edit) });
const related = closed({ message: text, file: text, line: position, column: position, pointer: text });

const diagnostic = closed({
  code: { type: "string", pattern: "^PP[0-9]{3}$" },
  severity: { enum: ["error", "warning", "info"] },
  message: text,
  why: text,
  help: text,
  label: text,
  file: text,
  line: position,
  column: position,
  endLine: position,
  endColumn: position,
  pointer: { type: "string", pattern: "^(?:/(?:[^~]|~[01])*)?$" },
  related: list(related),
  fix: { anyOf: [{ type: "null" }, fix] },
  data: { type: "object" },
});

const bound = closed(
  {
    terminates: { type: "boolean" },
    decided: { const: false },
    visits: countOrNull,
    model_calls: countOrNull,
    tool_calls: countOrNull,
    wall_time_sec: countOrNull,
    witness: { anyOf: [{ type: "null" }, list(text)] },
    suspect: list(text),
    verdict: { enum: ["guards", "budget", "time", "unbounded", "undecided"] },
    exact: { type: "boolean" },
    entry: text,
    per_state: { type: "object", additionalProperties: countOrNull },
    configurations: offset,
  },
  ["decided", "suspect"],
);
const bounds = { type: "object", additionalProperties: bound };

/** `packloop check --format json`. */
export const jsonReport = ajv.compile(
  closed({ files: offset, errors: offset, warnings: offset, diagnostics: list(diagnostic), bounds }),
);

/** A line of `--format jsonl`. */
export const jsonlLine = ajv.compile({
  anyOf: [
    diagnostic,
    closed({
      summary: closed({
        files: offset,
        errors: offset,
        warnings: offset,
        infos: offset,
        fixable: offset,
        bounds,
      }),
    }),
  ],
});

/** GitLab's Code Quality report. */
export const gitlabReport = ajv.compile(
  list(
    closed({
      description: text,
      check_name: text,
      fingerprint: { type: "string", pattern: "^[0-9a-f]{64}$" },
      severity: { enum: ["info", "minor", "major", "critical", "blocker"] },
      location: closed({
        path: { type: "string", minLength: 1 },
        lines: closed({ begin: position, end: position }),
      }),
    }),
  ),
);

const range = closed({
  start: closed({ line: position, column: position }),
  end: closed({ line: position, column: position }),
});

/** The result message of the Reviewdog Diagnostic Format. */
export const rdjsonReport = ajv.compile(
  closed({
    source: closed({ name: text }),
    diagnostics: list(
      closed(
        {
          message: text,
          location: closed({ path: text, range }),
          severity: { enum: ["ERROR", "WARNING", "INFO"] },
          code: closed({ value: text }),
          suggestions: list(closed({ range, text })),
        },
        ["suggestions"],
      ),
    ),
  }),
);
