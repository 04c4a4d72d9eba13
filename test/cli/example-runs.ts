// The examples as they are documented: every script, the variables of its command, and what its first line
// says will happen.

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../examples/", import.meta.url));

export interface ExampleRun {
  /** `codegen/script.yaml` */
  readonly name: string;
  readonly pack: string;
  readonly script: string;
  readonly variables: Readonly<Record<string, string>>;
  readonly status: string;
  readonly path: string;
}

export function exampleRuns(): readonly ExampleRun[] {
  const readme = readFileSync(join(root, "README.md"), "utf8");
  const folders = readdirSync(root).filter((name) => existsSync(join(root, name, `${name}.pack.yaml`)));
  return folders.flatMap((name) => {
    const scripts = readdirSync(join(root, name)).filter((file) => file.startsWith("script"));
    return scripts.map((file) => exampleRun(name, join(root, name, file), readme));
  });
}

function exampleRun(example: string, script: string, readme: string): ExampleRun {
  const [first = ""] = readFileSync(script, "utf8").split("\n");
  const expected = /^# expect (\w+): (.+)$/.exec(first);
  if (expected === null) throw new Error(`${script} does not begin with what to expect`);
  return {
    name: `${example}/${basename(script)}`,
    pack: join(root, example, `${example}.pack.yaml`),
    script,
    variables: variablesIn(readme, example),
    status: expected[1] ?? "",
    path: expected[2] ?? "",
  };
}

/** From the command of the example's row. */
function variablesIn(readme: string, example: string): Readonly<Record<string, string>> {
  const command = new RegExp(`\`packloop run examples/${example}/[^\`]+\``).exec(readme)?.[0] ?? "";
  const pairs = command.matchAll(/--var (\w+)=(?:"([^"]*)"|(\S+?))(?=[\s`])/g);
  return Object.fromEntries([...pairs].map(([, name, quoted, bare]) => [name, quoted ?? bare]));
}

export const varFlags = (variables: Readonly<Record<string, string>>): readonly string[] =>
  Object.entries(variables).flatMap(([name, value]) => ["--var", `${name}=${value}`]);
