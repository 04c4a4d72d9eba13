// The workspace as a git repository. Whatever ran in the workspace may have written into `.git`, so its local
// configuration is not trusted: no hook, filter, pager, editor or helper named there is ever started, no
// other repository is reached over it, and git never goes to the network.

import { lstat, readFile, realpath, stat, unlink } from "node:fs/promises";
import { join, resolve } from "node:path";
import { Fault } from "../../../engine/ports.ts";
import { type ProcessEnd, runProcess } from "../proc/run-process.ts";
import { errorCode, ToolProblem } from "../tool-problem.ts";

export interface Identity {
  readonly name: string;
  readonly email: string;
}

export interface RepositoryPlace {
  readonly workspace: string;
  readonly identity: Identity;
  readonly env: (name: string) => string | undefined;
  readonly now: number;
  readonly signal: AbortSignal;
}

const TIMEOUT_MS = 120_000;
const OUTPUT_BYTES = 8 * 1024 * 1024;
/** A lock this old is of a git that was killed: ours take seconds. */
const STALE_LOCK_MS = 600_000;

/** Settings that win over those of the repository. */
const SETTINGS: readonly (readonly [string, string])[] = [
  ["core.hooksPath", "/dev/null"],
  ["core.fsmonitor", "false"],
  ["core.pager", "cat"],
  ["core.editor", "true"],
  ["core.askPass", "true"],
  ["core.sshCommand", "false"],
  ["core.quotePath", "false"],
  ["credential.helper", ""],
  ["commit.gpgSign", "false"],
  ["log.showSignature", "false"],
  ["diff.ignoreSubmodules", "all"],
  ["diff.noprefix", "false"],
  ["diff.mnemonicPrefix", "false"],
  ["status.submoduleSummary", "false"],
  ["submodule.recurse", "false"],
  ["protocol.allow", "never"],
  ["gc.auto", "0"],
  ["maintenance.auto", "false"],
  ["color.ui", "false"],
];

/** Settings that name programs and cannot be switched off one by one. */
const STARTS_PROGRAM =
  /^(filter\..*\.(clean|smudge|process)|diff\..*\.(command|textconv)|merge\..*\.driver)$/;

export class Repository {
  readonly #place: RepositoryPlace;
  readonly #gitDir: string;

  private constructor(place: RepositoryPlace, gitDir: string) {
    this.#place = place;
    this.#gitDir = gitDir;
  }

  /** Undefined when the workspace is none. */
  static async open(place: RepositoryPlace): Promise<Repository | undefined> {
    const repository = await Repository.look(place);
    if (repository !== undefined) await repository.#removeStaleLock();
    return repository;
  }

  /** The same for who changes nothing in it. */
  static async look(place: RepositoryPlace): Promise<Repository | undefined> {
    const gitDir = await gitDirOf(place.workspace);
    if (gitDir === undefined) return undefined;
    const repository = new Repository(place, gitDir);
    await repository.#refuseUnsafeSettings();
    return repository;
  }

  static async make(place: RepositoryPlace): Promise<Repository> {
    const argv = ["git", ...options(), "init", "-q", "--template=", "-b", "main", place.workspace];
    refuseFailure(await run(argv, place, {}));
    return new Repository(place, join(place.workspace, ".git"));
  }

  /** The output of a command that has to succeed. */
  async say(...args: readonly string[]): Promise<string> {
    return refuseFailure(await this.run(...args)).stdout;
  }

  async run(...args: readonly string[]): Promise<ProcessEnd> {
    const env = { GIT_DIR: this.#gitDir, GIT_WORK_TREE: this.#place.workspace };
    return run(["git", ...options(), ...args], this.#place, env);
  }

  /** Undefined where there is no commit of that name. */
  async commitOf(revision: string): Promise<string | undefined> {
    if (!/^[A-Za-z0-9_@][\w./@{}^~-]{0,200}$/.test(revision) || revision.includes(".."))
      throw new ToolProblem("bad_arguments", `\`${revision.slice(0, 200)}\` is not the name of a commit`);
    const end = await this.run(
      "rev-parse",
      "--verify",
      "--quiet",
      "--end-of-options",
      `${revision}^{commit}`,
    );
    return end.exitCode === 0 ? end.stdout.trim() : undefined;
  }

  async #refuseUnsafeSettings(): Promise<void> {
    const fields = (await this.say("config", "--list", "--show-scope", "--name-only", "-z")).split("\0");
    for (let at = 0; at + 1 < fields.length; at += 2) {
      const [scope, name] = [fields[at], fields[at + 1] as string];
      if ((scope === "local" || scope === "worktree") && STARTS_PROGRAM.test(name))
        throw unsafe(`its setting \`${name}\` starts a program`);
    }
  }

  async #removeStaleLock(): Promise<void> {
    const lock = join(this.#gitDir, "index.lock");
    try {
      const { mtimeMs } = await stat(lock);
      if (Date.now() - mtimeMs > STALE_LOCK_MS) await unlink(lock);
    } catch (error) {
      if (errorCode(error) !== "ENOENT") throw error;
    }
  }
}

/** A folder, or the file of a worktree whose repository knows that this is its worktree. */
async function gitDirOf(workspace: string): Promise<string | undefined> {
  const path = join(workspace, ".git");
  try {
    const entry = await lstat(path);
    if (entry.isDirectory()) {
      if (await exists(join(path, "commondir"))) throw unsafe("it is a part of another one");
      return path;
    }
    if (!entry.isFile() || entry.size > 4096) throw unsafe("its `.git` is a link");
    const target = /^gitdir: (.+)$/m.exec(await readFile(path, "utf8"))?.[1];
    if (target === undefined) throw unsafe("its `.git` is not readable");
    const gitDir = await realpath(resolve(workspace, target));
    const back = resolve(gitDir, (await readFile(join(gitDir, "gitdir"), "utf8")).trim());
    if ((await realpath(back)) !== (await realpath(path))) throw unsafe("its `.git` names another one");
    return gitDir;
  } catch (error) {
    if (errorCode(error) !== "ENOENT") throw error;
    if (await exists(path)) throw unsafe("its `.git` names one that does not know it");
    return undefined;
  }
}

async function exists(path: string): Promise<boolean> {
  try {
    await lstat(path);
    return true;
  } catch (error) {
    if (errorCode(error) === "ENOENT") return false;
    throw error;
  }
}

const options = (): readonly string[] => [
  "--no-pager",
  ...SETTINGS.flatMap(([name, value]) => ["-c", `${name}=${value}`]),
];

async function run(
  argv: readonly string[],
  { workspace, identity, env, now, signal }: RepositoryPlace,
  repository: Readonly<Record<string, string>>,
): Promise<ProcessEnd> {
  const date = `@${Math.floor(now / 1000)} +0000`;
  const end = await runProcess({
    argv,
    cwd: workspace,
    env: {
      PATH: env("PATH") ?? "/usr/local/bin:/usr/bin:/bin",
      // The person's own settings are trusted: line ends, files that are never committed.
      ...(env("HOME") !== undefined && { HOME: env("HOME") as string }),
      ...repository,
      LC_ALL: "C",
      GIT_TERMINAL_PROMPT: "0",
      GIT_OPTIONAL_LOCKS: "0",
      GIT_NO_LAZY_FETCH: "1",
      GIT_ALLOW_PROTOCOL: "none",
      GIT_AUTHOR_NAME: identity.name,
      GIT_AUTHOR_EMAIL: identity.email,
      GIT_AUTHOR_DATE: date,
      GIT_COMMITTER_NAME: identity.name,
      GIT_COMMITTER_EMAIL: identity.email,
      GIT_COMMITTER_DATE: date,
    },
    timeoutMs: TIMEOUT_MS,
    outputBytes: OUTPUT_BYTES,
    signal,
  });
  if (end.timedOut) throw new ToolProblem("too_slow", `git took more than ${TIMEOUT_MS / 1000} seconds`);
  return end;
}

function refuseFailure(end: ProcessEnd): ProcessEnd {
  if (end.exitCode === 0) return end;
  if (/index\.lock': File exists/.test(end.stderr))
    throw new Fault("locked", "another git works in the workspace", { retry: "later" });
  const said = end.stderr.trim().slice(0, 500) || `it ended with ${end.exitCode ?? end.killedBy}`;
  throw new ToolProblem("git_failed", `git failed: ${said}`);
}

const unsafe = (why: string): ToolProblem =>
  new ToolProblem("unsafe_repository", `the repository of the workspace is not used: ${why}`);
