// The live view of a run on a terminal: a header, one line per visit that ended, and below them two lines
// that are redrawn. What is appended stays, so scrolling back shows the way the run took. Nothing is drawn
// but by `tick`, so whoever calls it decides how often the screen changes.

import { cells } from "../../base/screen-text.ts";
import type { TurnRow } from "../../core/facts.ts";
import type { Program } from "../../core/program.ts";
import type { Run } from "../../core/run.ts";
import { type Piece, terminalLine } from "../format/terminal-line.ts";
import {
  type Columns,
  clockText,
  columnsOf,
  gaugePieces,
  headerPieces,
  newsPieces,
  nowPieces,
} from "./live-lines.ts";
import { usageLine } from "./progress.ts";
import { TreeVisits } from "./tree-visits.ts";

export interface Screen {
  readonly write: (text: string) => void;
  readonly columns: () => number;
  readonly color: boolean;
  readonly now: () => number;
}

/** A run that is about to be shown. */
export interface RunAbout {
  readonly id: string;
  readonly program: Program;
  readonly run: Run;
  /** As it was before the first turn that is shown; not started for a new run. */
  readonly before: Run;
  /** When the visit that was under way then had begun. */
  readonly since: number;
}

const HIDE_CURSOR = "\x1b[?25l";
const SHOW_CURSOR = "\x1b[?25h";
/** A line that is longer than we think is cut by the terminal instead of pushing the others down. */
const WRAP_OFF = "\x1b[?7l";
const WRAP_ON = "\x1b[?7h";
const CLEAR_LINE = "\x1b[K";
const CLEAR_BELOW = "\x1b[J";

interface Drawn {
  readonly text: string;
  readonly cells: number;
}

export class LiveView {
  readonly #screen: Screen;
  readonly #visits = new TreeVisits();
  readonly #appended: Piece[][] = [];
  #about: RunAbout | undefined;
  #columns: Columns = { state: 0, event: 0 };
  #run: Run | undefined;
  /** The redrawn lines as they stand on the screen. */
  #drawn: readonly Drawn[] = [];
  #isCursorHidden = false;

  constructor(screen: Screen) {
    this.#screen = screen;
  }

  begin(about: RunAbout): void {
    this.#about = about;
    this.#run = about.run;
    this.#columns = columnsOf(about.program, about.run.prompt);
    this.#visits.goOn(about.id, about.before, about.since);
    const { now } = this.#screen;
    this.#append(headerPieces(about, { now: now(), width: this.#width }));
  }

  turn(id: string, row: TurnRow, run: Run): void {
    const { program, id: shown } = this.#about as RunAbout;
    if (id === shown) this.#run = run;
    for (const { news, path } of this.#visits.turn(id, row, run)) {
      if (news.kind === "waits") continue;
      const under: readonly Piece[] = path === "" ? [] : [{ text: `  ${path}`, style: "dim" }];
      this.#append([...under, ...newsPieces(news, program, this.#columns)]);
    }
  }

  /** Brings the screen up to date in one write, or in none when nothing has changed. */
  tick(): void {
    const lines = this.#liveLines();
    const isSame =
      lines.length === this.#drawn.length && lines.every(({ text }, i) => text === this.#drawn[i]?.text);
    if (this.#appended.length === 0 && isSame) return;
    const hide = this.#isCursorHidden ? "" : HIDE_CURSOR;
    this.#isCursorHidden = true;
    const below = lines.map(({ text }) => `${text}${CLEAR_LINE}`).join("\n");
    const above = this.#takeAppended();
    this.#screen.write(`${hide}${WRAP_OFF}${this.#home()}${above}${below}${CLEAR_BELOW}${WRAP_ON}`);
    this.#drawn = lines;
  }

  /** Takes the redrawn lines away and gives the cursor back: for a question, a suspension or the end. */
  rest(): void {
    const cursor = this.#isCursorHidden ? SHOW_CURSOR : "";
    const clear = this.#drawn.length > 0 ? CLEAR_BELOW : "";
    const text = `${this.#home()}${clear}${this.#takeAppended()}${cursor}`;
    this.#drawn = [];
    this.#isCursorHidden = false;
    if (text !== "") this.#screen.write(text);
  }

  /** The last word: a visit that goes on later, and what was used. */
  end(run: Run): void {
    const { program } = this.#about as RunAbout;
    const { visit } = this.#visits;
    if (visit !== undefined && run.final === null)
      this.#append(newsPieces({ kind: "waits", visit }, program, this.#columns));
    const time = clockText(this.#screen.now() - run.startedAt);
    this.#append([{ text: `${usageLine(run)} · ${time}`, style: "dim" }]);
    this.rest();
  }

  get #width(): number {
    // The last column stays free: some terminals wrap as soon as it is written to.
    return Math.max(1, this.#screen.columns() - 1);
  }

  #line(pieces: readonly Piece[], color = this.#screen.color): string {
    return terminalLine(pieces, { width: this.#width, color });
  }

  #liveLines(): readonly Drawn[] {
    const [about, run, { visit }] = [this.#about, this.#run, this.#visits];
    if (about === undefined || run === undefined || visit === undefined) return [];
    const now = this.#screen.now();
    const { program } = about;
    const below = [
      nowPieces(
        { visit, run, program, inside: (step) => this.#visits.inside(step) },
        { columns: this.#columns, now },
      ),
      gaugePieces(run, { now, width: this.#width }),
    ];
    return below.map((pieces) => ({ text: this.#line(pieces), cells: cells(this.#line(pieces, false)) }));
  }

  #append(pieces: readonly Piece[]): void {
    this.#appended.push([...pieces]);
  }

  #takeAppended(): string {
    return this.#appended
      .splice(0)
      .map((pieces) => `${this.#line(pieces)}${CLEAR_LINE}\n`)
      .join("");
  }

  /**
   * To the beginning of the first redrawn line. A terminal that became narrower since has broken the lines,
   * so rows are counted by its present width.
   */
  #home(): string {
    if (this.#drawn.length === 0) return "";
    const columns = Math.max(1, this.#screen.columns());
    const rows = this.#drawn.reduce((sum, line) => sum + Math.max(1, Math.ceil(line.cells / columns)), 0);
    return rows > 1 ? `\r\x1b[${rows - 1}A` : "\r";
  }
}
