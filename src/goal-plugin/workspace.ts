// The files of a run. Hosts may have linked the same file into other folders, so nothing is ever changed in
// place: a new file is written beside the old one and takes its name. What fails here is told and fails no
// turn: the state is the authority, files are for people and tools.

import {
  closeSync,
  fsyncSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import { dirname, join, sep } from "node:path";
import { innerFile, isSystemError } from "../adapter/tool/fs/inner-file.ts";
import { makeFolder } from "../engine/make-folder.ts";
import { isInnerPath } from "../goal/tool-result.ts";

export interface WorkspaceOptions {
  readonly root: string;
  /** False once the host has given the job up: another process may be at work by now. */
  readonly mayWrite: () => boolean;
  readonly warn: (message: string) => void;
}

/** Of a file that is read into a prompt or an input. */
const READ_MAX = 4 * 1024 * 1024;

const SUFFIX_MAX = 50;

export class Workspace {
  readonly #options: WorkspaceOptions;
  #made = false;

  constructor(options: WorkspaceOptions) {
    this.#options = options;
  }

  /** Text of a file inside; undefined when it is not there, not inside, or too large. */
  read(path: string): string | undefined {
    const real = this.#inside(path);
    if (real === undefined || statSync(real).size > READ_MAX) return undefined;
    return this.#tried(`read ${path}`, () => readFileSync(real, "utf8"));
  }

  isFile(path: string): boolean {
    return this.#inside(path) !== undefined;
  }

  /** The whole file anew. */
  write(path: string, text: string): void {
    this.#tried(`write ${path}`, () => {
      const target = this.#place(path);
      if (target === undefined) return;
      const temporary = `${target}.${process.pid}.tmp`;
      writeNew(temporary, text);
      renameSync(temporary, target);
    });
  }

  /** Adds to a file by replacing it; of what is too much the beginning goes. */
  append(path: string, text: string, bytesMax: number): void {
    const before = this.read(path) ?? "";
    const all = before === "" || before.endsWith("\n") ? before + text : `${before}\n${text}`;
    const over = Buffer.byteLength(all) - bytesMax;
    this.write(path, over <= 0 ? all : all.slice(all.indexOf("\n", over) + 1));
  }

  /** A file that is never changed again; its name, which gets a suffix where it is taken. */
  create(path: string, text: string): string | undefined {
    return this.#tried(`write ${path}`, () => {
      const dot = path.lastIndexOf(".");
      for (let n = 1; n <= SUFFIX_MAX; n++) {
        const name = n === 1 ? path : `${path.slice(0, dot)}-${n}${path.slice(dot)}`;
        // The same job may have come this far before.
        if (this.read(name) === text) return name;
        const target = this.#place(name);
        if (target === undefined) return undefined;
        if (createdNew(target, text)) return name;
      }
      return undefined;
    });
  }

  /** Where to write, with its folder made; undefined when that would be outside. */
  #place(path: string): string | undefined {
    const { root, mayWrite, warn } = this.#options;
    if (!mayWrite()) return undefined;
    if (!this.#made) makeFolder(root);
    this.#made = true;
    const folder = dirname(join(root, path));
    makeFolder(folder);
    const [home, real] = [realpathSync(root), realpathSync(folder)];
    if (real === home || real.startsWith(home + sep)) return join(root, path);
    warn(`the folder of \`${path}\` leads out of the workspace`);
    return undefined;
  }

  #inside(path: string): string | undefined {
    return isInnerPath(path) ? innerFile(this.#options.root, path) : undefined;
  }

  #tried<T>(what: string, act: () => T): T | undefined {
    try {
      return act();
    } catch (error) {
      if (!isSystemError(error)) throw error;
      this.#options.warn(`cannot ${what} (${error.code})`);
      return undefined;
    }
  }
}

function writeNew(path: string, text: string): void {
  const file = openSync(path, "wx");
  try {
    const bytes = Buffer.from(text, "utf8");
    for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at);
    fsyncSync(file);
  } catch (error) {
    rmSync(path, { force: true });
    throw error;
  } finally {
    closeSync(file);
  }
}

function createdNew(path: string, text: string): boolean {
  try {
    writeNew(path, text);
    return true;
  } catch (error) {
    if (isSystemError(error) && error.code === "EEXIST") return false;
    throw error;
  }
}
