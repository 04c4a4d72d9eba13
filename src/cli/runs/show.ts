// How a run is shown while it is driven: one JSON object per turn, plain lines, or the live view where a
// person watches.

import { isoTime } from "../../base/iso-time.ts";
import { visibleLines } from "../../base/screen-text.ts";
import type { TurnRow } from "../../core/facts.ts";
import type { Run } from "../../core/run.ts";
import type { Summary } from "../../core/summary.ts";
import type { Delta } from "../../engine/ports.ts";
import { type ColorChoice, note, noteRaw, useColor, write, writeText } from "../output.ts";
import type { AgentRun } from "./agents-of.ts";
import { LiveView, type RunAbout } from "./live-view.ts";
import { plainLine, usageLine } from "./progress.ts";
import { resultText } from "./result-text.ts";
import { TreeVisits } from "./tree-visits.ts";

/** The screen changes at most so often. */
const TICK_MS = 100;

export interface ShownRun extends RunAbout {
  /** What plain lines begin with. */
  readonly title?: string;
}

interface Face {
  begin(about: ShownRun): void;
  turn(id: string, row: TurnRow, run: Run): void;
  /** Streamed text; the last piece of an answer is followed by its turn. */
  delta(text: string): void;
  rest(): void;
  end(summary: Summary, run: Run, agents: readonly AgentRun[]): void;
  paused(summary: Summary, run: Run): void;
  close(): void;
}

export class Show {
  readonly #face: Face;
  /** Turns that came before anybody said which run this is. */
  #early: (readonly [id: string, row: TurnRow, run: Run])[] | undefined = [];
  #listeners: (() => void)[] = [];
  /** Step and attempt of the text that came last. */
  #streaming = "";
  /** The last word was said: what a run owes others may still be paid, and is no news. */
  #isOver = false;

  constructor(face: Face) {
    this.#face = face;
  }

  readonly onTurn = (id: string, row: TurnRow, run: Run): void => {
    if (this.#early !== undefined) this.#early.push([id, row, run]);
    else if (!this.#isOver) this.#face.turn(id, row, run);
    for (const listener of this.#listeners.splice(0)) listener();
  };

  readonly onDelta = ({ text, attempt, step }: Delta): void => {
    const again = attempt > 1 && this.#streaming !== `${step}/${attempt}` ? "\n(again)\n" : "";
    this.#streaming = `${step}/${attempt}`;
    this.#face.delta(again + text);
  };

  begin(about: ShownRun): void {
    this.#face.begin(about);
    for (const turn of this.#early ?? []) this.#face.turn(...turn);
    this.#early = undefined;
  }

  nextTurn(): Promise<void> {
    return new Promise((resolve) => this.#listeners.push(resolve));
  }

  /** Makes room for something else on the screen. */
  rest(): void {
    this.#face.rest();
  }

  end(summary: Summary, run: Run, agents: readonly AgentRun[] = []): void {
    this.#isOver = true;
    this.#face.end(summary, run, agents);
  }

  paused(summary: Summary, run: Run): void {
    this.#isOver = true;
    this.#face.paused(summary, run);
  }

  /** Leaves the screen as it was; after the end, and when there is none. */
  close(): void {
    this.#face.close();
  }
}

export function showOf({ json, color }: { readonly json?: true; readonly color?: ColorChoice }): Show {
  if (json === true) return new Show(jsonFace());
  const isLive = process.stderr.isTTY && process.env["TERM"] !== "dumb";
  return new Show(isLive ? liveFace(useColor(color ?? "auto", process.stderr)) : lineFace());
}

const nothing = (): void => undefined;

/** A model's text on its way to the screen, closed by a line break. */
class StreamedText {
  #open = false;

  add(text: string): void {
    noteRaw(visibleLines(text));
    this.#open = !text.endsWith("\n");
  }

  end(): void {
    if (this.#open) noteRaw("\n");
    this.#open = false;
  }
}

function jsonFace(): Face {
  const last = (summary: Summary) => write(`${JSON.stringify(summary)}\n`);
  return {
    begin: nothing,
    turn: (id, row) =>
      write(`${JSON.stringify({ run: id, turn: row.turn, at: isoTime(row.at), facts: row.facts })}\n`),
    // Lines are turns; a stream of text between them would be none.
    delta: nothing,
    rest: nothing,
    end: last,
    paused: last,
    close: nothing,
  };
}

function lineFace(): Face {
  const visits = new TreeVisits();
  const stream = new StreamedText();
  return {
    begin({ title, id, before, since }) {
      if (title !== undefined) note(title);
      visits.goOn(id, before, since);
    },
    delta: (text) => stream.add(text),
    turn: (id, row, run) => {
      stream.end();
      for (const { news, path } of visits.turn(id, row, run)) note(plainLine(news, path));
    },
    rest: nothing,
    end(summary, run, agents) {
      note(usageLine(run));
      writeText(resultText(summary, agents));
    },
    paused: nothing,
    close: nothing,
  };
}

function liveFace(color: boolean): Face {
  const view = new LiveView({
    write: noteRaw,
    columns: () => process.stderr.columns || 80,
    color,
    now: Date.now,
  });
  const stream = new StreamedText();
  let timer: NodeJS.Timeout | undefined;
  /** While something else has the screen; the next turn takes it back. */
  let isResting = false;
  const rest = () => view.rest();
  // The terminal goes back to the shell as it was, and is drawn again by the next tick after `fg`.
  const suspend = () => {
    rest();
    process.kill(process.pid, "SIGSTOP");
  };
  return {
    begin(about) {
      view.begin(about);
      timer = setInterval(() => (isResting ? undefined : view.tick()), TICK_MS);
      process.on("exit", rest);
      process.on("SIGTSTP", suspend);
    },
    delta(text) {
      if (!isResting) rest();
      isResting = true;
      stream.add(text);
    },
    turn(id, row, run) {
      stream.end();
      isResting = false;
      view.turn(id, row, run);
    },
    rest() {
      isResting = true;
      rest();
    },
    end(summary, run, agents) {
      view.end(run);
      writeText(resultText(summary, agents));
    },
    paused: (_summary, run) => view.end(run),
    close() {
      clearInterval(timer);
      rest();
      process.off("exit", rest);
      process.off("SIGTSTP", suspend);
    },
  };
}
