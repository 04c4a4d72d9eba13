// Refusals as one clause with the remedy: the same words on the command line, in the API and in errors.

import type { Refusal } from "./input.ts";

export function refusalText(refusal: Refusal): string {
  switch (refusal.code) {
    case "unknown-run":
      return `run \`${refusal.run}\` does not exist (see packloop ls)`;
    case "run-finished":
      return `the run is ${refusal.status}; nothing can be sent to it any more (fork it to go on from an earlier turn)`;
    case "precondition-failed":
      return `the run is at turn ${refusal.turn}, not at ${refusal.expected} (look again, then decide)`;
    case "event-not-allowed":
      return `event \`${refusal.event}\` is not allowed here (allowed: ${listed(refusal.allowed)})`;
    case "not-waiting":
      return `the run is at work in \`${refusal.state}\` and waits for nobody (its events: ${listed(refusal.allowed)})`;
    case "step-mismatch":
      return `step ${refusal.step} was never asked; the last one is ${refusal.last}`;
    case "step-not-open":
      return `step ${refusal.step} is not open at this turn (open: ${listed(refusal.open.map(String))}; fork at the turn that asked it)`;
    case "pending-tool-mismatch":
      return `step ${refusal.step} waits for ${refusal.pending}, not for ${refusal.tool}`;
    case "hash-mismatch":
      return `the arguments of step ${refusal.step} changed; their SHA-256 is now ${refusal.sha256} (look again, then decide)`;
    case "bad-arguments":
    case "bad-artifact":
      return refusal.message;
    case "bad-variables":
      return `the run cannot start:\n${refusal.problems.map((problem) => `  ${problem}`).join("\n")}`;
    case "bad-limit":
      return `${refusal.limit} can only be tightened: the pack allows ${refusal.pack}, ${refusal.value} was given`;
    case "unknown-state":
      return `\`${refusal.state}\` is not a state (known: ${listed(refusal.known)})`;
    case "unknown-prompt":
      return refusal.prompt === ""
        ? `the pack has several prompts and no workflow; choose one with --prompt (${listed(refusal.known)})`
        : `\`${refusal.prompt}\` is not a prompt (known: ${listed(refusal.known)})`;
    case "unknown-agent":
      return `\`${refusal.agent}\` is not an agent of the pack (known: ${listed(refusal.known)})`;
    case "unsupported":
      return `${refusal.what}, which this version cannot run`;
  }
}

const listed = (names: readonly string[]): string => (names.length === 0 ? "none" : names.join(", "));
