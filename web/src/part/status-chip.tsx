// A run's status: a word and a mark, and a colour that repeats them.

import type { Status } from "../../../src/core/facts.ts";

const LOOKS: Readonly<
  Record<Status, { readonly mark: string; readonly word: string; readonly tone: string }>
> = {
  running: { mark: "▸", word: "running", tone: "run" },
  waiting: { mark: "◷", word: "waiting", tone: "wait" },
  completed: { mark: "✓", word: "completed", tone: "done" },
  budget_exhausted: { mark: "◒", word: "budget exhausted", tone: "spent" },
  failed: { mark: "✕", word: "failed", tone: "fail" },
  cancelled: { mark: "–", word: "cancelled", tone: "off" },
};

export function StatusChip({ status }: { readonly status: Status }) {
  const { mark, word, tone } = LOOKS[status];
  return (
    <span className={`chip ${tone}`}>
      <span aria-hidden="true" className="mark">
        {mark}
      </span>
      {word}
    </span>
  );
}
