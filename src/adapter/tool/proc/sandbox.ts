// Runs a command where it can change nothing but the workspace and reach nobody: bubblewrap without network,
// with a read-only root and a private temporary folder.

import { execFile } from "node:child_process";
import { stat } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { errorCode, ToolProblem } from "../tool-problem.ts";

export type SandboxMode = "bubblewrap" | "none" | "auto";

/** What stands in front of a command; nothing without a sandbox. */
export type Wrapper = readonly string[];

export interface SandboxPlace {
  readonly workspace: string;
  /** The folder of the configuration, whose store is not for the command. */
  readonly folder: string;
  readonly path: string;
  readonly network: boolean;
  readonly cpuSec: number;
}

/** Inside, the temporary folder and the home folder. */
export const SANDBOX_HOME = "/tmp";

const execute = promisify(execFile);

/** Undefined: the command runs without a sandbox, because the configuration says so. */
export async function sandboxWrapper(mode: SandboxMode, place: SandboxPlace): Promise<Wrapper | undefined> {
  if (mode === "none") return undefined;
  const wrapper = await bubblewrap(place);
  const problem = await trialProblem(wrapper, place);
  if (problem === undefined) return wrapper;
  if (mode === "auto") return undefined;
  throw new ToolProblem(
    "no_sandbox",
    `${problem} (install bubblewrap, or write \`sandbox: none\` in the tool's binding to run without)`,
  );
}

/** Tried on the spot: a bubblewrap that is there may still be forbidden to work, as in many containers. */
async function trialProblem(wrapper: Wrapper, { path }: SandboxPlace): Promise<string | undefined> {
  const [file = "", ...args] = wrapper;
  try {
    await execute(file, [...args, "true"], { timeout: 10_000, env: { PATH: path } });
    return undefined;
  } catch (error) {
    if (errorCode(error) === "ENOENT") return "there is no sandbox on this machine";
    return "the sandbox does not work on this machine";
  }
}

/** Where programs keep what opens other doors. */
const SECRETS = [
  ".ssh",
  ".gnupg",
  ".aws",
  ".azure",
  ".kube",
  ".docker",
  ".config/gcloud",
  ".config/gh",
  ".netrc",
  ".npmrc",
  ".pypirc",
  ".git-credentials",
  ".local/share/keyrings",
];

async function bubblewrap({ workspace, folder, network, cpuSec }: SandboxPlace): Promise<Wrapper> {
  const hidden = [
    ...SECRETS.map((name) => join(homedir(), name)),
    join(folder, ".packloop"),
    join(workspace, ".packloop"),
  ];
  const guarded = [".git/config", ".git/hooks"].map((name) => join(workspace, name));
  return [
    "bwrap",
    "--die-with-parent",
    "--new-session",
    "--unshare-all",
    ...(network ? ["--share-net"] : []),
    ...["--cap-drop", "ALL"],
    ...["--ro-bind", "/", "/"],
    ...["--dev", "/dev"],
    ...["--proc", "/proc"],
    // Sockets of services lie here; a read-only folder does not stop anybody from connecting.
    ...["--tmpfs", "/run"],
    ...["--tmpfs", "/tmp"],
    ...["--tmpfs", "/var/tmp"],
    ...["--bind", workspace, workspace],
    ...(await Promise.all([...new Set(hidden)].map(hiding))).flat(),
    ...guarded.flatMap((path) => ["--ro-bind-try", path, path]),
    ...["--chdir", workspace],
    "--",
    ...(await resourceLimits(cpuSec)),
  ];
}

/** An empty folder or file in its place. */
async function hiding(path: string): Promise<readonly string[]> {
  try {
    return (await stat(path)).isDirectory() ? ["--tmpfs", path] : ["--ro-bind", "/dev/null", path];
  } catch (error) {
    if (["ENOENT", "ENOTDIR", "EACCES"].includes(errorCode(error) ?? "")) return [];
    throw error;
  }
}

const FILE_BYTES_MAX = 1024 * 1024 * 1024;

async function resourceLimits(cpuSec: number): Promise<readonly string[]> {
  const program = "/usr/bin/prlimit";
  try {
    await stat(program);
  } catch (error) {
    if (errorCode(error) === "ENOENT") return [];
    throw error;
  }
  return [program, "--core=0", `--fsize=${FILE_BYTES_MAX}`, `--cpu=${cpuSec}`, "--"];
}
