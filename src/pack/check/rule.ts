// What a rule is, and what it is given. One rule is one file beside this one, named after its code.

import type { Json, Path } from "../../base/json.ts";
import type { Flow } from "../../core/flow.ts";
import type { Program } from "../../core/program.ts";
import type { Edit, Severity } from "../diagnostic.ts";
import type { Analysis } from "../flow/analysis.ts";
import type { Bound } from "../flow/bound.ts";
import type { Node, Span } from "../read/tree.ts";
import type { PackFile } from "../shape/generated/pack-file.ts";
import type { TemplateUse } from "../template-uses.ts";

export interface Rule {
  readonly code: string;
  readonly severity: Severity;
  /** A convention (S in the catalogue): severity info, off unless selected. */
  readonly convention?: true;
  /** `--strict` makes it one step stricter († in the catalogue). */
  readonly stricter?: true;
  readonly fix?: "safe" | "unsafe";
  /** A few words for lists: `event target is not a state`. */
  readonly title: string;
  /** What it means, why it matters and what to do; full sentences for `packloop explain`. */
  readonly explain: string;
  /** Parts of a pack that show the finding, and the same mended. Missing top-level keys are filled in. */
  readonly bad: string;
  readonly good: string;
  /** Settings both examples are checked with, as YAML: for rules that speak only when asked to. */
  readonly badConfig?: string;
  /** Absent for codes the parser or the shape phase reports. */
  readonly check?: (context: CheckContext, report: Report) => void;
}

export type Report = (finding: Reported) => void;

export interface Reported {
  readonly at: Place;
  readonly message: string;
  readonly why: string;
  readonly help: string;
  /** Text beside the caret; a suggestion usually. */
  readonly label?: string;
  readonly related?: readonly { readonly at: Place; readonly message: string }[];
  readonly fix?: { readonly title: string; readonly edits: readonly Edit[]; readonly unsafe?: boolean };
  /** Every number and name used in the text. */
  readonly data?: Readonly<Record<string, Json>>;
  /** The source holds a secret here: no output may quote these lines. */
  readonly hideSource?: true;
  /** Where the catalogue gives one code two severities. */
  readonly severity?: Severity;
}

/** A place in the pack. `within` narrows it to a part of a scalar's text. */
export interface Place {
  readonly path: Path;
  readonly on: "key" | "value";
  readonly within?: Span;
}

/** The key of a map entry: `onKey("workflow", "states", "test")`. */
export const onKey = (...path: Path): Place => ({ path, on: "key" });
/** The value at a path. */
export const onValue = (...path: Path): Place => ({ path, on: "value" });

export interface CheckContext {
  /** Well-typed whatever was wrong with the file: broken parts are dropped or filled with neutral values. */
  readonly pack: PackFile;
  /** The linked form of `pack`. Names in it may dangle; the reference rules say so. */
  readonly program: Program;
  /** The document with positions. Text edits are made from it. */
  readonly root: Node;
  readonly text: string;
  /** The value at this path was refused by the shape phase and replaced or dropped: it has been told. */
  readonly isBroken: (...path: Path) => boolean;
  /** The key exists in the file, whatever its value. */
  readonly exists: (...path: Path) => boolean;
  readonly flow: Flow;
  /** One for `workflow.entry` first, then one for each agent with a `state`; empty without a usable entry. */
  readonly analyses: readonly Analysis[];
  /** One for each analysis, or that of the prompts for a pack without workflow. Made when asked for. */
  readonly bounds: readonly Bound[];
  /** States whose events, end or guard the shape phase refused in part: what they do is not known. */
  readonly damagedStates: ReadonlySet<string>;
  /** Every placeholder of every prompt, fragments followed. */
  readonly templates: readonly TemplateUse[];
  readonly config: CheckConfig;
  readonly strict: boolean;
}

/** What `packloop.yaml` and the caller add to what the pack says. */
export interface CheckConfig {
  /** Tool name to its binding, as written. */
  readonly tools: Readonly<Record<string, Json>>;
  /** Tools whose calls wait for a person (S31). */
  readonly approvals: readonly string[];
  /** Hours or more until a waiting external state expires; absent means never. */
  readonly waitExpires: boolean;
  /** The caller wants to see the worst case of every run (`--bound`). */
  readonly bound?: boolean;
  /** Looks at a path relative to the pack's folder; absent where there are no files (a browser). */
  readonly probeFile?: (path: string) => "inside" | "outside" | "missing";
}

export const emptyConfig: CheckConfig = { tools: {}, approvals: [], waitExpires: false };
