// A URL with places for arguments, `https://api.example/items/{id}?lang={lang}`. Arguments fill parts of the
// path and the query; they never change the host, and never add or remove a step of the path.

import { get, type Json, type JsonObject } from "../../../base/json.ts";
import { ToolProblem } from "../tool-problem.ts";

export interface UrlTemplate {
  /** Where every request goes. */
  readonly origin: URL;
  /** Arguments the URL uses. */
  readonly names: ReadonlySet<string>;
  readonly fill: (args: JsonObject) => URL;
}

const HOLE = /\{([A-Za-z_][\w-]*)\}/g;

/** A text says what is wrong with the template. */
export function readUrlTemplate(text: string): UrlTemplate | string {
  const [scheme = "", rest = ""] = text.split("://", 2);
  if (/[{}]/.test(scheme) || /^[^/?#]*[{}]/.test(rest))
    return `\`${text}\` has a place for an argument before its path`;
  const names = new Set([...text.matchAll(HOLE)].map((match) => match[1] ?? ""));
  const sample = URL.parse(text.replaceAll(HOLE, "x"));
  if (sample === null) return `\`${text}\` is not a URL`;
  if (sample.protocol !== "http:" && sample.protocol !== "https:")
    return `\`${text}\` is not an http or https URL`;
  if (sample.username !== "" || sample.password !== "")
    return "the URL carries credentials (use `bearer_env`)";
  const steps = stepsOf(sample);
  const fill = (args: JsonObject): URL => {
    const url = new URL(text.replaceAll(HOLE, (_hole, name: string) => encoded(args, name)));
    // `..` is the one value that percent-encoding does not keep in its place.
    if (url.origin !== sample.origin || stepsOf(url) !== steps) {
      throw new ToolProblem(
        "bad_arguments",
        `\`${url.pathname}\` leaves the path of the tool (no \`.\` or \`..\`)`,
      );
    }
    return url;
  };
  return { origin: new URL(sample.origin), names, fill };
}

const stepsOf = (url: URL): number => url.pathname.split("/").length;

function encoded(args: JsonObject, name: string): string {
  const value = get(args, name);
  if (value === undefined || value === null) throw new ToolProblem("bad_arguments", `\`${name}\` is missing`);
  // An empty step of a path would be another resource than the one meant.
  const text = scalarText(value, name);
  if (text === "") throw new ToolProblem("bad_arguments", `\`${name}\` is empty`);
  return encodeURIComponent(text.toWellFormed());
}

/** The query of a request that has no body: one entry per value. */
export function addQuery(url: URL, args: JsonObject): void {
  for (const [name, value] of Object.entries(args)) {
    if (value === null) continue;
    for (const one of Array.isArray(value) ? (value as readonly Json[]) : [value])
      url.searchParams.append(name, scalarText(one, name));
  }
}

function scalarText(value: Json, name: string): string {
  if (typeof value === "string") return value;
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  throw new ToolProblem("bad_arguments", `\`${name}\` has to be a text, a number, true or false`);
}
