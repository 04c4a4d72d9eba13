// PP812: governance, or a step, refers to an eval, validator, obligation or field that is not there.

import type { Path } from "../../../base/json.ts";
import { suggest } from "../../../base/suggest.ts";
import { replaceScalar } from "../../fix/edits.ts";
import { type Node, nodeAt } from "../../read/tree.ts";
import type { Governance, Obligation, Review } from "../../shape/generated/pack-file.ts";
import { type CheckContext, onValue, type Report, type Rule } from "../rule.ts";
import { governanceObjects } from "./governance-list.ts";
import { compositionsOf } from "./step-list.ts";

export const governanceReference: Rule = {
  code: "PP812",
  severity: "error",
  fix: "unsafe",
  title: "reference to no eval, validator or obligation",
  explain:
    "Controls of an obligation name a validator, an eval or a governance field; reviews name the " +
    "obligations they satisfy and an eval; steps name evals under `modifiers`. Each must exist in the " +
    "pack, and a field must be declared in the same governance object or, for an agent, in that of the " +
    "pack. Otherwise the record claims a control that nothing provides.",
  bad: `
metadata:
  governance:
    obligations:
      - { id: o1, obligation: Tell people, controls: [{ external: A notice on the page }] }
    reviews:
      - { id: r1, type: Yearly look, cadence: P1Y, owner: quality, satisfies: [o9] }
`,
  good: `
metadata:
  governance:
    obligations:
      - { id: o1, obligation: Tell people, controls: [{ external: A notice on the page }] }
    reviews:
      - { id: r1, type: Yearly look, cadence: P1Y, owner: quality, satisfies: [o1] }
`,
  check: (context, report) => {
    const judging = { context, report, names: namesOf(context) };
    for (const { written, effective, path } of governanceObjects(context)) {
      for (const [index, obligation] of (written.obligations ?? []).entries()) {
        judgeObligation(judging, obligation, { path: [...path, "obligations", index], effective });
      }
      for (const [index, review] of (written.reviews ?? []).entries()) {
        judgeReview(judging, review, [...path, "reviews", index]);
      }
    }
    for (const { step, path } of compositionsOf(context).flatMap(({ steps }) => steps)) {
      for (const [index, id] of (step.modifiers?.eval ?? []).entries()) {
        judge(judging, [...path, "modifiers", "eval", index], {
          subject: `step \`${step.id}\` runs eval`,
          id,
          known: judging.names.evals,
        });
      }
    }
  },
};

interface Judging {
  readonly context: CheckContext;
  readonly report: Report;
  readonly names: Names;
}

interface Names {
  readonly evals: ReadonlySet<string>;
  readonly validators: ReadonlySet<string>;
}

/** From the file as written: what the shape phase refused is not missing. */
function namesOf({ root }: CheckContext): Names {
  const evals = new Set<string>();
  const validators = new Set<string>();
  addIds(evals, nodeAt(root, ["evals"]));
  const prompts = nodeAt(root, ["prompts"]);
  for (const { value } of prompts?.kind === "map" ? prompts.entries : []) {
    addIds(evals, nodeAt(value, ["evals"]));
    addIds(validators, nodeAt(value, ["validators"]));
  }
  return { evals, validators };
}

function addIds(into: Set<string>, list: Node | undefined): void {
  for (const item of list?.kind === "list" ? list.items : []) {
    const id = nodeAt(item, ["id"]);
    if (id?.kind === "scalar") into.add(String(id.value));
  }
}

interface Where {
  readonly path: Path;
  readonly effective: Governance;
}

function judgeObligation(judging: Judging, { id, controls }: Obligation, { path, effective }: Where): void {
  for (const [index, control] of controls.entries()) {
    const at = [...path, "controls", index];
    const subject = `obligation \`${id}\` relies on`;
    const { validators, evals } = judging.names;
    if (control.validator !== undefined) {
      judge(judging, [...at, "validator"], {
        subject: `${subject} validator`,
        id: control.validator,
        known: validators,
      });
    }
    if (control.eval !== undefined) {
      judge(judging, [...at, "eval"], { subject: `${subject} eval`, id: control.eval, known: evals });
    }
    if (control.field !== undefined) {
      judgeField(judging, [...at, "field"], { subject, field: control.field, effective });
    }
  }
}

function judgeReview(judging: Judging, review: Review, path: Path): void {
  const obligations = obligationIds(judging.context, path.slice(0, -2));
  for (const [index, id] of (review.satisfies ?? []).entries()) {
    judge(judging, [...path, "satisfies", index], {
      subject: `review \`${review.id}\` satisfies`,
      id,
      known: obligations,
    });
  }
  if (review.eval !== undefined) {
    judge(judging, [...path, "eval"], {
      subject: `review \`${review.id}\` uses eval`,
      id: review.eval,
      known: judging.names.evals,
    });
  }
}

/** Those in force where an agent overrides a part: its own list, else that of the pack. */
function obligationIds({ root }: CheckContext, governance: Path): ReadonlySet<string> {
  const ids = new Set<string>();
  addIds(
    ids,
    nodeAt(root, [...governance, "obligations"]) ?? nodeAt(root, ["metadata", "governance", "obligations"]),
  );
  return ids;
}

const fields = [
  "vocabularies",
  "intended_purpose",
  "foreseeable_misuse",
  "autonomy_level",
  "accountable_owner",
  "operator_role",
  "risk_classification",
  "intended_deployment_contexts",
  "capabilities",
  "approved_environments",
  "requires_ai_disclosure",
  "independent_of",
  "obligations",
  "reviews",
  "extensions",
];

function judgeField(
  { context, report }: Judging,
  path: Path,
  { subject, field, effective }: { subject: string; field: string; effective: Governance },
): void {
  if (Object.hasOwn(effective, field) || context.isBroken(...path)) return;
  const known = fields.includes(field);
  // The shape phase may have refused the declaration itself.
  if (known && context.exists("metadata", "governance", field)) return;
  const meant = known ? undefined : suggest(field, fields);
  report({
    at: onValue(...path),
    message: `${subject} \`${field}\`, which is ${known ? "not declared" : "no governance field"}`,
    why: "references must resolve inside the pack",
    help: known ? `declare \`${field}\`` : "name a governance field",
    ...(meant !== undefined && {
      label: `did you mean \`${meant}\`?`,
      fix: { title: `name \`${meant}\``, edits: replaceScalar(context.root, context.text, path, meant) },
    }),
    data: { field, suggestion: meant ?? null },
  });
}

function judge(
  { context, report }: Judging,
  path: Path,
  { subject, id, known }: { subject: string; id: string; known: ReadonlySet<string> },
): void {
  if (known.has(id) || context.isBroken(...path)) return;
  const meant = suggest(id, known);
  report({
    at: onValue(...path),
    message: `${subject} \`${id}\`, which does not exist`,
    why: "references must resolve inside the pack",
    help: "fix the id",
    ...(meant !== undefined && {
      label: `did you mean \`${meant}\`?`,
      fix: { title: `name \`${meant}\``, edits: replaceScalar(context.root, context.text, path, meant) },
    }),
    data: { id, suggestion: meant ?? null },
  });
}
