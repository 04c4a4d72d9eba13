// Keys as commands. Single letters mean nothing while somebody writes, and can be switched off.

import { useEffect, useRef } from "react";
import { choicesNow } from "../theme.ts";

/** A key, or two after each other with a blank between. */
export type KeyTable = Readonly<Record<string, (() => void) | undefined>>;

/** Within this time two keys belong together. */
const TOGETHER_MS = 900;

export function useKeys(table: KeyTable): void {
  const current = useRef(table);
  current.current = table;
  useEffect(() => {
    let before: { readonly key: string; readonly at: number } | undefined;
    const press = (event: KeyboardEvent): void => {
      if (event.defaultPrevented || event.metaKey || event.ctrlKey || event.altKey) return;
      if (isWriting(event.target)) return;
      if (event.key.length === 1 && !choicesNow().letters) return;
      if (document.querySelector("dialog[open]") !== null) return;
      const pair =
        before !== undefined && event.timeStamp - before.at < TOGETHER_MS ? `${before.key} ${event.key}` : "";
      before = { key: event.key, at: event.timeStamp };
      const act = current.current[pair] ?? current.current[event.key];
      if (act === undefined) return;
      event.preventDefault();
      act();
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, []);
}

function isWriting(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  return target.isContentEditable || ["INPUT", "TEXTAREA", "SELECT"].includes(target.tagName);
}
