// `packloop approve`, `reject`, `answer`, `cancel`: what a person decides about an open step or a whole run.

import { Command, InvalidArgumentError } from "commander";
import type { Input } from "../../core/input.ts";
import { usageError } from "../exit.ts";
import { type PutInFlags, putIn, withPutInFlags } from "../runs/put-in.ts";
import { jsonOrText, keyValues } from "../runs/read-settings.ts";
import { shownApproval } from "../runs/sole-approval.ts";

const RUN = "run, or a unique prefix of it; @ is the last one";
const APPROVAL = "the step that waits; may be left out when there is one";

export function approveCommand(): Command {
  const command = new Command()
    .description("Approve a gated call: exactly the arguments that were shown are executed.")
    .argument("<run>", RUN)
    .argument("[step]", APPROVAL, wholeNumber)
    .option("--hash <sha256>", "what you read; refused when it changed meanwhile")
    .option("--edit <json>", "other arguments (@file): a new request, to be approved again")
    .option("--reason <text>", "why; kept with the decision")
    .option("--by <name>", "who approves", "cli");
  return withPutInFlags(command)
    .addHelpText(
      "after",
      "\nExamples:\n  packloop approve @ --by alice\n  packloop approve r_01 7 --hash 9f86… --follow",
    )
    .action(async (run: string, given: number | undefined, flags: ApproveFlags) => {
      const { id, step, sha256 } = await shownApproval(run, given, flags.store);
      const hash = flags.hash ?? sha256;
      await putIn(id, flags, (at) => ({
        type: "approve",
        at,
        step,
        by: flags.by,
        ...(hash !== undefined && { sha256: hash }),
        ...(flags.edit !== undefined && { edit: jsonOrText(fileOrText(flags.edit)) }),
        ...(flags.reason !== undefined && { comment: flags.reason }),
      }));
    });
}

interface ApproveFlags extends PutInFlags {
  readonly hash?: string;
  readonly edit?: string;
  readonly reason?: string;
  readonly by: string;
}

interface RejectFlags extends PutInFlags {
  readonly hash?: string;
  readonly reason: string;
  readonly by: string;
}

export function rejectCommand(): Command {
  const command = new Command()
    .description("Reject a gated call: the model gets your reason as its result.")
    .argument("<run>", RUN)
    .argument("[step]", APPROVAL, wholeNumber)
    .option("--hash <sha256>", "what you read; refused when it changed meanwhile")
    .option("--reason <text>", "why", "")
    .option("--by <name>", "who rejects", "cli");
  return withPutInFlags(command)
    .addHelpText(
      "after",
      "\nExamples:\n  packloop reject @ 7 --reason 'not during business hours'\n  packloop reject r_01 7 --by bob",
    )
    .action(async (run: string, given: number | undefined, flags: RejectFlags) => {
      const { id, step, sha256 } = await shownApproval(run, given, flags.store);
      const { by, reason, hash = sha256 } = flags;
      const pinned = hash === undefined ? {} : { sha256: hash };
      await putIn(id, flags, (at) => ({ type: "reject", at, step, by, reason, ...pinned }));
    });
}

interface AnswerFlags extends PutInFlags {
  readonly result?: string;
  readonly error?: string;
  readonly retry?: true;
  readonly abort?: true;
  readonly by: string;
}

export function answerCommand(): Command {
  const command = new Command()
    .description("Answer an open step from outside; the way out when nobody knows whether a call happened.")
    .argument("<run>", RUN)
    .argument("<step>", "the open step", wholeNumber)
    .option("--result <json>", "the tool's result (@file)")
    .option("--error <text>", "the tool failed")
    .option("--retry", "make the call again with the same key")
    .option("--abort", "give the run up")
    .option("--by <name>", "who answers", "cli");
  return withPutInFlags(command)
    .addHelpText(
      "after",
      "\nExamples:\n  packloop answer @ 4 --result '{\"passed\": 5}'\n  packloop answer r_01 4 --retry --follow",
    )
    .action(async (run: string, step: number, flags: AnswerFlags) => {
      await putIn(run, flags, (at) => answerInput(step, at, flags));
    });
}

function answerInput(step: number, at: number, flags: AnswerFlags): Input {
  const { result, error, retry, abort, by } = flags;
  const given = [result, error, retry, abort].filter((flag) => flag !== undefined);
  if (given.length !== 1) throw usageError("give one of --result, --error, --retry, --abort");
  if (retry === true) return { type: "retry", at, step, by };
  if (abort === true) return { type: "abort", at, step, by };
  if (error !== undefined)
    return { type: "answer", at, step, by, outcome: { ok: false, code: "tool_error", message: error } };
  return { type: "answer", at, step, by, outcome: { ok: true, value: jsonOrText(fileOrText(result ?? "")) } };
}

export function cancelCommand(): Command {
  const command = new Command()
    .description("Cancel a run. Its history and artifacts stay readable.")
    .argument("<run>", RUN)
    .option("--reason <text>", "why", "")
    .option("--by <name>", "who cancels", "cli");
  return withPutInFlags(command)
    .addHelpText(
      "after",
      "\nExamples:\n  packloop cancel @\n  packloop cancel r_01 --reason 'wrong branch' --by alice",
    )
    .action(async (run: string, flags: PutInFlags & { reason: string; by: string }) => {
      await putIn(run, flags, (at) => ({ type: "cancel", at, by: flags.by, reason: flags.reason }));
    });
}

const fileOrText = (given: string): string => keyValues([`x=${given}`], "a value")["x"] ?? "";

function wholeNumber(value: string): number {
  if (!/^\d{1,9}$/.test(value)) throw new InvalidArgumentError(`\`${value}\` is not a step`);
  return Number(value);
}
