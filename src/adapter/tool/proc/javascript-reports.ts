// Reports of test runners for JavaScript: TAP, Node's own, Vitest, Jest and Mocha.

import {
  type Counts,
  countOf,
  type Failure,
  messageOf,
  placeIn,
  type Report,
  until,
} from "./report-lines.ts";

// ---- TAP ---------------------------------------------------------------------------------------------

const POINT = /^(\s*)(not )?ok\b(?: \d+)?(?: - | )?(.*)$/;

interface Point {
  readonly index: number;
  readonly indent: number;
  readonly ok: boolean;
  readonly name: string;
  readonly directive: string;
}

export function tapReport(lines: readonly string[]): Report | undefined {
  if (!lines.some((line) => /^TAP version \d+$|^\s*not ok \d+/.test(line))) return undefined;
  const points = lines.flatMap((line, index): Point[] => {
    const match = POINT.exec(line.slice(0, 1000));
    if (match === null) return [];
    const [name = "", directive = ""] = (match[3] as string).split(/ # (?=(?:skip|todo)\b)/i);
    return [{ index, indent: (match[1] as string).length, ok: match[2] === undefined, name, directive }];
  });
  // A test that holds others only sums them up: its own line follows theirs, further left.
  const single = points.filter((point, at) => (points[at - 1]?.indent ?? 0) <= point.indent);
  const isOpen = ({ directive }: Point) => directive === "";
  const failed = single.filter((point) => !point.ok && isOpen(point));
  return {
    passed: single.filter((point) => point.ok && isOpen(point)).length,
    failed: failed.length,
    skipped: single.filter((point) => !isOpen(point)).length,
    failures: failed.map((point) => tapFailure(lines, point)),
  };
}

function tapFailure(lines: readonly string[], { index, name }: Point): Failure {
  if (!/^\s*---/.test(lines[index + 1] ?? "")) return { name, message: "" };
  const block = until(lines, index + 2, (line) => /^\s*\.\.\.$/.test(line));
  const location = block.flatMap((line) => /^\s*location: '(.*)'$/.exec(line)?.[1] ?? []);
  return { name, message: yamlText(block, /^\s*(?:error|message):\s*(.*)$/), ...placeIn(location) };
}

/** A value of the block: on the line, or on the further indented ones below. */
function yamlText(block: readonly string[], key: RegExp): string {
  const at = block.findIndex((line) => key.test(line));
  const line = block[at];
  if (line === undefined) return "";
  const value = key.exec(line)?.[1] ?? "";
  if (!/^[|>][-+]?$/.test(value)) return value.replace(/^(["'])(.*)\1$/, "$2");
  const indent = line.search(/\S/);
  return messageOf(until(block, at + 1, (below) => below.trim() !== "" && below.search(/\S/) <= indent));
}

// ---- node --test -------------------------------------------------------------------------------------

export function specReport(lines: readonly string[]): Report | undefined {
  const number = (word: string): number => {
    const line = lines.findLast((one) => one.startsWith(`ℹ ${word} `));
    return Number(line?.split(" ")[2] ?? 0);
  };
  if (!lines.some((line) => /^ℹ tests \d+$/.test(line))) return undefined;
  const start = lines.lastIndexOf("✖ failing tests:");
  const details = start === -1 ? [] : lines.slice(start + 1);
  const failures = details.flatMap((line, index): Failure[] => {
    const place = /^test at (.+):(\d+):\d+$/.exec(line);
    if (place === null) return [];
    const name = (details[index + 1] ?? "").replace(/^\s*✖ /, "").replace(/ \([\d.]+ms\)$/, "");
    const body = until(details, index + 2, (below) => /^test at .+:\d+:\d+$/.test(below));
    return [{ name, message: messageOf(body), file: place[1] as string, line: Number(place[2]) }];
  });
  const counts = { passed: number("pass"), failed: number("fail") + number("cancelled") };
  return { ...counts, skipped: number("skipped") + number("todo"), failures };
}

// ---- Vitest ------------------------------------------------------------------------------------------

export function vitestReport(lines: readonly string[]): Report | undefined {
  const summary = lines.findLast((line) => /^\s*Tests\s+\d+ .*\(\d+\)\s*$/.test(line));
  const broken = lines.find((line) => /^\s*Test Files\s+\d+ failed/.test(line));
  if (summary === undefined && broken === undefined) return undefined;
  const heads = lines.flatMap((line, index) => (/^ FAIL {2}\S/.test(line) ? [index] : []));
  const failures = heads.map((index): Failure => {
    const name = (lines[index] as string).replace(/^ FAIL {2}/, "");
    const body = until(lines, index + 1, (line) => /^ FAIL {2}\S|^⎯{3,}/.test(line));
    const arrows = body.filter((line) => /^\s*❯\s/.test(line));
    return { name, message: messageOf(body), ...placeIn(arrows) };
  });
  const counts = countsOf(summary ?? "");
  // A file that cannot be loaded has no tests to count.
  const unloaded = failures.filter(({ name }) => !name.includes(" > ")).length;
  return { ...counts, failed: counts.failed + unloaded, failures };
}

// ---- Jest --------------------------------------------------------------------------------------------

export function jestReport(lines: readonly string[]): Report | undefined {
  const summary = lines.findLast((line) => /^Tests:\s+.*\d+ total$/.test(line));
  if (summary === undefined) return undefined;
  const end = lines.findIndex((line) => line.startsWith("Summary of all failing tests"));
  const body = end === -1 ? lines : lines.slice(0, end);
  const failures = body.flatMap((line, index): Failure[] => {
    const name = /^ {2}● (.+)$/.exec(line)?.[1];
    if (name === undefined || name.startsWith("Console")) return [];
    const piece = until(body, index + 1, (below) => /^ {2}● |^(PASS|FAIL|Tests|Test Suites)\b/.test(below));
    const source = piece.findIndex((below) => /^\s*>?\s*\d+ \|/.test(below));
    const text = source === -1 ? piece : piece.slice(0, source);
    return [{ name, message: messageOf(text), ...placeIn(piece.filter((below) => /^\s+at\s/.test(below))) }];
  });
  return { ...countsOf(summary), failures };
}

// ---- Mocha -------------------------------------------------------------------------------------------

export function mochaReport(lines: readonly string[]): Report | undefined {
  if (!lines.some((line) => /^\s+\d+ passing \(/.test(line))) return undefined;
  const summary = lines.filter((line) => /^\s+\d+ (passing|failing|pending)\b/.test(line)).join(" ");
  const start = lines.findLastIndex((line) => /^\s+\d+ failing$/.test(line));
  const details = start === -1 ? [] : lines.slice(start + 1);
  const failures = details.flatMap((line, index): Failure[] => {
    if (!/^ {2}\d+\) /.test(line)) return [];
    const body = until(details, index + 1, (below) => /^ {2}\d+\) /.test(below));
    // The names of the suites stand above each other, up to the one that ends with a colon.
    const named = line.trimEnd().endsWith(":")
      ? 0
      : body.findIndex((below) => below.trimEnd().endsWith(":")) + 1;
    const names = [line.replace(/^ {2}\d+\) /, ""), ...body.slice(0, named)].map((name) => name.trim());
    const rest = body.slice(named);
    return [
      { name: names.join(" > ").replace(/:$/, ""), message: messageOf(rest), ...placeIn(stackOf(rest)) },
    ];
  });
  return {
    passed: countOf(summary, "passing"),
    failed: countOf(summary, "failing"),
    skipped: countOf(summary, "pending"),
    failures,
  };
}

const stackOf = (lines: readonly string[]): readonly string[] =>
  lines.filter((line) => /^\s+at\s/.test(line));

const countsOf = (summary: string): Counts => ({
  passed: countOf(summary, "passed"),
  failed: countOf(summary, "failed"),
  skipped: countOf(summary, "skipped", "todo"),
});
