// Reaches a place in the workspace name by name, each below the folder opened before. Links are followed by
// hand, so a link that leads out, whoever put it there and when, is noticed and never followed.

import { errorCode, ToolProblem } from "../tool-problem.ts";
import { Folder } from "./folder.ts";
import { namesOf, refuseReserved } from "./workspace-path.ts";

const LINKS_MAX = 40;

/** An entry of the workspace: the open folder it is in, its name there, and the names that lead to it. */
export interface Place {
  readonly folder: Folder;
  readonly name: string;
  /** From the workspace down, links resolved. */
  readonly names: readonly string[];
}

interface ReachOptions {
  /** Folders on the way that are missing are made. */
  readonly make?: boolean;
}

/** Gives `use` the place of a file, which need not exist and is not a link. */
export async function atFile<T>(
  workspace: string,
  path: string,
  use: (place: Place) => Promise<T>,
  options: ReachOptions = {},
): Promise<T> {
  await using way = await Way.from(workspace, path, options);
  const name = await way.toEntry();
  if (name === undefined) throw new ToolProblem("not_a_file", `\`${path}\` is a folder`);
  return await use({ folder: way.folder, name, names: [...way.names, name] });
}

/** Gives `use` the folder itself. */
export async function atFolder<T>(
  workspace: string,
  path: string,
  use: (folder: Folder, names: readonly string[]) => Promise<T>,
): Promise<T> {
  await using way = await Way.from(workspace, path, {});
  await way.toFolder();
  return await use(way.folder, way.names);
}

class Way implements AsyncDisposable {
  /** Open folders from the workspace down; `names` has the names of all but the first. */
  readonly #folders: Folder[];
  readonly names: string[] = [];
  /** Names still to go, the next one last. */
  #ahead: string[];
  #links = 0;
  readonly #path: string;
  readonly #make: boolean;

  private constructor(root: Folder, path: string, make: boolean) {
    this.#folders = [root];
    this.#path = path;
    this.#make = make;
    this.#ahead = [...namesOf(path, root.path)].reverse();
  }

  static async from(workspace: string, path: string, { make }: ReachOptions): Promise<Way> {
    const root = await Folder.open(workspace);
    try {
      return new Way(root, path, make === true);
    } catch (error) {
      await root[Symbol.asyncDispose]();
      throw error;
    }
  }

  get folder(): Folder {
    return this.#folders.at(-1) as Folder;
  }

  /** Goes to the folder of the last name and returns that name; undefined when no name is left. */
  async toEntry(): Promise<string | undefined> {
    for (;;) {
      const name = this.#ahead.pop();
      if (name === undefined) return undefined;
      if (this.#ahead.length > 0 || name === "..") {
        await this.#down(name);
        continue;
      }
      refuseReserved([...this.names, name]);
      const entry = await this.folder.entry(name);
      if (entry === undefined || !entry.isSymbolicLink()) return name;
      await this.#follow(name);
    }
  }

  async toFolder(): Promise<void> {
    for (let name = this.#ahead.pop(); name !== undefined; name = this.#ahead.pop()) await this.#down(name);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const folder of this.#folders) await folder[Symbol.asyncDispose]();
  }

  async #down(name: string): Promise<void> {
    if (name === "..") return this.#up();
    refuseReserved([...this.names, name]);
    try {
      this.#folders.push(await this.folder.folder(name));
      this.names.push(name);
    } catch (error) {
      const code = errorCode(error);
      if (code === "ENOENT" && this.#make) return this.#madeFolder(name);
      if (code === "ENOENT") throw new ToolProblem("not_found", `\`${this.#path}\` does not exist`);
      if (code !== "ELOOP" && code !== "ENOTDIR") throw error;
      const entry = await this.folder.entry(name);
      if (entry?.isSymbolicLink() !== true)
        throw new ToolProblem("not_a_folder", `\`${[...this.names, name].join("/")}\` is not a folder`);
      await this.#follow(name);
    }
  }

  async #madeFolder(name: string): Promise<void> {
    await this.folder.makeFolder(name);
    await this.folder.sync();
    this.#folders.push(await this.folder.folder(name));
    this.names.push(name);
  }

  /** Only targets of links have `..`; the folders are real ones by now, so the parent is the one before. */
  async #up(): Promise<void> {
    if (this.names.length === 0) throw this.#leadsOut();
    this.names.pop();
    await (this.#folders.pop() as Folder)[Symbol.asyncDispose]();
  }

  async #follow(name: string): Promise<void> {
    if (++this.#links > LINKS_MAX)
      throw new ToolProblem("outside_workspace", `\`${this.#path}\` goes over too many links`);
    const target = await this.folder.link(name);
    let names = target.split("/").filter((part) => part !== "" && part !== ".");
    if (target.startsWith("/")) {
      const root = (this.#folders[0] as Folder).path;
      if (target !== root && !target.startsWith(`${root}/`)) throw this.#leadsOut();
      names = names.slice(root.split("/").filter((part) => part !== "").length);
      while (this.names.length > 0) await this.#up();
    }
    this.#ahead.push(...names.reverse());
  }

  #leadsOut(): ToolProblem {
    return new ToolProblem("outside_workspace", `\`${this.#path}\` leads out of the workspace over a link`);
  }
}
