// The files for people: what the run is about, what it remembers, what it plans. Written from the state, so
// that a folder that lost them gets them again.

import { get, type Json, type JsonObject } from "../base/json.ts";
import type { RunRecord } from "../goal/run-record.ts";
import type { Workspace } from "./workspace.ts";

const MEMORY_MAX = 1024 * 1024;

/** `memory` is the line this turn has added, if any. */
export function writeRunFiles(
  workspace: Workspace,
  run: RunRecord,
  { tools, memory }: { tools: readonly string[]; memory: string | null },
): void {
  if (!workspace.isFile("context.md")) workspace.write("context.md", contextText(run, tools));
  if (!workspace.isFile("memory.md"))
    workspace.write("memory.md", run.memory === "" ? "" : `${run.memory}\n`);
  else if (memory !== null) workspace.append("memory.md", `${memory}\n`, MEMORY_MAX);
  const plan = planText(run.plan);
  if (workspace.read("plan.md") !== plan) workspace.write("plan.md", plan);
}

function contextText(run: RunRecord, tools: readonly string[]): string {
  return [
    "# Goal",
    "",
    run.goal,
    "",
    ...(run.context === "" ? [] : ["# Context", "", run.context, ""]),
    "# Limits",
    "",
    `- tool actions: ${run.max_steps}`,
    `- new frames: ${run.max_reframes}`,
    `- attempts at each action: ${run.max_attempts}`,
    "",
    "# Tools",
    "",
    ...tools.map((tool) => `- ${tool}`),
    "",
  ].join("\n");
}

const BOXES: Readonly<Record<string, string>> = { todo: " ", doing: ">", done: "x", dropped: "-" };

function planText(plan: JsonObject | null): string {
  const todo = plan === null ? [] : ((get(plan, "todo") ?? []) as readonly Json[]);
  const lines = todo.map((one) => {
    const serves = get(one, "serves");
    const box = BOXES[String(get(one, "status"))] ?? " ";
    return `- [${box}] ${String(get(one, "id"))} ${String(get(one, "task"))}${serves === null ? "" : ` (${String(serves)})`}`;
  });
  const focus = plan === null ? undefined : get(plan, "next_focus");
  return ["# Plan", "", ...lines, "", ...(typeof focus === "string" ? [`Next: ${focus}`, ""] : [])].join(
    "\n",
  );
}
