// A rendered prompt for people: the text with marks in it, or a table of where its values came from.

import type { RenderedPart, RenderedPrompt } from "../../core/render.ts";
import { clip, columns, oneLine } from "../../pack/graph/label-text.ts";

const VALUE_COLUMNS = 48;

/** Every value in brackets with its kind and name, and `⟦missing name⟧` where there is none. */
export function markedText({ parts }: RenderedPrompt): string {
  return parts
    .map(({ text, source: { kind, name } }) => {
      if (kind === "template") return text;
      if (kind === "missing") return `⟦missing ${name}⟧`;
      return `⟦${kind === "workflow_context" ? kind : `${kind} ${name}`}: ${text}⟧`;
    })
    .join("");
}

/** One line per value; empty when the prompt has no placeholder. */
export function sourceTable({ parts }: RenderedPrompt): string {
  const rows = new Map<string, { part: RenderedPart; uses: number }>();
  for (const part of parts) {
    if (part.source.kind === "template") continue;
    const key = `${part.source.kind} ${part.source.name}`;
    const row = rows.get(key);
    if (row === undefined) rows.set(key, { part, uses: 1 });
    else row.uses++;
  }
  const names = [...rows.values()].map(({ part }) => columns(oneLine(part.source.name)));
  const width = Math.max(0, ...names);
  return [...rows.values()].map(({ part, uses }) => `${rowOf(part, width)}${timesOf(part, uses)}\n`).join("");
}

function rowOf({ text, source: { kind, name } }: RenderedPart, width: number): string {
  const label = oneLine(name);
  const pad = " ".repeat(width - columns(label));
  const value =
    kind === "missing" ? "(empty)" : clip(oneLine(text.trim().replaceAll("\n", " ")), VALUE_COLUMNS);
  return `  ${kind.replace("_", " ").padEnd(16)}  ${label}${pad}  ${value}`.trimEnd();
}

/** A fragment with placeholders in it comes in several pieces of one use. */
const timesOf = ({ source }: RenderedPart, uses: number): string =>
  uses > 1 && source.kind !== "fragment" ? `  ×${uses}` : "";
