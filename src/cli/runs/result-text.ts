// How a run stands, for people: what it came to, or what it waits for and the exact commands to go on.

import { isObject, type Json } from "../../base/json.ts";
import type { Summary } from "../../core/summary.ts";
import type { AgentRun } from "./agents-of.ts";

export function resultText(summary: Summary, agents: readonly AgentRun[] = []): string {
  const { run, status, reason, state, parent } = summary;
  const out = [
    `${run} ${status}${reasonText(summary)}${status === "waiting" ? ` in ${state ?? "its prompt"}` : ""}`,
  ];
  if (summary.output !== null && summary.output.text !== "") out.push("", summary.output.text);
  if (summary.composition !== undefined) out.push(...compositionText(summary.composition));
  if (summary.held !== null) out.push(...heldText(run, summary.held));
  for (const wait of summary.waiting_for) out.push(...waitText(run, wait));
  if (reason?.message !== undefined) out.push(`  ${reason.message}`);
  if (agents.length > 0) out.push("", ...agents.flatMap(agentLines));
  out.push("", `  packloop trace ${run}      the way it took`);
  if (parent !== null)
    out.push(`  packloop show ${parent.run}      the run it works for, by step ${parent.step}`);
  return `${out.join("\n")}\n`;
}

const STEP_MARKS = { running: "…", done: "✓", failed: "✗", skipped: "–" } as const;

function compositionText({ name, steps }: NonNullable<Summary["composition"]>): readonly string[] {
  const shown = steps.map(({ id, status, attempts }) => {
    return `${STEP_MARKS[status]} ${id}${attempts > 1 ? ` (attempt ${attempts})` : ""}`;
  });
  return ["", `  composition ${name}: ${shown.join("  ")}`];
}

function heldText(run: string, { by, reason }: NonNullable<Summary["held"]>): readonly string[] {
  return [
    `  held by ${by}${reason === undefined ? "" : `: ${reason}`}; nothing of it leaves`,
    `  packloop unpause ${run}`,
  ];
}

/** One line for each, and below those that wait what is to be done. */
function agentLines({ run, agent, depth, status, state, waits }: AgentRun): readonly string[] {
  const where = status === "waiting" && state !== null ? ` in ${state}` : "";
  const line = `${"  ".repeat(depth + 1)}${run}  ${agent}  ${status ?? "not here"}${where}`;
  return [line, ...waits.flatMap((wait) => waitText(run, wait)).map((text) => "  ".repeat(depth + 1) + text)];
}

function reasonText({ reason }: Summary): string {
  if (reason === null) return "";
  const limit = reason.limit === undefined ? reason.code : `${reason.limit} ${reason.value ?? ""}`.trim();
  return ` (${limit}${reason.state === undefined ? "" : ` in ${reason.state}`})`;
}

export function waitText(run: string, wait: Summary["waiting_for"][number]): readonly string[] {
  switch (wait.kind) {
    case "event":
      return (wait.events ?? []).map((event) => `  packloop send ${run} ${shellWord(event)} --by NAME`);
    case "message":
      return [`  packloop say ${run} "…"`];
    case "approval":
      return [
        `  ${wait.tool ?? "a tool"} wants ${JSON.stringify(wait.args)} (SHA-256 ${wait.sha256 ?? ""})`,
        `  packloop approve ${run} ${wait.step}      packloop reject ${run} ${wait.step} --reason "…"`,
      ];
    case "answer":
      if (wait.run !== undefined)
        return [
          `  step ${wait.step}: agent ${wait.tool ?? ""} waits in ${wait.run} (packloop show ${wait.run})`,
        ];
      return [
        `  step ${wait.step}: ${wait.tool ?? "a call"} ${wait.question === undefined ? "is answered from outside" : `asks: ${questionText(wait.question)}`}`,
        `  packloop answer ${run} ${wait.step} --result JSON | --error TEXT | --abort`,
      ];
    default:
      return [
        `  step ${wait.step}: ${wait.tool ?? "a call"} may or may not have happened`,
        `  packloop answer ${run} ${wait.step} --result JSON | --error TEXT | --retry | --abort`,
      ];
  }
}

/** The text of a question, with what may be answered. */
export function questionText(question: Json): string {
  if (!isObject(question)) return typeof question === "string" ? question : JSON.stringify(question);
  const { text, choices, schema } = question;
  const said = typeof text === "string" ? text : JSON.stringify(question);
  if (Array.isArray(choices))
    return `${said} (one of ${choices.map((one) => JSON.stringify(one)).join(", ")})`;
  return schema === undefined ? said : `${said} (as ${JSON.stringify(schema)})`;
}

/** As a shell takes it for one word. */
const shellWord = (text: string): string =>
  /^[\w.:/+-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
