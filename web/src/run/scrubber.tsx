// Moves everything to any turn.

import { clock, count } from "../part/format.ts";
import type { RunView } from "./use-run.ts";

export function Scrubber({ view }: { readonly view: RunView }) {
  const { turn, isFollowing, look, state, moment } = view;
  const { turns } = state;
  const line = moment.value?.turn === turn ? moment.value.line : undefined;
  return (
    <section className="scrubber" aria-label="Time">
      <button
        type="button"
        className="button icon"
        aria-label="Previous turn"
        disabled={turn <= 1}
        onClick={() => look(turn - 1)}
      >
        ‹
      </button>
      <button
        type="button"
        className="button icon"
        aria-label="Next turn"
        disabled={turn >= turns}
        onClick={() => look(turn + 1)}
      >
        ›
      </button>
      <input
        type="range"
        min={1}
        max={Math.max(1, turns)}
        value={turn}
        aria-label="Turn"
        aria-valuetext={`turn ${turn} of ${turns}`}
        onChange={(event) => look(Number(event.target.value))}
      />
      <output className="numbers turn-count">
        turn {count(turn)} <span className="faint">of {count(turns)}</span>
      </output>
      <span className="turn-line">
        <span className="turn-text">{line?.text ?? ""}</span>
        <time className="faint numbers">{line === undefined ? "" : clock(line.at)}</time>
      </span>
      <button
        type="button"
        className="button toggle"
        aria-pressed={isFollowing}
        onClick={() => look(isFollowing ? turn : undefined)}
      >
        Follow
      </button>
    </section>
  );
}
