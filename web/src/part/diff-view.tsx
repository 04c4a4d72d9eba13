// Lines that were added and removed. A sign says which; the colour repeats it.

import type { DiffLine, ValueDiff } from "../journal/journal-shapes.ts";
import { visible } from "./format.ts";

const SIGNS: Readonly<Record<DiffLine["kind"], string>> = { same: " ", added: "+", removed: "−" };

export function DiffView({ diff }: { readonly diff: ValueDiff }) {
  if (diff.why !== null) return <p className="faint">{diff.why}</p>;
  if (diff.added + diff.removed === 0) return <p className="faint">Nothing changed.</p>;
  return (
    <>
      <p className="small numbers">
        <span className="added-count">+{diff.added}</span>{" "}
        <span className="removed-count">−{diff.removed}</span>
      </p>
      <pre className="text diff" tabIndex={0} role="region" aria-label="Changes">
        {diff.lines.map((line, index) => (
          <span key={index} className={`diff-line ${line.kind}`}>
            <span className="sign">{SIGNS[line.kind]}</span>
            {visible(line.text)}
            {"\n"}
          </span>
        ))}
      </pre>
    </>
  );
}
