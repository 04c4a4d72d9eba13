// Templates (S38, S39): text with placeholders. Parsing never fails; what is no placeholder is text, and what
// looks like a mistaken one is kept apart so that a rule can speak about it.

export type Piece = TextPiece | Hole | Oddity;

export interface TextPiece {
  readonly kind: "text";
  readonly text: string;
}

/** A placeholder. `path` is never empty; its first part is a name. */
export interface Hole {
  readonly kind: "hole";
  readonly raw: string;
  readonly path: readonly (string | number)[];
  readonly start: number;
}

/** Sent as text, but probably meant otherwise. `name` is the name it seems to speak of. */
export interface Oddity {
  readonly kind: "odd";
  readonly reason: "unclosed" | "fragment-colon" | "block";
  readonly raw: string;
  readonly name: string;
  readonly start: number;
}

export interface Delimiters {
  readonly open: string;
  readonly close: string;
}

export const defaultDelimiters: Delimiters = { open: "{{", close: "}}" };

/** `template_engine.syntax` is a sample of a placeholder around the word `variable`. */
export function delimitersOf(syntax: string): Delimiters | undefined {
  const at = syntax.indexOf("variable");
  if (at < 1) return undefined;
  const open = syntax.slice(0, at).trim();
  const close = syntax.slice(at + "variable".length).trim();
  return open === "" || close === "" ? undefined : { open, close };
}

/** Longer ones are text. Looking no further keeps a line full of braces linear. */
const PLACEHOLDER_MAX = 1_000;
const PATH = /^[A-Za-z_][A-Za-z0-9_-]*(?:\.[A-Za-z0-9_-]+|\[\d{1,9}\])*$/;
const PART = /[A-Za-z0-9_-]+/g;

export function parseTemplate(
  template: string,
  { open, close }: Delimiters = defaultDelimiters,
): readonly Piece[] {
  const pieces: Piece[] = [];
  let textStart = 0;
  let at = template.indexOf(open);
  while (at !== -1) {
    const piece = placeholderAt(template, at, { open, close });
    if (piece !== undefined) {
      if (at > textStart) pieces.push({ kind: "text", text: template.slice(textStart, at) });
      pieces.push(piece);
      textStart = at + piece.raw.length;
      at = template.indexOf(open, textStart);
    } else {
      at = template.indexOf(open, at + 1);
    }
  }
  if (textStart < template.length) pieces.push({ kind: "text", text: template.slice(textStart) });
  return pieces;
}

function placeholderAt(
  template: string,
  start: number,
  { open, close }: Delimiters,
): Hole | Oddity | undefined {
  const ahead = template.slice(start, start + PLACEHOLDER_MAX);
  const lineEnd = ahead.indexOf("\n");
  const line = lineEnd === -1 ? ahead : ahead.slice(0, lineEnd);
  const closeAt = line.indexOf(close, open.length);
  const nextOpen = line.indexOf(open, open.length);
  if (closeAt === -1 || (nextOpen !== -1 && nextOpen < closeAt))
    return unclosed(line, start, { open, close });
  const raw = line.slice(0, closeAt + close.length);
  const inner = line.slice(open.length, closeAt).trim();
  if (PATH.test(inner)) return { kind: "hole", raw, path: splitPath(inner), start };
  const colon = /^fragment\s*:\s*([A-Za-z0-9_-]+)$/.exec(inner);
  if (colon !== null) return { kind: "odd", reason: "fragment-colon", raw, name: colon[1] as string, start };
  const block = /^[#/^>]\s*([A-Za-z_]*)/.exec(inner);
  if (block !== null) return { kind: "odd", reason: "block", raw, name: block[1] as string, start };
  return undefined;
}

/** Only `{{` is worth a warning: a lone `{` or `${` is ordinary in code and JSON samples. */
function unclosed(line: string, start: number, { open, close }: Delimiters): Oddity | undefined {
  if (open !== "{{" || close !== "}}") return undefined;
  const match = /^\{\{\s*([A-Za-z_][A-Za-z0-9_.-]*)\}?/.exec(line);
  return match === null
    ? undefined
    : { kind: "odd", reason: "unclosed", raw: match[0], name: match[1] as string, start };
}

function splitPath(path: string): (string | number)[] {
  const parts: (string | number)[] = [];
  for (const match of path.matchAll(PART)) {
    const bracketed = path[match.index - 1] === "[";
    parts.push(bracketed ? Number(match[0]) : match[0]);
  }
  return parts;
}

/** `x` of `{{fragments.x}}`. */
export function fragmentName(hole: Hole | Oddity): string | undefined {
  if (hole.kind !== "hole" || hole.path[0] !== "fragments") return undefined;
  const name = hole.path[1];
  return typeof name === "string" ? name : undefined;
}

/** `x` of `{{artifacts.x}}`, deeper paths included. */
export function artifactName(hole: Hole | Oddity): string | undefined {
  if (hole.kind !== "hole" || hole.path[0] !== "artifacts") return undefined;
  const name = hole.path[1];
  return typeof name === "string" ? name : undefined;
}

/** The variable a placeholder reads: none for the namespaces the runtime fills. */
export function variableName(hole: Hole | Oddity): string | undefined {
  if (hole.kind !== "hole") return undefined;
  const name = hole.path[0] as string;
  const supplied = hole.path.length > 1 ? ["fragments", "artifacts"] : ["workflow_context"];
  return supplied.includes(name) ? undefined : name;
}
