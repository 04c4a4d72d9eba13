// The words of a page that nothing cleverer could read: tags dropped in one pass over the text.

import type { PageText } from "./page.ts";

const HIDDEN = new Set(["script", "style", "noscript", "template", "title", "svg"]);
const ENTITIES: ReadonlyMap<string, string> = new Map([
  ["amp", "&"],
  ["lt", "<"],
  ["gt", ">"],
  ["quot", '"'],
  ["apos", "'"],
  ["nbsp", " "],
]);

export function plainText(html: string): PageText {
  const title = /<title[^>]{0,200}>([^<]{0,1000})/i.exec(html)?.[1] ?? "";
  return { title: tidy(title), markdown: tidy(words(html)) };
}

/** Each step moves past a tag, so the whole is linear whatever the text is. */
function words(html: string): string {
  const parts: string[] = [];
  let at = 0;
  while (at < html.length) {
    const tag = html.indexOf("<", at);
    parts.push(tag === -1 ? html.slice(at) : html.slice(at, tag));
    if (tag === -1) break;
    const end = html.indexOf(">", tag);
    const name = /^<([a-z][a-z0-9]*)/i.exec(html.slice(tag, tag + 20))?.[1]?.toLowerCase();
    const closing = name !== undefined && HIDDEN.has(name) ? closingTag(html, { name, from: tag }) : end;
    if (closing === -1) break;
    parts.push("\n");
    at = closing + 1;
  }
  return parts.join("");
}

function closingTag(html: string, { name, from }: { name: string; from: number }): number {
  const closing = new RegExp(`</${name}`, "gi");
  closing.lastIndex = from;
  const found = closing.exec(html);
  return found === null ? -1 : html.indexOf(">", found.index);
}

const tidy = (text: string): string =>
  text
    .replaceAll(/&(amp|lt|gt|quot|apos|nbsp);/g, (_all, name: string) => ENTITIES.get(name) ?? "")
    .split("\n")
    .map((line) => line.replaceAll(/[\t\r ]+/g, " ").trim())
    .filter((line) => line !== "")
    .join("\n");
