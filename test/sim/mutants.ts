// Planted bugs: each a small change to one source file that the simulator must notice. They show that a quiet
// simulator means something.

export interface Mutant {
  readonly name: string;
  /** Under src/. */
  readonly file: string;
  /** Must occur exactly once. */
  readonly from: string;
  readonly to: string;
}

export const mutants: readonly Mutant[] = [
  {
    name: "a guard lets one visit too many pass",
    file: "core/flow.ts",
    from: "if ((visits[current] as number) < state.visitsMax) return current;",
    to: "if ((visits[current] as number) <= state.visitsMax) return current;",
  },
  {
    name: "a redirect is not followed",
    file: "core/flow.ts",
    from: "    current = state.fallback;\n",
    to: "    return current;\n",
  },
  {
    name: "a redirect's own limit is not checked",
    file: "core/flow.ts",
    from: "    if (hop === nextMark) {",
    to: "    if (hop === 1) return state.fallback;\n    if (hop === nextMark) {",
  },
  {
    name: "the visit budget is off by one",
    file: "core/turn.ts",
    from: "this.run.used.visits >= visits",
    to: "this.run.used.visits > visits",
  },
  {
    name: "the visit budget is dropped",
    file: "core/turn.ts",
    from: "if (visits !== null && this.run.used.visits >= visits)",
    to: "if (visits !== null && visits < 0)",
  },
  {
    name: "the budget of tool calls is dropped",
    file: "core/calls.ts",
    from: "if (toolCalls !== null && turn.run.used.toolCalls + promised + more > toolCalls) {",
    to: "if (toolCalls !== null && toolCalls < 0) {",
  },
  {
    name: "tool calls are not counted",
    file: "core/apply.ts",
    from: "toolCalls: draft.used.toolCalls + 1",
    to: "toolCalls: draft.used.toolCalls",
  },
  {
    name: "calls in one visit are not limited",
    file: "core/calls.ts",
    from: "else if (accepted.length >= room)",
    to: "else if (accepted.length >= room + 99)",
  },
  {
    name: "rounds never end",
    file: "core/visit.ts",
    from: "function nextRound(turn: Turn): void {\n  turn.askModel(turn.run.round < turn.prompt.roundsMax);",
    to: "function nextRound(turn: Turn): void {\n  turn.askModel(true);",
  },
  {
    name: "tokens are not reserved before a call",
    file: "core/grant.ts",
    from: 'const next = key === "modelCalls" ? 1 : calls * run.lastUsage[key];',
    to: 'const next = key === "modelCalls" ? 1 : 0;',
  },
  {
    name: "answers after the run's time are taken",
    file: "core/decide.ts",
    from: '    if (ask.kind === "reply" || ask.kind === "stop") return;\n    if (turn.overTime()) return;\n',
    to: '    if (ask.kind === "reply" || ask.kind === "stop") return;\n    if (ask.kind === "timer" && turn.overTime()) return;\n',
  },
  {
    name: "no timer is armed",
    file: "core/turn.ts",
    from: '    this.ask({ kind: "timer", due });\n',
    to: "",
  },
  {
    name: "the timer runs on while an active clock stands",
    file: "core/turn.ts",
    from: "    if (armed && !wanted) this.abandon(isWallTimer);\n",
    to: "",
  },
  {
    name: "waiting counts as active time",
    file: "core/apply.ts",
    from: "if (draft.started && draft.final === null && isAtWork(draft))",
    to: "if (draft.started && draft.final === null)",
  },
  {
    name: "a timer is taken before its time",
    file: "core/decide.ts",
    from: 'ask.kind === "timer" && input.at < ask.due',
    to: 'ask.kind === "timer" && input.at < 0',
  },
  {
    name: "an ask is left open when the run moves on",
    file: "core/visit.ts",
    from: 'turn.abandon(({ ask }) => ask.kind !== "timer" && ask.kind !== "reply" && ask.kind !== "stop");',
    to: 'turn.abandon(({ ask }) => ask.kind === "model");',
  },
  {
    name: "an answered ask stays open",
    file: "core/apply.ts",
    from: "draft.open = withKeyGone(draft.open, fact.step);",
    to: 'if (answered.ask.kind !== "tool") draft.open = withKeyGone(draft.open, fact.step);',
  },
  {
    name: "a transition is taken before the other calls are answered",
    file: "core/visit.ts",
    from: "  if (hasOpenCalls(turn)) return;\n",
    to: "  if (hasOpenCalls(turn) && turn.run.scheduled === null) return;\n",
  },
  {
    name: "the model is asked again before all calls are answered",
    file: "core/visit.ts",
    from: "  if (hasOpenCalls(turn)) return;\n",
    to: "",
  },
  {
    name: "a message is taken while results are due",
    file: "core/decide.ts",
    from: " || !listens || hasOpenCalls(probe)",
    to: " || !listens",
  },
  {
    name: "a stale answer is taken",
    file: "core/decide.ts",
    from: '    return ignored("the step is answered already");',
    to: '    return decided(program, run, input.at, (turn) => turn.record({ type: "noted", what: "message", text: "", by: "" }));',
  },
  {
    name: "an answer to a step that was never asked is ignored",
    file: "core/decide.ts",
    from: "function answer(program: Program, run: Run, input: AnswerInput): Decision {\n  const open = run.open[input.step];\n  if (open === undefined) {\n    if (run.final !== null)",
    to: "function answer(program: Program, run: Run, input: AnswerInput): Decision {\n  const open = run.open[input.step];\n  if (open === undefined) {\n    if (run.final !== null || input.step > run.step)",
  },
  {
    name: "an answer of another tool is taken",
    file: "core/decide.ts",
    from: "if (tool !== undefined && !(isCall(ask) && ask.tool === tool)) return false;",
    to: "",
  },
  {
    name: "an event's key is not remembered",
    file: "core/decide.ts",
    from: 'if (key !== undefined) turn.record({ type: "noted", what: "dedupe", key });',
    to: "",
  },
  {
    name: "an event's key is not looked up",
    file: "core/decide.ts",
    from: "key !== undefined && Object.hasOwn(run.dedupe, key);",
    to: "key === '' && run.final === null;",
  },
  {
    name: "an event moves an internal state at work",
    file: "core/decide.ts",
    from: 'if (!waits && !hybrid) return refused({ code: "not-waiting"',
    to: 'if (!waits && run.final !== null) return refused({ code: "not-waiting"',
  },
  {
    name: "an approval with another hash is taken",
    file: "core/decide.ts",
    from: "input.sha256 !== undefined && input.sha256 !== open.ask.sha256",
    to: 'input.sha256 === "?"',
  },
  {
    name: "an edited call runs without a second approval",
    file: "core/decide.ts",
    from: "    if (edited)\n",
    to: "    if (edited) askCall(turn, { id: call, tool, args: input.edit as Json });\n    else if (edited)\n",
  },
  {
    name: "gated tools run at once",
    file: "core/calls.ts",
    from: "if (isGated(turn.run.gated, tool)) {",
    to: "if (isGated(turn.run.gated, tool) && turn.run.round > 1) {",
  },
  {
    name: "a cancelled run leaves its agents running",
    file: "core/turn.ts",
    from: '      if (ask.kind === "agent") this.ask({ kind: "stop", child: step });\n      // The end',
    to: '      if (ask.kind === "approval") this.ask({ kind: "stop", child: step });\n      // The end',
  },
  {
    name: "a parent never hears of its agent's end",
    file: "core/turn.ts",
    from: "if (parent !== null) this.ask(",
    to: "if (parent !== null && status === 'completed') this.ask(",
  },
  {
    name: "a run finishes in its middle",
    file: "core/visit.ts",
    from: '  if (turn.isTerminal) return turn.finish("completed", null);\n  if (!mayTransition(turn))',
    to: '  if (turn.isTerminal || turn.run.nudges > 0) return turn.finish("completed", null);\n  if (!mayTransition(turn))',
  },
  {
    name: "a run waits for nothing",
    file: "core/visit.ts",
    from: 'return waiting ? undefined : turn.ask({ kind: "event", allow: turn.events });',
    to: "return undefined;",
  },
  {
    name: "the store takes any turn",
    file: "store/memory.ts",
    from: "if ((kept?.rows.length ?? 0) !== row.turn - 1) return false;",
    to: "",
  },
  {
    name: "the door trusts what it remembers",
    file: "engine/door.ts",
    from: '      if (decision.kind !== "facts" && this.#hot.delete(id)) continue;\n',
    to: "",
  },
  {
    name: "the door keeps what a rival has overtaken",
    file: "engine/door.ts",
    from: "      this.#hot.delete(id);\n      await this.#refuseTaken",
    to: "      await this.#refuseTaken",
  },
  {
    name: "the door remembers a turn that was not committed",
    file: "engine/door.ts",
    from: "      const began = performance.now();\n",
    to: "      const began = performance.now();\n      this.#keep(id, after);\n",
  },
  {
    name: "decisions depend on chance",
    file: "core/visit.ts",
    from: "if (scheduled !== null) return follow(turn, scheduled.event, scheduled.context);\n  return nextRound(turn);",
    to: "if (scheduled !== null) return follow(turn, scheduled.event, `${Math.random()}`);\n  return nextRound(turn);",
  },
  {
    name: "a fork keeps its parent",
    file: "core/apply.ts",
    from: "  draft.parent = null;\n",
    to: "",
  },
  {
    name: "a fork's clock is not shifted",
    file: "core/apply.ts",
    from: "draft.startedAt = fact.resetBudget ? now : draft.startedAt + shift",
    to: "draft.startedAt = fact.resetBudget ? now : draft.startedAt",
  },
  {
    name: "a fork's timer is not shifted",
    file: "core/apply.ts",
    from: "{ ...one.ask, due: one.ask.due + shift }",
    to: "one.ask",
  },
  {
    name: "a fork starts with a fresh budget unasked",
    file: "core/apply.ts",
    from: "if (fact.resetBudget) draft.used = noUsage;",
    to: "draft.used = noUsage;",
  },
  {
    name: "a fork writes into its origin",
    file: "store/memory.ts",
    from: "rows: origin.rows.slice(0, turn), digests",
    to: "rows: origin.rows, digests",
  },
];
