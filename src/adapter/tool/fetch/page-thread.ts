// The thread that turns one page into Markdown: the article when there is one, else the whole body.

import { parentPort, workerData } from "node:worker_threads";
import { Readability } from "@mozilla/readability";
import { parseHTML } from "linkedom";
import Turndown from "turndown";
import { must } from "../../../base/assert.ts";
import type { Page, PageText } from "./page.ts";

/** What a page shows nobody, or shows only people who look at it. */
const UNREADABLE = "script, style, noscript, template, iframe, object, embed, svg, canvas, form, nav";

/** An article of fewer characters is a guess that missed. */
const ARTICLE_MIN = 200;

must(parentPort, "the page thread is started by the tool").postMessage(textOf(workerData as Page));

function textOf({ html, url }: Page): PageText {
  const { document } = parseHTML(whole(html));
  const title = (document.querySelector("title")?.textContent ?? "").replaceAll(/\s+/g, " ").trim();
  absoluteLinks(document, url);
  const article = new Readability(document.cloneNode(true) as never, { charThreshold: ARTICLE_MIN }).parse();
  const markdown = article?.content ? markdownOf(article.content) : "";
  return { title: title || (article?.title ?? ""), markdown: markdown || markdownOf(wholeBody(document)) };
}

/** The parser takes the first element for the root, and pages may leave the root out. */
function whole(html: string): string {
  if (/<html[\s>]/i.test(html)) return html;
  return /<body[\s>]/i.test(html) ? `<html>${html}</html>` : `<html><body>${html}</body></html>`;
}

interface Queried {
  querySelectorAll(selector: string): Iterable<{
    getAttribute(name: string): string | null;
    setAttribute(name: string, value: string): void;
    removeAttribute(name: string): void;
    remove(): void;
  }>;
  querySelector(selector: string): { readonly innerHTML: string } | null;
  readonly documentElement: { readonly innerHTML: string };
}

/** Links work where the page no longer is, and none runs a script or carries data. */
function absoluteLinks(document: Queried, base: string): void {
  for (const [selector, name] of [
    ["a[href]", "href"],
    ["img[src]", "src"],
  ] as const) {
    for (const element of document.querySelectorAll(selector)) {
      const url = URL.parse(element.getAttribute(name) ?? "", base);
      if (url?.protocol === "http:" || url?.protocol === "https:") element.setAttribute(name, url.href);
      else element.removeAttribute(name);
    }
  }
}

function wholeBody(document: Queried): string {
  for (const element of document.querySelectorAll(UNREADABLE)) element.remove();
  // Not `document.body`, which is empty when something stands before it.
  return (document.querySelector("body") ?? document.documentElement).innerHTML;
}

function markdownOf(html: string): string {
  const turndown = new Turndown({ headingStyle: "atx", codeBlockStyle: "fenced", bulletListMarker: "-" });
  turndown.remove(["script", "style", "noscript"]);
  const { document } = parseHTML(`<!doctype html><html><body>${html}</body></html>`);
  return turndown.turndown(document.body as never).trim();
}
