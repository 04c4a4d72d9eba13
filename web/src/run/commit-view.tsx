// What a commit changed that an artifact points to, as the run's folder still has it.

import { ask, runPath } from "../api.ts";
import { clock, count, visible } from "../part/format.ts";
import { Failed, Loading } from "../part/notices.tsx";
import { useAsked } from "../part/use-asked.ts";

interface Commit {
  readonly sha: string;
  readonly author: string;
  readonly date: string;
  readonly message: string;
  readonly diff: string;
  readonly left_out?: string;
}

interface CommitProps {
  readonly run: string;
  readonly artifact: string;
  readonly turn: number;
}

/** More lines are looked at in the folder itself. */
const LINES_MAX = 5_000;

export function CommitView({ run, artifact, turn }: CommitProps) {
  const path = `${runPath(run)}/artifacts/${encodeURIComponent(artifact)}/commit?at=${turn}`;
  const { value, error, again } = useAsked<{ readonly commit: Commit }>(path, () => ask(path));
  if (error !== undefined) return <Failed error={error} again={again} />;
  if (value === undefined) return <Loading lines={4} label="Loading the commit" />;
  const { sha, author, date, message, diff, left_out: leftOut } = value.commit;
  const lines = diff.split("\n");
  const shown = lines.slice(0, LINES_MAX);
  return (
    <div className="commit">
      <p className="commit-message">{visible(message)}</p>
      <p className="faint small">
        <span className="mono">{sha.slice(0, 12)}</span> by {visible(author)}, {clock(Date.parse(date))}
      </p>
      {diff.trim() === "" ? (
        <p className="faint">Nothing changed.</p>
      ) : (
        <pre className="text diff" tabIndex={0} role="region" aria-label={`Commit of ${visible(artifact)}`}>
          {shown.map((line, index) => (
            <span key={index} className={`diff-line ${kindOf(line)}`}>
              {visible(line)}
              {"\n"}
            </span>
          ))}
        </pre>
      )}
      {(lines.length > shown.length || leftOut !== undefined) && (
        <p className="faint small">
          {lines.length > shown.length && `${count(lines.length - shown.length)} more lines. `}
          {leftOut !== undefined && `${leftOut} of the diff were left out. `}
        </p>
      )}
    </div>
  );
}

/** The signs stand in the lines; the colours repeat them. */
function kindOf(line: string): string {
  if (/^(\+\+\+|---|diff |index |new file|deleted file|old mode|new mode)/.test(line)) return "file-line";
  if (line.startsWith("@@")) return "place-line";
  if (line.startsWith("+")) return "added";
  return line.startsWith("-") ? "removed" : "same";
}
