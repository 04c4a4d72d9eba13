// Every command with its summary. A command's module is loaded only when it is called: start-up is part of
// the product (performance P7).

import type { Command } from "commander";

interface Entry {
  readonly summary: string;
  readonly load: () => Promise<Command>;
}

const commands: Readonly<Record<string, Entry>> = {
  check: {
    summary: "check packs like a compiler and prove how runs end",
    load: async () => (await import("./commands/check.ts")).checkCommand(),
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
