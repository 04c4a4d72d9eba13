// The run decided again from its recorded answers: nothing is called and nothing is stored.

import type { Json } from "../../../src/base/json.ts";
import { ask, runPath } from "../api.ts";
import { textOf, wholeCut } from "../journal/cut-text.ts";
import { CopyButton } from "../part/copy-button.tsx";
import { visible } from "../part/format.ts";
import { Failed, Loading } from "../part/notices.tsx";
import { TextView } from "../part/text-view.tsx";
import { useAsked } from "../part/use-asked.ts";

interface Replay {
  readonly same: boolean;
  readonly turns: number;
  readonly first_difference: {
    readonly turn: number;
    readonly recorded: Json;
    readonly decided: Json;
    readonly why: string;
  } | null;
}

export function Replayed({ run, turn }: { readonly run: string; readonly turn: number }) {
  const { value, error, again } = useAsked<Replay>(`${run} ${turn}`, () =>
    ask<Replay>(`${runPath(run)}/replay?at=${turn}`, { method: "POST" }),
  );
  if (error !== undefined) return <Failed error={error} again={again} />;
  if (value === undefined) return <Loading lines={3} label="Deciding every turn again" />;
  const { first_difference: difference } = value;
  return (
    <>
      {difference === null ? (
        <p role="status">
          Turns 1 to {value.turns} were decided again from the recorded answers, and each came out the same.
          Nothing was called.
        </p>
      ) : (
        <>
          <p className="problem" role="status">
            Turn {difference.turn} comes out differently today: {visible(difference.why)}
          </p>
          <h3>Recorded</h3>
          <TextView
            text={wholeCut(difference.recorded)}
            label="Recorded"
            of={difference.recorded}
            whole={async () => textOf(difference.recorded)}
          />
          <h3>Decided now</h3>
          <TextView
            text={wholeCut(difference.decided)}
            label="Decided now"
            of={difference.decided}
            whole={async () => textOf(difference.decided)}
          />
        </>
      )}
      <div className="actions end">
        <CopyButton text={() => `packloop replay ${run}@${turn}`}>Copy command</CopyButton>
      </div>
    </>
  );
}
