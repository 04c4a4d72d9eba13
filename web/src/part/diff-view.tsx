// What was added, removed and changed: lines of a text, or the places of a JSON value as a tree. A sign
// says which; the colour repeats it.

import type { ReactNode } from "react";
import type { DiffLine, TreeChange, ValueDiff } from "../journal/journal-shapes.ts";
import { count, visible } from "./format.ts";

const SIGNS: Readonly<Record<DiffLine["kind"], string>> = { same: " ", added: "+", removed: "−" };

interface DiffProps {
  readonly diff: ValueDiff;
  /** Unique where there are several. */
  readonly label?: string;
}

export function DiffView({ diff, label = "Changes" }: DiffProps) {
  if (diff.why !== null) return <p className="faint">{diff.why}</p>;
  if (diff.added + diff.removed === 0) return <p className="faint">Nothing changed.</p>;
  return (
    <>
      <p className="small numbers">
        {diff.isAppended && "Only added to: "}
        <span className="added-count">+{count(diff.added)}</span>{" "}
        <span className="removed-count">−{count(diff.removed)}</span>
      </p>
      {diff.tree === null ? (
        <Lines lines={diff.lines} label={label} />
      ) : (
        <Tree tree={diff.tree} label={label} />
      )}
    </>
  );
}

function Lines({ lines, label }: { readonly lines: readonly DiffLine[]; readonly label: string }) {
  return (
    <pre className="text diff" tabIndex={0} role="region" aria-label={label}>
      {lines.map((line, index) => (
        <span key={index} className={`diff-line ${line.kind}`}>
          <span className="sign">{SIGNS[line.kind]}</span>
          {visible(line.text)}
          {"\n"}
        </span>
      ))}
    </pre>
  );
}

function Tree({ tree, label }: { readonly tree: readonly TreeChange[]; readonly label: string }) {
  return (
    <div className="text diff" tabIndex={0} role="region" aria-label={label}>
      <Branch changes={tree} />
    </div>
  );
}

function Branch({ changes }: { readonly changes: readonly TreeChange[] }) {
  return (
    <ul className="diff-tree">
      {changes.map((change, index) => (
        <li key={index}>
          <Node change={change} />
        </li>
      ))}
    </ul>
  );
}

function Node({ change }: { readonly change: TreeChange }) {
  const name = change.key === "" ? null : <span className="diff-key">{visible(change.key)}: </span>;
  switch (change.kind) {
    case "inside":
      return (
        <>
          {name}
          <span className="faint">
            {change.isList ? "list" : "object"}
            {change.same > 0 && `, ${count(change.same)} as before`}
          </span>
          <Branch changes={change.children} />
        </>
      );
    case "moved":
      return <span className="faint">the same items in another order</span>;
    case "added":
      return <Side sign="added" name={name} text={change.after} />;
    case "removed":
      return <Side sign="removed" name={name} text={change.before} />;
    case "changed":
      return (
        <>
          <Side sign="removed" name={name} text={change.before} />
          <Side sign="added" name={name} text={change.after} />
        </>
      );
  }
}

interface SideProps {
  readonly sign: "added" | "removed";
  readonly name: ReactNode;
  readonly text: string;
}

function Side({ sign, name, text }: SideProps) {
  return (
    <span className={`diff-line ${sign}`}>
      <span className="sign">{SIGNS[sign]}</span>
      {name}
      {visible(text)}
    </span>
  );
}
