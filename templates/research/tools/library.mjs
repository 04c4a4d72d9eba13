// Three tools over the stored pages in library/: one JSON object comes in on stdin, one goes out on stdout. A claim is
// recorded only with the address, hash and time of a page, and only when its quote stands in that page word for word.

import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";

const library = new URL("../library/", import.meta.url);
const pages = JSON.parse(readFileSync(new URL("index.json", library), "utf8"));

const tools = { search_pages: search, read_page: read, record_claim: record };

const { tool, args } = JSON.parse(readFileSync(0, "utf8"));
process.stdout.write(`${JSON.stringify(tools[tool](args))}\n`);

function search({ query }) {
  const words = query.toLowerCase().match(/[\p{L}\d]{3,}/gu) ?? [];
  const scored = pages.map(({ url, title, file }) => {
    const text = textOf(file).toLowerCase();
    return { url, title, score: words.filter((word) => text.includes(word)).length };
  });
  const found = scored.filter(({ score }) => score > 0).sort((a, b) => b.score - a.score);
  return found.map(({ url, title }) => ({ url, title }));
}

function read({ url }) {
  const page = pages.find((one) => one.url === url);
  if (page === undefined) return failure("not_stored", `${url} is not in the library`);
  const text = textOf(page.file);
  return { url, title: page.title, fetched_at: page.fetched_at, sha256: hashOf(text), markdown: text };
}

/** A page that was fetched from the web is not in the library: its hash and time must then be given. */
function record({ text, quote, url, sha256, fetched_at }) {
  const page = pages.find((one) => one.url === url);
  if (page === undefined) {
    if (sha256 === undefined || fetched_at === undefined)
      return failure("not_stored", `${url} was never read`);
    return { text, quote, url, sha256, fetched_at, checked: false };
  }
  const stored = textOf(page.file);
  if (!plain(stored).includes(plain(quote)))
    return failure("not_found", `the quote does not stand in ${url}`);
  return { text, quote, url, sha256: hashOf(stored), fetched_at: page.fetched_at, checked: true };
}

function textOf(file) {
  return readFileSync(new URL(file, library), "utf8");
}

function hashOf(text) {
  return createHash("sha256").update(text).digest("hex");
}

function plain(text) {
  return text.replaceAll(/\s+/g, " ").trim();
}

function failure(code, message) {
  return { error: { code, message } };
}
