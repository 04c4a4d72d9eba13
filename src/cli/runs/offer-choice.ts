// A run waits and a person sits at the terminal: what the run asks, what can be chosen, and the choice as an
// input. Leaving it means that the run goes on waiting.

import { createInterface, type Interface } from "node:readline";
import { shortened } from "../../base/screen-text.ts";
import type { Input } from "../../core/input.ts";
import type { Program } from "../../core/program.ts";
import { systemText } from "../../core/request.ts";
import type { Run } from "../../core/run.ts";
import type { Summary, WaitingFor } from "../../core/summary.ts";
import { noteText } from "../output.ts";
import { jsonOrText } from "./read-settings.ts";
import { questionText } from "./result-text.ts";

/** Lines of the question that are shown; `packloop step` and `render --at` have the rest. */
const LINES_SHOWN = 12;

export interface Waiting {
  readonly summary: Summary;
  readonly run: Run;
  readonly program: Program;
}

interface Choice {
  readonly name: string;
  readonly text: string;
  readonly input: (
    at: number,
    ask: (question: string) => Promise<string | undefined>,
  ) => Promise<Input | undefined>;
}

/** Undefined when nothing was chosen, and when `signal` came first. */
export async function offerChoice(waiting: Waiting, signal: AbortSignal): Promise<Input | undefined> {
  const choices = waiting.summary.waiting_for.flatMap(choicesOf);
  const isTalk = waiting.summary.waiting_for.some(({ kind }) => kind === "message");
  if (choices.length === 0 && !isTalk) return undefined;
  noteText(offerText(waiting, choices));
  const lines = createInterface({ input: process.stdin, output: process.stderr, terminal: true });
  // In raw mode Ctrl-C is a key; the signal means the same here as everywhere.
  lines.on("SIGINT", () => process.kill(process.pid, "SIGINT"));
  const ask = (question: string) => lineOf(lines, question, signal);
  try {
    for (;;) {
      const given = (
        await ask(isTalk ? "number, or a message: " : "number or name (empty: let it wait): ")
      )?.trim();
      if (given === undefined || given === "") return undefined;
      const chosen = choices.find(({ name }, i) => given === String(i + 1) || given === name);
      if (chosen !== undefined) return await chosen.input(Date.now(), ask);
      if (isTalk) return { type: "message", at: Date.now(), text: given, by: BY };
      noteText(`\`${given}\` is none of them`);
    }
  } finally {
    lines.close();
  }
}

/** As for the other commands when nobody says who they are. */
const BY = "cli";

function choicesOf({ kind, step, events, tool, args, sha256, question }: WaitingFor): readonly Choice[] {
  const call = `${tool ?? "the call"} ${shortened(JSON.stringify(args ?? null), 80)}`;
  if (kind === "event")
    return (events ?? []).map((name) => ({
      name,
      text: name,
      input: async (at) => ({ type: "event", at, name, by: BY }),
    }));
  if (kind === "approval")
    return [
      {
        name: "approve",
        text: `approve ${call} (SHA-256 ${sha256?.slice(0, 12) ?? ""}…)`,
        input: async (at) => ({ type: "approve", at, step, by: BY, ...(sha256 !== undefined && { sha256 }) }),
      },
      {
        name: "reject",
        text: "reject it",
        input: async (at, ask) => {
          const reason = await ask("why: ");
          return reason === undefined ? undefined : { type: "reject", at, step, by: BY, reason };
        },
      },
    ];
  if (kind === "answer" && question !== undefined) {
    const asked = questionText(question);
    const input: Choice["input"] = async (at, ask) => {
      const given = await ask(`${asked} `);
      if (given === undefined) return undefined;
      return { type: "answer", at, step, by: BY, outcome: { ok: true, value: jsonOrText(given) } };
    };
    return [{ name: "answer", text: `answer ${tool ?? "the call"}: ${asked}`, input }];
  }
  if (kind !== "in_doubt") return [];
  return [
    { name: "retry", text: `make ${call} again`, input: async (at) => ({ type: "retry", at, step, by: BY }) },
    { name: "abort", text: "give the run up", input: async (at) => ({ type: "abort", at, step, by: BY }) },
  ];
}

function offerText({ run, program }: Waiting, choices: readonly Choice[]): string {
  const state = run.state === null ? undefined : program.workflow?.states[run.state];
  const isExternal = state?.orchestration === "external";
  const words = (isExternal ? systemText(program, run) : run.lastText).trim().split("\n");
  const shown = words.length > LINES_SHOWN ? [...words.slice(0, LINES_SHOWN), "…"] : words;
  return [
    "",
    `${run.state ?? run.prompt} waits for you`,
    ...shown.filter((line, i) => line !== "" || i > 0).map((line) => `  │ ${line}`),
    ...choices.map(({ text }, i) => `  ${i + 1}  ${text}`),
  ].join("\n");
}

/** Undefined at the end of input and when `signal` came first. */
function lineOf(lines: Interface, question: string, signal: AbortSignal): Promise<string | undefined> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve(undefined);
    const left = () => {
      process.stderr.write("\n");
      resolve(undefined);
    };
    lines.once("close", left);
    signal.addEventListener("abort", left, { once: true });
    lines.question(question, (answer) => {
      lines.off("close", left);
      signal.removeEventListener("abort", left);
      resolve(answer);
    });
  });
}
