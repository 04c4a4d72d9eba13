// An open folder whose entries are reached through the open descriptor, so that nobody can swap a part of the
// path between the check and the use. Linux offers that to Node as `/proc/self/fd/N/name`. Elsewhere the path
// is compared with the descriptor right before each use, which leaves a moment for a racing process.

import { constants, type Dirent, type Stats } from "node:fs";
import {
  type FileHandle,
  lstat,
  mkdir,
  open,
  readdir,
  readlink,
  realpath,
  rename,
  unlink,
} from "node:fs/promises";
import { errorCode, ToolProblem } from "../tool-problem.ts";

const { O_DIRECTORY, O_NOFOLLOW, O_RDONLY, O_NONBLOCK, O_CREAT, O_EXCL, O_WRONLY } = constants;
const HAS_DESCRIPTOR_PATHS = process.platform === "linux";

export class Folder implements AsyncDisposable {
  readonly #handle: FileHandle;
  readonly #path: string;

  private constructor(handle: FileHandle, path: string) {
    this.#handle = handle;
    this.#path = path;
  }

  /** The folder at a path that is trusted, with the links in it followed. */
  static async open(path: string): Promise<Folder> {
    const real = await realpath(path);
    return new Folder(await open(real, O_RDONLY | O_DIRECTORY), real);
  }

  /** Where the folder was when it was opened. */
  get path(): string {
    return this.#path;
  }

  async folder(name: string): Promise<Folder> {
    const handle = await open(await this.#at(name), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK);
    return new Folder(handle, `${this.#path}/${name}`);
  }

  /** A regular file to read. Devices and pipes are never opened: opening alone can have effects. */
  async file(name: string): Promise<FileHandle> {
    const path = await this.#at(name);
    refuseUnlessFile(await lstat(path), name);
    const handle = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    try {
      refuseUnlessFile(await handle.stat(), name);
      return handle;
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  async newFile(name: string): Promise<FileHandle> {
    return open(await this.#at(name), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
  }

  /** What stands there, a link as a link; undefined when nothing does. */
  async entry(name: string): Promise<Stats | undefined> {
    try {
      return await lstat(await this.#at(name));
    } catch (error) {
      if (errorCode(error) === "ENOENT") return undefined;
      throw error;
    }
  }

  async link(name: string): Promise<string> {
    return readlink(await this.#at(name));
  }

  async entries(): Promise<readonly Dirent[]> {
    return readdir(await this.#at("."), { withFileTypes: true });
  }

  async makeFolder(name: string): Promise<void> {
    try {
      await mkdir(await this.#at(name));
    } catch (error) {
      if (errorCode(error) !== "EEXIST") throw error;
    }
  }

  async rename({ from, to }: { readonly from: string; readonly to: string }): Promise<void> {
    await rename(await this.#at(from), await this.#at(to));
  }

  async remove(name: string): Promise<void> {
    try {
      await unlink(await this.#at(name));
    } catch (error) {
      if (errorCode(error) !== "ENOENT") throw error;
    }
  }

  /** Makes the names in it durable. */
  async sync(): Promise<void> {
    await this.#handle.sync();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#handle.close();
  }

  async #at(name: string): Promise<string> {
    if (HAS_DESCRIPTOR_PATHS) return `/proc/self/fd/${this.#handle.fd}/${name}`;
    const [real, here, there] = await Promise.all([
      realpath(this.#path),
      this.#handle.stat(),
      lstat(this.#path),
    ]);
    if (real !== this.#path || here.ino !== there.ino || here.dev !== there.dev)
      throw new ToolProblem("changed", "a folder of the path was replaced meanwhile (try again)");
    return `${this.#path}/${name}`;
  }
}

function refuseUnlessFile(stats: Stats, name: string): void {
  if (stats.isFile()) return;
  if (stats.isDirectory()) throw new ToolProblem("not_a_file", `\`${name}\` is a folder`);
  const what = stats.isSymbolicLink() ? "a link" : "a device, pipe or socket";
  throw new ToolProblem("not_a_file", `\`${name}\` is ${what}`);
}
