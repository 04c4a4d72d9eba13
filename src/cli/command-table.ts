// Every command with its summary. A command's module is loaded only when it is called: start-up is part of
// the product (performance P7).

import type { Command } from "commander";

interface Entry {
  readonly summary: string;
  readonly load: () => Promise<Command>;
}

const commands: Readonly<Record<string, Entry>> = {
  init: {
    summary: "make a folder with a pack that runs at once, from a template",
    load: async () => (await import("./commands/init.ts")).initCommand(),
  },
  run: {
    summary: "run a pack's workflow as a durable loop",
    load: async () => (await import("./commands/run.ts")).runCommand(),
  },
  goal: {
    summary: "work towards a goal with tools: frame, plan, act, reflect",
    load: async () => (await import("./commands/goal.ts")).goalCommand(),
  },
  chat: {
    summary: "talk with a pack in the terminal",
    load: async () => (await import("./commands/chat.ts")).chatCommand(),
  },
  resume: {
    summary: "go on with a run after a crash, Ctrl-C or a wait",
    load: async () => (await import("./commands/resume.ts")).resumeCommand(),
  },
  send: {
    summary: "send an event to a run that waits",
    load: async () => (await import("./commands/send.ts")).sendCommand(),
  },
  say: {
    summary: "say something to a run that waits",
    load: async () => (await import("./commands/send.ts")).sayCommand(),
  },
  approve: {
    summary: "approve a gated call",
    load: async () => (await import("./commands/approve.ts")).approveCommand(),
  },
  reject: {
    summary: "reject a gated call",
    load: async () => (await import("./commands/approve.ts")).rejectCommand(),
  },
  answer: {
    summary: "answer an open step from outside",
    load: async () => (await import("./commands/approve.ts")).answerCommand(),
  },
  cancel: {
    summary: "cancel a run",
    load: async () => (await import("./commands/approve.ts")).cancelCommand(),
  },
  pause: {
    summary: "hold a run, so that nothing of it leaves",
    load: async () => (await import("./commands/pause.ts")).pauseCommand(),
  },
  unpause: {
    summary: "let a run go that is held",
    load: async () => (await import("./commands/pause.ts")).unpauseCommand(),
  },
  ls: {
    summary: "list runs",
    load: async () => (await import("./commands/show.ts")).lsCommand(),
  },
  show: {
    summary: "show a run as it is, or as it was",
    load: async () => (await import("./commands/show.ts")).showCommand(),
  },
  trace: {
    summary: "the way a run took, one row per transition",
    load: async () => (await import("./commands/show.ts")).traceCommand(),
  },
  step: {
    summary: "one ask of a run in full",
    load: async () => (await import("./commands/step.ts")).stepCommand(),
  },
  diff: {
    summary: "compare two runs or two turns",
    load: async () => (await import("./commands/diff.ts")).diffCommand(),
  },
  fork: {
    summary: "start a new run from a turn of another, with edits",
    load: async () => (await import("./commands/fork.ts")).forkCommand(),
  },
  inbox: {
    summary: "list what waits for a person",
    load: async () => (await import("./commands/inbox.ts")).inboxCommand(),
  },
  verify: {
    summary: "refold journals and compare with what is stored",
    load: async () => (await import("./commands/verify.ts")).verifyCommand(),
  },
  replay: {
    summary: "decide a run's turns again and compare",
    load: async () => (await import("./commands/replay.ts")).replayCommand(),
  },
  export: {
    summary: "write a run as one file",
    load: async () => (await import("./commands/export.ts")).exportCommand(),
  },
  import: {
    summary: "take a run from a file",
    load: async () => (await import("./commands/import.ts")).importCommand(),
  },
  rm: {
    summary: "remove runs",
    load: async () => (await import("./commands/rm.ts")).rmCommand(),
  },
  gc: {
    summary: "remove old finished runs and give space back",
    load: async () => (await import("./commands/rm.ts")).gcCommand(),
  },
  view: {
    summary: "open the debugger at a run",
    load: async () => (await import("./commands/view.ts")).viewCommand(),
  },
  serve: {
    summary: "serve runs over HTTP",
    load: async () => (await import("./commands/serve.ts")).serveCommand(),
  },
  mcp: {
    summary: "offer runs and agents as tools of an MCP server on standard streams",
    load: async () => (await import("./commands/mcp.ts")).mcpCommand(),
  },
  worker: {
    summary: "drive runs of a PostgreSQL store",
    load: async () => (await import("./commands/worker.ts")).workerCommand(),
  },
  token: {
    summary: "make, list and revoke tokens of a server",
    load: async () => (await import("./commands/token.ts")).tokenCommand(),
  },
  gateway: {
    summary: "run plugins on events over a durable queue",
    load: async () => (await import("./commands/gateway.ts")).gatewayCommand(),
  },
  check: {
    summary: "check packs like a compiler and prove how runs end",
    load: async () => (await import("./commands/check.ts")).checkCommand(),
  },
  test: {
    summary: "play a pack's tests and compare what comes out",
    load: async () => (await import("./commands/test.ts")).testCommand(),
  },
  explain: {
    summary: "explain a finding's code",
    load: async () => (await import("./commands/explain.ts")).explainCommand(),
  },
  graph: {
    summary: "draw a pack's states",
    load: async () => (await import("./commands/graph.ts")).graphCommand(),
  },
  render: {
    summary: "show the prompt a state would send",
    load: async () => (await import("./commands/render.ts")).renderCommand(),
  },
  doctor: {
    summary: "look whether packloop can work here, and say what to do where it cannot",
    load: async () => (await import("./commands/doctor.ts")).doctorCommand(),
  },
  config: {
    summary: "show the settings in force and where each comes from",
    load: async () => (await import("./commands/config.ts")).configCommand(),
  },
  schema: {
    summary: "print the JSON Schema of packs, for editors",
    load: async () => (await import("./commands/schema.ts")).schemaCommand(),
  },
  completion: {
    summary: "print a shell completion script",
    load: async () => (await import("./commands/completion.ts")).completionCommand(),
  },
  version: {
    summary: "print versions",
    load: async () => (await import("./commands/version.ts")).versionCommand(),
  },
};

export const commandSummaries: readonly (readonly [name: string, summary: string])[] = Object.entries(
  commands,
).map(([name, { summary }]) => [name, summary]);

export const commandNames: readonly string[] = Object.keys(commands);

export async function loadCommand(name: string): Promise<Command | undefined> {
  return Object.hasOwn(commands, name) ? (commands[name] as Entry).load() : undefined;
}
