// The `people` of a test: what they do, in order, each once the run waits for it.

import { OptionReader } from "../../adapter/tool/option-reader.ts";
import { isObject, type Json, type Path } from "../../base/json.ts";
import type { Act } from "./pack-test.ts";

const ACTS = ["approve", "reject", "answer", "say", "send", "cancel"] as const;

export function readPeople(
  value: Json | undefined,
  path: Path,
  problems: OptionReader["problems"],
): readonly Act[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) {
    problems.push({ path, message: "`people` is a list, such as `- { approve: deploy, by: ann }`" });
    return [];
  }
  return (value as readonly Json[]).flatMap((item, index) => {
    const act = isObject(item) ? readAct(new OptionReader(item, [...path, index], problems)) : undefined;
    if (!isObject(item)) problems.push({ path: [...path, index], message: "an entry is a mapping" });
    return act === undefined ? [] : [act];
  });
}

function readAct(reader: OptionReader): Act | undefined {
  const given = ACTS.map((act) => ({ act, text: reader.text(act) })).filter(({ text }) => text !== undefined);
  const by = reader.text("by") ?? "test";
  const [only] = given;
  if (only?.text === undefined || given.length > 1) {
    reader.wrongWhole(`an entry has one of ${ACTS.map((act) => `\`${act}\``).join(", ")}`);
    return undefined;
  }
  const act = actOf(only.act, only.text, by, reader);
  reader.end();
  return act;
}

function actOf(act: (typeof ACTS)[number], text: string, by: string, reader: OptionReader): Act {
  switch (act) {
    case "approve": {
      const edit = reader.any("edit");
      return { do: "approve", tool: text, by, ...(edit !== undefined && { edit }) };
    }
    case "reject":
      return { do: "reject", tool: text, by, reason: reader.text("reason") ?? "" };
    case "answer":
      return { do: "answer", tool: text, by, outcome: outcomeOf(reader) };
    case "say":
      return { do: "say", text, by };
    case "cancel":
      return { do: "cancel", reason: text, by };
    case "send": {
      const [context, artifacts] = [reader.text("context"), reader.object("artifacts")];
      return {
        ...{ do: "send", event: text, by },
        ...(context !== undefined && { context }),
        ...(artifacts !== undefined && { artifacts }),
      };
    }
  }
}

function outcomeOf(reader: OptionReader): Extract<Act, { do: "answer" }>["outcome"] {
  const [value, error] = [reader.any("value"), reader.text("error")];
  if ((value === undefined) === (error === undefined))
    reader.wrongWhole("an answer has a `value`, or an `error`");
  if (error !== undefined) return { ok: false, code: "tool_error", message: error };
  return { ok: true, value: value ?? null };
}
