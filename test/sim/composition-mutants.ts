// Bugs planted in the rules of compositions; each must be noticed by packs that have some (S29).

import type { Mutant } from "./mutants.ts";

export const compositionMutants: readonly Mutant[] = [
  {
    name: "a step is skipped with any of the steps it depends on",
    file: "core/part-order.ts",
    from: 'return dependsOn.every((id) => partOf(composing, id)?.is === "skipped");',
    to: 'return dependsOn.some((id) => partOf(composing, id)?.is === "skipped");',
  },
  {
    name: "a step that no branch led to runs",
    file: "core/part-order.ts",
    from: "if (pickedBy.length > 0 && !picked) return true;",
    to: "",
  },
  {
    name: "the step behind a branch with two targets runs as well",
    file: "core/part-order.ts",
    from: 'const turnedOff = behind?.kind === "branch" && behind.onFalse !== null;',
    to: 'const turnedOff = behind?.kind === "branch" && behind.onTrue === "";',
  },
  {
    name: "a step does not wait for what it depends on",
    file: "core/part-order.ts",
    from: "return mayRun && [...before, ...pickedBy].every((id) => isSettled(composing, id));",
    to: "return mayRun && [...pickedBy].every((id) => isSettled(composing, id));",
  },
  {
    name: "a parallel step fails before its other branches are through",
    file: "core/part-order.ts",
    from: "  if (part.branches.some(({ id }) => isRunning(composing, id))) return false;\n",
    to: "",
  },
  {
    name: "branches are merged in another order than the list's",
    file: "core/compose.ts",
    from: "const inner = part.branches.map(",
    to: "const inner = part.branches.toReversed().map(",
  },
  {
    name: "a step is tried once more than it may",
    file: "core/compose.ts",
    from: "attempt < part.attemptsMax",
    to: "attempt <= part.attemptsMax",
  },
  {
    name: "a step is tried once less than it may",
    file: "core/compose.ts",
    from: "attempt < part.attemptsMax",
    to: "attempt + 1 < part.attemptsMax",
  },
  {
    name: "a branch that succeeded is done again with one that failed",
    file: "core/compose.ts",
    from: 'if (partOf(turn.run.composing, inner.id)?.is !== "failed") continue;',
    to: "if (partOf(turn.run.composing, inner.id) === undefined) continue;",
  },
  {
    name: "an answer is taken for that of another branch",
    file: "core/part-fold.ts",
    from: "export function partHeard(composing: Composing | undefined, id: string, message: Message): Composing {\n",
    to:
      "export function partHeard(composing: Composing | undefined, given: string, message: Message): Composing {\n" +
      '  const id = Object.entries(composing?.parts ?? {}).find(([, one]) => one.is === "running" && one.attempt > 0)?.[0] ?? given;\n',
  },
  {
    name: "another branch goes on with an answer",
    file: "core/part-turn.ts",
    from: "if (outcome.ok) settlePart(turn, part, outcome.value);",
    to:
      "if (outcome.ok) settlePart(turn, partSpec(turn.program, turn.run, Object.entries(turn.run.composing?.parts ?? {})" +
      '.find(([id, one]) => one.is === "running" && one.prompt === undefined && partSpec(turn.program, turn.run, id).kind === "tool")?.[0] ?? part.id), outcome.value);',
  },
  {
    name: "an agent goes on before all of its calls are answered",
    file: "core/part-turn.ts",
    from: '} else if (part.kind === "agent" && !hasOpenCalls(turn, part.id)) callsAnswered(turn, part);',
    to: '} else if (part.kind === "agent") callsAnswered(turn, part);',
  },
  {
    name: "an agent may call for ever",
    file: "core/part-turn.ts",
    from: "turn.askModel(round < roundsMax, part.id);",
    to: "turn.askModel(round < roundsMax + 99, part.id);",
  },
  {
    name: "a composition begins after the run's time",
    file: "core/compose.ts",
    from: "  if (turn.overTime()) return undefined;\n",
    to: "",
  },
  {
    name: "the output is that of the first step",
    file: "core/compose.ts",
    from: 'const id = composition.output ?? ran.at(-1)?.id ?? "";',
    to: 'const id = composition.output ?? ran.at(0)?.id ?? "";',
  },
  {
    name: "an approved call of a step is made outside of it",
    file: "core/decide.ts",
    from: "else askCall(turn, { id: call, tool, args }, { part });",
    to: "else askCall(turn, { id: call, tool, args }, { part: undefined });",
  },
];
