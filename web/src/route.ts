// The address is the state: what is shown follows from it alone, so a link restores the view. In an exported
// file the part behind `#` takes the place of the path.

import { useSyncExternalStore } from "react";

export type Screen =
  | { readonly name: "runs" }
  | { readonly name: "run"; readonly run: string }
  | { readonly name: "inbox" }
  | { readonly name: "compare"; readonly a: string; readonly b: string }
  | { readonly name: "pack"; readonly digest: string }
  | { readonly name: "settings" }
  | { readonly name: "nowhere"; readonly path: string };

export interface Place {
  readonly path: string;
  readonly query: URLSearchParams;
}

const isFile = (): boolean => location.protocol === "file:";

/** Of the address as the browser has it: path and query. */
const hrefThere = (): string =>
  isFile() ? location.hash.slice(1) || "/" : `${location.pathname}${location.search}`;

/** Where we are. The browser hears of quick changes a little later: it takes only so many. */
let here: string | undefined;
let telling: ReturnType<typeof setTimeout> | undefined;
const TELL_MS = 120;
let toldAt = Number.NEGATIVE_INFINITY;

const hrefNow = (): string => (here ??= hrefThere());

function tellBrowser(): void {
  clearTimeout(telling);
  telling = undefined;
  if (here === undefined || here === hrefThere()) return;
  history.replaceState(null, "", targetOf(here));
  toldAt = performance.now();
}

const targetOf = (href: string): string => (isFile() ? `#${href}` : href);

function placeIn(href: string): Place {
  const [path = "/", query = ""] = href.split("?", 2);
  return { path, query: new URLSearchParams(query) };
}

export function screenOf({ path }: Place): Screen {
  const [first = "", second, third, ...more] = path.split("/").slice(1).map(decoded);
  if (more.length > 0) return { name: "nowhere", path };
  if (first === "" && second === undefined) return { name: "runs" };
  if (first === "inbox" && second === undefined) return { name: "inbox" };
  if (first === "settings" && second === undefined) return { name: "settings" };
  if (first === "r" && second !== undefined && third === undefined) return { name: "run", run: second };
  if (first === "p" && second !== undefined && third === undefined) return { name: "pack", digest: second };
  if (first === "compare" && second !== undefined && third !== undefined)
    return { name: "compare", a: second, b: third };
  return { name: "nowhere", path };
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch (error) {
    if (error instanceof URIError) return part;
    throw error;
  }
}

export const runHref = (run: string, query: Readonly<Record<string, string | number>> = {}): string =>
  withQuery(`/r/${encodeURIComponent(run)}`, query);

export const packHref = (digest: string): string => `/p/${encodeURIComponent(digest)}`;

export const compareHref = (a: string, b: string): string =>
  `/compare/${encodeURIComponent(a)}/${encodeURIComponent(b)}`;

function withQuery(path: string, query: Readonly<Record<string, string | number>>): string {
  const text = new URLSearchParams(Object.entries(query).map(([key, value]) => [key, String(value)]));
  return text.size === 0 ? path : `${path}?${text.toString()}`;
}

const listeners = new Set<() => void>();
const tell = (): void => listeners.forEach((listener) => listener());

/** The browser went somewhere by itself: back, forward, or to what somebody typed. */
function moved(): void {
  clearTimeout(telling);
  telling = undefined;
  here = undefined;
  tell();
}

function subscribe(listener: () => void): () => void {
  if (listeners.size === 0) {
    addEventListener("popstate", moved);
    addEventListener("hashchange", moved);
  }
  listeners.add(listener);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    removeEventListener("popstate", moved);
    removeEventListener("hashchange", moved);
  };
}

let last: { href: string; place: Place } | undefined;

function placeNow(): Place {
  const href = hrefNow();
  if (last?.href !== href) last = { href, place: placeIn(href) };
  return last.place;
}

export const usePlace = (): Place => useSyncExternalStore(subscribe, placeNow);

export function go(href: string, { replace = false }: { readonly replace?: boolean } = {}): void {
  if (href === hrefNow()) return;
  if (replace) {
    here = href;
    if (performance.now() - toldAt > TELL_MS) tellBrowser();
    else telling ??= setTimeout(tellBrowser, TELL_MS);
  } else {
    tellBrowser();
    here = href;
    history.pushState(null, "", targetOf(href));
  }
  tell();
}

/** The same screen with other parameters; undefined takes one away. */
export function goWith(
  changes: Readonly<Record<string, string | number | undefined>>,
  options: { readonly replace?: boolean } = {},
): void {
  const { path, query } = placeNow();
  const next = new URLSearchParams(query);
  for (const [key, value] of Object.entries(changes)) {
    if (value === undefined || value === "") next.delete(key);
    else next.set(key, String(value));
  }
  go(next.size === 0 ? path : `${path}?${next.toString()}`, options);
}

/** What to paste elsewhere to see the same. */
export function linkNow(): string {
  tellBrowser();
  return location.href;
}
