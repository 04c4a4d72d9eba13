// What page and worker say to each other.

import type { News, Questions } from "./journal-shapes.ts";

export type Call = {
  [Name in keyof Questions]: {
    readonly kind: "ask";
    readonly id: number;
    readonly name: Name;
    readonly args: Parameters<Questions[Name]>;
  };
}[keyof Questions];

/** `turn` is the one that is shown first; the last when there is none. */
export type ToWorker =
  | { readonly kind: "open"; readonly run: string; readonly turn: number | undefined }
  | Call;

export type FromWorker =
  | { readonly kind: "news"; readonly news: News }
  | { readonly kind: "answer"; readonly id: number; readonly value: unknown }
  | { readonly kind: "failed"; readonly id: number; readonly message: string };
