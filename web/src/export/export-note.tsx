// What an exported file says of itself: which run it is, by which hashes it can be told, and what is not in
// it.

import { clock, count, visible } from "../part/format.ts";
import { useAsked } from "../part/use-asked.ts";
import { type Embedded, exportedIn } from "./embedded-run.ts";

export function ExportNote({ embedded, run }: { readonly embedded: Embedded; readonly run: string }) {
  const { value } = useAsked(run, async () => {
    const about = await embedded.about();
    return { at: about.exported_at, known: exportedIn(about, run) };
  });
  if (value === undefined) return null;
  const { at, known } = value;
  const { pack, turns, rows, redacted, from, journal_sha256: hash } = known;
  return (
    <details className="export-note">
      <summary>
        Exported {clock(Date.parse(at))}
        {redacted.length > 0 && `, secrets taken out of ${count(redacted.length)} turns`}
        {rows.length < turns && `, turns 1 to ${count(rows.length)} of ${count(turns)}`}
        {from > 1 && `, shortened before turn ${count(from)}`}
      </summary>
      <dl className="pairs">
        <Pair name="run" value={run} />
        <Pair name="pack" value={`${pack.id} ${pack.version} ${pack.digest}`} />
        <Pair name="journal" value={`sha256 ${hash}`} />
        <Pair name="check it" value="packloop verify FILE.html" />
      </dl>
      <h2 className="small">Taken out</h2>
      {redacted.length === 0 ? (
        <p className="faint">Nothing was taken out of this run.</p>
      ) : (
        <ul className="plain-list">
          {redacted.slice(0, LISTED_MAX).map(({ turn, marks }) => (
            <li key={turn}>
              turn {turn}: {Object.entries(marks).map(markText).join(", ") || "names of fields"}
            </li>
          ))}
          {redacted.length > LISTED_MAX && <li>and {count(redacted.length - LISTED_MAX)} more turns</li>}
        </ul>
      )}
    </details>
  );
}

const LISTED_MAX = 200;

const markText = ([mark, times]: readonly [string, number]): string =>
  times === 1 ? visible(mark) : `${visible(mark)} ${times} times`;

function Pair({ name, value }: { readonly name: string; readonly value: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd className="mono">{visible(value)}</dd>
    </div>
  );
}
