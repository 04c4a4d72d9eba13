// The compiler's pipeline for one file's text: parse → shape → link → check → bound.
// A phase runs on what the earlier ones left meaningful, so one mistake gives one message.

import { type Path, toPointer } from "../base/json.ts";
import type { Program } from "../core/program.ts";
import { checkContext } from "./check/context.ts";
import { spanOf } from "./check/place.ts";
import { isNewerSchema } from "./check/reading/pp108-newer-schema.ts";
import {
  type CheckConfig,
  type CheckContext,
  emptyConfig,
  type Place,
  type Reported,
  type Rule,
} from "./check/rule.ts";
import { rules } from "./check/rules.ts";
import { byPosition, type Finding, type Fix, type Severity } from "./diagnostic.ts";
import { renameKey } from "./fix/edits.ts";
import type { Bound } from "./flow/bound.ts";
import { digestOf, type SchemaFile, type SkillFolder } from "./link.ts";
import { type PackSource, readSource } from "./read/read-source.ts";
import { type Span, toJson } from "./read/tree.ts";
import { checkShape, type ShapeProblem } from "./shape/check-shape.ts";
import { suppress } from "./suppress.ts";

export interface CheckOptions {
  readonly file: string;
  readonly config?: CheckConfig;
  readonly strict?: boolean;
  /** Configurations explored per entry point before the answer becomes an estimate. */
  readonly limit?: number;
  /** Codes that are off, such as unselected conventions; a suppression of one is never called unused. */
  readonly isEnabled?: (code: string) => boolean;
  /** Reads what compositions name as schemas; without it they have none, and such runs are refused. */
  readonly schemaFile?: SchemaFile;
  /** Reads skills that the pack names by a path; without it there are none at any. */
  readonly skillFolder?: SkillFolder;
}

export interface CheckedPack {
  readonly embeddedAs: string;
  readonly program: Program;
  readonly digest: string;
  /**
   * The first is that of the workflow's entry, or of the prompts of a pack without one. Empty when states do
   * not link.
   */
  readonly bounds: readonly Bound[];
}

export interface CheckedText {
  readonly findings: readonly Finding[];
  readonly packs: readonly CheckedPack[];
}

export function checkText(text: string, options: CheckOptions): CheckedText {
  const source = readSource(text, options.file);
  const findings: Finding[] = [...source.findings];
  const packs: CheckedPack[] = [];
  for (const pack of source.packs) {
    const checked = checkPack(pack, text, options);
    findings.push(...checked.findings);
    if (checked.pack !== undefined) packs.push(checked.pack);
  }
  const roots = source.packs.map((pack) => pack.root);
  const kept = suppress(findings, { text, roots, isEnabled: options.isEnabled ?? (() => true) });
  return { findings: withSecretsHidden(kept, text).toSorted(byPosition), packs };
}

/** A secret's lines are hidden in every finding that points at them, whatever it is about. */
function withSecretsHidden(findings: readonly Finding[], text: string): readonly Finding[] {
  const secrets = findings.filter((finding) => finding.hideSource === true);
  const hidden = secrets.map(({ span }) => linesAround(text, span));
  if (hidden.length === 0) return findings;
  return findings.map((finding) => {
    const around = linesAround(text, finding.span);
    const shows = hidden.some((secret) => around.start < secret.end && secret.start < around.end);
    return shows ? { ...finding, hideSource: true } : finding;
  });
}

function linesAround(text: string, span: Span): Span {
  const end = text.indexOf("\n", span.end);
  return { start: text.lastIndexOf("\n", span.start - 1) + 1, end: end === -1 ? text.length : end };
}

function checkPack(source: PackSource, text: string, options: CheckOptions) {
  const shape = checkShape(toJson(source.root));
  const lenient = isNewerSchema(shape.pack?.$schema);
  const findings = shape.problems.map((problem) => shapeFinding(problem, { source, text, lenient }));
  if (shape.pack === undefined) return { findings, pack: undefined };
  const context = checkContext({
    pack: shape.pack,
    broken: shape.broken,
    root: source.root,
    text,
    config: options.config ?? emptyConfig,
    strict: options.strict ?? false,
    limit: options.limit,
    schemaFile: options.schemaFile,
    skillFolder: options.skillFolder,
  });
  const placing = { context, source, toSource: shape.toSource };
  for (const rule of rules) findings.push(...runRule(rule, placing));
  const { program } = context;
  const pack: CheckedPack = {
    embeddedAs: source.embeddedAs,
    program,
    // Asked for by few, and it hashes the whole program.
    get digest() {
      return digestOf(program);
    },
    get bounds() {
      return context.bounds;
    },
  };
  return { findings, pack };
}

interface Placing {
  readonly context: CheckContext;
  readonly source: PackSource;
  /**
   * Lists in `context.pack` close up where the shape phase dropped an item; this gives the place in the file.
   */
  readonly toSource: (path: Path) => Path;
}

function runRule(rule: Rule, placing: Placing): readonly Finding[] {
  const findings: Finding[] = [];
  rule.check?.(placing.context, (reported) => findings.push(toFinding(rule, reported, placing)));
  return findings;
}

function toFinding(rule: Rule, reported: Reported, { context, source, toSource }: Placing): Finding {
  const place = (at: Place): Place => ({ ...at, path: toSource(at.path) });
  const at = place(reported.at);
  return {
    code: rule.code,
    severity: raised(rule, reported.severity ?? rule.severity, context.strict),
    message: reported.message,
    why: reported.why,
    help: reported.help,
    label: reported.label ?? "",
    span: spanOf(source.root, at),
    path: at.path,
    related: (reported.related ?? []).map((related) => {
      const where = place(related.at);
      return { message: related.message, span: spanOf(source.root, where), path: where.path };
    }),
    fix: fixOf(rule, reported, { editable: source.editable && samePath(at.path, reported.at.path) }),
    data: reported.data ?? {},
    ...(reported.hideSource === true && { hideSource: true }),
  };
}

/** No fix where the text cannot be edited, or where an item dropped before it makes its path ambiguous. */
function fixOf(rule: Rule, { fix }: Reported, { editable }: { editable: boolean }): Fix | null {
  if (fix === undefined || fix.edits.length === 0 || !editable) return null;
  const unsafe = fix.unsafe === true || rule.fix === "unsafe";
  return { applicability: unsafe ? "unsafe" : "safe", title: fix.title, edits: fix.edits };
}

const samePath = (a: Path, b: Path): boolean => toPointer(a) === toPointer(b);

function raised(rule: Rule, severity: Severity, strict: boolean): Severity {
  if (!strict || rule.stricter !== true) return severity;
  return severity === "info" ? "warning" : "error";
}

function shapeFinding(problem: ShapeProblem, { source, text, lenient }: ShapeCase): Finding {
  const span = spanOf(source.root, { path: problem.path, on: problem.on });
  const { suggestion } = problem;
  const edits =
    problem.code === "PP105" && suggestion !== undefined
      ? renameKey(source.root, text, problem.path, suggestion)
      : [];
  return {
    code: problem.code,
    severity: problem.code === "PP105" && lenient ? "warning" : "error",
    message: problem.message,
    why: problem.why,
    help: problem.help,
    label: suggestion === undefined ? "" : `did you mean \`${suggestion}\`?`,
    span,
    path: problem.path,
    related: [],
    fix:
      edits.length > 0 && source.editable
        ? { applicability: "unsafe", title: `rename it to \`${suggestion}\``, edits }
        : null,
    data: problem.data,
  };
}

interface ShapeCase {
  readonly source: PackSource;
  readonly text: string;
  /** The file was written for a schema newer than ours: unknown properties may be right. */
  readonly lenient: boolean;
}
