// Changing files: write and edit. A change is logged, then made whole; a repeat of a call that had happened
// answers what the first one did and changes nothing (S46).

import type { Json } from "../../../base/json.ts";
import { ToolProblem } from "../tool-problem.ts";
import { type Change, contentHash, hasHappened } from "./change-log.ts";
import type { FsCall } from "./fs-call.ts";
import { inWorkspaceTurn } from "./in-turn.ts";
import { atFile, type Place } from "./reach.ts";
import { replaceFile } from "./replace-file.ts";
import { refuseBinary } from "./text-lines.ts";

const FILE_MAX = 10 * 1024 * 1024;

export async function write(call: FsCall): Promise<Json> {
  const path = call.args.neededText("path");
  const content = call.args.needed("content");
  // A model that was asked for JSON gives the value at times, and means its text.
  const bytes = Buffer.from(typeof content === "string" ? content : `${JSON.stringify(content, null, 2)}\n`);
  if (bytes.length > FILE_MAX) throw tooLarge(bytes.length);
  return changed(call, { path, make: true, repeats: true }, (before) => ({
    bytes,
    result: { bytes: bytes.length, created: before === undefined },
  }));
}

export async function edit(call: FsCall): Promise<Json> {
  const { args } = call;
  const path = args.neededText("path");
  const wanted = args.neededText("old");
  const replacement = args.neededText("new");
  const all = args.flag("all") === true;
  if (wanted === "") throw new ToolProblem("bad_arguments", "`old` is empty (give the text to replace)");
  return changed(call, { path, make: false, repeats: false }, (before) => {
    if (before === undefined) throw new ToolProblem("not_found", `\`${path}\` does not exist`);
    const text = textOf(before);
    const { old, fresh } = fitLineEnds(text, wanted, replacement);
    const pieces = text.split(old);
    const count = pieces.length - 1;
    if (count === 0)
      throw new ToolProblem("no_match", `the text to replace is not in \`${path}\` (read the file again)`);
    if (count > 1 && !all)
      throw new ToolProblem(
        "not_unique",
        `the text to replace is in \`${path}\` ${count} times (give more of the text around it, or \`all\`)`,
      );
    const bytes = Buffer.from(pieces.join(fresh));
    if (bytes.length > FILE_MAX) throw tooLarge(bytes.length);
    return { bytes, result: { replaced: count, bytes: bytes.length } };
  });
}

interface Target {
  readonly path: string;
  readonly make: boolean;
  /** Making the change again over what others did since is what the call means. */
  readonly repeats: boolean;
}

interface NewContent {
  readonly bytes: Buffer;
  readonly result: Record<string, Json>;
}

async function changed(
  { workspace, context, limits, changes }: FsCall,
  { path, make, repeats }: Target,
  contentFrom: (before: Buffer | undefined) => NewContent,
): Promise<Json> {
  const change = async (place: Place): Promise<Json> => {
    context.signal.throwIfAborted();
    const { before, mode } = await present(place);
    const now = before === undefined ? null : contentHash(before);
    const log = await changes.read();
    const mine = log.find(({ key }) => key === context.key);
    if (mine !== undefined && hasHappened(log, mine, now)) return mine.result;
    if (mine !== undefined && !repeats && now !== mine.before)
      throw new ToolProblem("changed", `\`${path}\` was changed by others meanwhile (read it again)`);
    const { bytes, result } = contentFrom(before);
    const grown = (log.at(-1)?.grown ?? 0) + bytes.length - (before?.length ?? 0);
    if (grown > limits.quotaBytes && bytes.length > (before?.length ?? 0))
      throw new ToolProblem("quota", `the run may add at most ${limits.quotaBytes} bytes to its workspace`);
    const next: Change = {
      key: context.key,
      path: place.names.join("/"),
      before: now,
      after: contentHash(bytes),
      grown,
      result: { path: place.names.join("/"), ...result, sha256: contentHash(bytes) },
    };
    if (next.before === next.after) return next.result;
    await changes.add(next);
    await replaceFile(place, { bytes, key: context.key, mode });
    return next.result;
  };
  return inWorkspaceTurn(workspace, () => atFile(workspace, path, change, { make }));
}

async function present({ folder, name }: Place): Promise<{ before?: Buffer; mode?: number }> {
  if ((await folder.entry(name)) === undefined) return {};
  const file = await folder.file(name);
  try {
    const { size, mode } = await file.stat();
    if (size > FILE_MAX) throw tooLarge(size);
    return { before: await file.readFile(), mode };
  } finally {
    await file.close();
  }
}

function textOf(bytes: Buffer): string {
  refuseBinary(bytes);
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new ToolProblem("not_text", "the file is not UTF-8 text", { cause: error });
  }
}

/** Models write `\n`; a file with other line ends keeps them. */
function fitLineEnds(
  text: string,
  old: string,
  fresh: string,
): { readonly old: string; readonly fresh: string } {
  if (text.includes(old) || !text.includes("\r\n")) return { old, fresh };
  const withReturns = (part: string) => part.replaceAll(/\r?\n/g, "\r\n");
  return { old: withReturns(old), fresh: withReturns(fresh) };
}

const tooLarge = (bytes: number): ToolProblem =>
  new ToolProblem("too_large", `${bytes} bytes are more than a file may have here (at most ${FILE_MAX})`);
