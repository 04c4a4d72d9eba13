// The text of a pack with what the checker says on the line it says it of.

import { visible } from "../part/format.ts";
import { type Finding, notesOf } from "./finding.ts";

interface SourceProps {
  readonly source: string;
  readonly findings: readonly Finding[];
  /** Findings whose run can be shown on the graph, the one that is, and how to choose another. */
  readonly drawable: ReadonlySet<Finding>;
  readonly drawn: Finding | undefined;
  readonly draw: (finding: Finding) => void;
}

/** More lines are not put into a page. */
const LINES_MAX = 20_000;

export function PackSource({ source, findings, drawable, drawn, draw }: SourceProps) {
  const lines = source.split("\n");
  const byLine = new Map<number, Finding[]>();
  for (const finding of findings) {
    const known = byLine.get(finding.line);
    if (known === undefined) byLine.set(finding.line, [finding]);
    else known.push(finding);
  }
  const counted = (severity: Finding["severity"]): number =>
    findings.filter((one) => one.severity === severity).length;
  return (
    <>
      <header className="panel-head">
        <h2>Text</h2>
        <span className="faint small">
          {findings.length === 0
            ? "nothing found"
            : `${counted("error")} errors, ${counted("warning")} warnings, ${counted("info")} notes`}
        </span>
      </header>
      <div className="scroll source" tabIndex={0} role="region" aria-label="Text of the pack">
        <ol>
          {lines.slice(0, LINES_MAX).map((line, index) => (
            <li key={index}>
              <code>{visible(line) || " "}</code>
              {byLine.get(index + 1)?.map((finding, nth) => (
                <Note
                  key={nth}
                  finding={finding}
                  isDrawn={finding === drawn}
                  draw={drawable.has(finding) ? () => draw(finding) : undefined}
                />
              ))}
            </li>
          ))}
        </ol>
        {lines.length > LINES_MAX && <p className="faint">{lines.length - LINES_MAX} more lines.</p>}
      </div>
    </>
  );
}

interface NoteProps {
  readonly finding: Finding;
  readonly isDrawn: boolean;
  readonly draw: (() => void) | undefined;
}

function Note({ finding, isDrawn, draw }: NoteProps) {
  const { severity, code, message } = finding;
  return (
    <div className={`finding ${severity}`}>
      <strong>
        {severity} {code}
      </strong>
      : {visible(message)}
      {notesOf(finding).map((note, index) => (
        <span key={index} className="block faint">
          {visible(note)}
        </span>
      ))}
      {draw !== undefined && (
        <button type="button" className="button quiet" aria-pressed={isDrawn} onClick={draw}>
          {isDrawn ? "Shown on the graph" : "Show on the graph"}
        </button>
      )}
    </div>
  );
}
