// What happened around the calls of the visit up to the turn, in the order of time.

import type { Moment } from "../journal/journal-shapes.ts";
import { duration, visible } from "../part/format.ts";
import type { RunView } from "./use-run.ts";

interface LogsProps {
  readonly view: RunView;
  readonly moment: Moment;
}

export function LogsTab({ view, moment }: LogsProps) {
  // Lines go further back than the turns that are listed.
  const start = Math.min(moment.turns[0]?.at ?? moment.at, moment.logs[0]?.at ?? moment.at);
  return (
    <ol className="log-list">
      {moment.logs.map(({ turn, at, step, text, output }, index) => (
        <li key={index}>
          <p className="log-line">
            <button type="button" className="inline-button numbers" onClick={() => view.look(turn)}>
              turn {turn}
            </button>{" "}
            <span className="faint numbers">
              +{duration(at - start)}
              {step !== null && `, step ${step}`}
            </span>{" "}
            {visible(text)}
          </p>
          {output !== null && output !== "" && (
            <pre className="text" tabIndex={0} role="region" aria-label={`Line ${index + 1}`}>
              {visible(output)}
            </pre>
          )}
        </li>
      ))}
    </ol>
  );
}
