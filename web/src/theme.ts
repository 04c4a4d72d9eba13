// What a person chose for this browser: the theme, and whether single letters are commands.

import { useSyncExternalStore } from "react";

export type Theme = "system" | "light" | "dark";

export interface Choices {
  readonly theme: Theme;
  readonly letters: boolean;
  /** How people are named in the journal. */
  readonly by: string;
}

const KEY = "packloop";
const usual: Choices = { theme: "system", letters: true, by: "" };

function read(): Choices {
  try {
    const kept = JSON.parse(localStorage.getItem(KEY) ?? "{}") as Partial<Choices>;
    const theme = kept.theme === "light" || kept.theme === "dark" ? kept.theme : "system";
    return { theme, letters: kept.letters !== false, by: typeof kept.by === "string" ? kept.by : "" };
  } catch {
    // A browser that keeps nothing, or something that is not ours: the usual choices hold.
    return usual;
  }
}

let choices = usual;
const listeners = new Set<() => void>();

function show({ theme }: Choices): void {
  if (theme === "system") document.documentElement.removeAttribute("data-theme");
  else document.documentElement.dataset["theme"] = theme;
}

export function beginTheme(): void {
  choices = read();
  show(choices);
}

export function choose(changes: Partial<Choices>): void {
  choices = { ...choices, ...changes };
  show(choices);
  try {
    localStorage.setItem(KEY, JSON.stringify(choices));
  } catch {
    // Kept for this page only.
  }
  listeners.forEach((listener) => listener());
}

export const choicesNow = (): Choices => choices;

export const useChoices = (): Choices =>
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => choices,
  );
