// A folder as a git repository with one commit. The identity is fixed and no settings of the person or the
// machine are read or changed, so it works anywhere and is the same everywhere.

import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";

const TIMEOUT_MS = 30_000;

/** What went wrong, in a line that says what to do; nothing is thrown, the rest of the template is of use. */
export function makeRepository(folder: string): string | undefined {
  if (existsSync(join(folder, ".git"))) return undefined;
  const steps = [
    ["init", "--quiet", "--template=", "--initial-branch=main"],
    ["add", "--all"],
    ["commit", "--quiet", "--no-verify", "--message=The project as it is"],
  ];
  for (const step of steps) {
    const problem = git(step, folder);
    if (problem !== undefined) return `\`${folder}\` is not a git repository yet: ${problem}`;
  }
  return undefined;
}

function git(args: readonly string[], cwd: string): string | undefined {
  const { error, status, stderr } = spawnSync("git", ["-c", "commit.gpgSign=false", ...args], {
    cwd,
    env: environment(),
    timeout: TIMEOUT_MS,
    encoding: "utf8",
  });
  if (error !== undefined && "code" in error && error.code === "ENOENT")
    return "git was not found (install it; the loop commits with it)";
  if (error !== undefined) return `git could not be run, ${error.message} (the loop commits with it)`;
  const said = stderr.trim().split("\n")[0] ?? "";
  return status === 0 ? undefined : `git said \`${said}\` (make one there, with a first commit)`;
}

/** Only these: variables like GIT_DIR would lead into another repository. */
const environment = (): Record<string, string> => ({
  PATH: process.env["PATH"] ?? "/usr/local/bin:/usr/bin:/bin",
  LC_ALL: "C",
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_TERMINAL_PROMPT: "0",
  GIT_AUTHOR_NAME: "packloop",
  GIT_AUTHOR_EMAIL: "packloop@localhost",
  GIT_COMMITTER_NAME: "packloop",
  GIT_COMMITTER_EMAIL: "packloop@localhost",
});
