// Reports of pytest, unittest, cargo, go and of runners that write JUnit files; last, plain numbers.

import { countOf, type Failure, messageOf, placeIn, type Report, until } from "./report-lines.ts";

// ---- Python ------------------------------------------------------------------------------------------

export function pytestReport(lines: readonly string[]): Report | undefined {
  const summary = lines.findLast((line) => /^(?:=+ )?\d+ [a-z]+.* in [\d.]+s\b/.test(line.slice(0, 300)));
  if (summary === undefined) return undefined;
  const titles = headings(lines);
  const failures = lines.flatMap((line): Failure[] => {
    const match = /^(?:FAILED|ERROR) ([^\s:]+)((?:::.*?)?)(?: - (.*))?$/.exec(line.slice(0, 2000));
    if (match === null) return [];
    const [, file = "", names = "", message = ""] = match;
    const name = names.replace(/^::/, "") || file;
    const title = titles.get(name.replaceAll("::", "."));
    const trace =
      title === undefined ? [] : until(lines, title + 1, (one) => /^(_{3,} .* _{3,}|={3,})/.test(one));
    return [{ name, message, file, ...placeIn(trace.filter((one) => one.startsWith(`${file}:`))) }];
  });
  return {
    passed: countOf(summary, "passed", "xpassed"),
    failed: countOf(summary, "failed", "error", "errors"),
    skipped: countOf(summary, "skipped", "xfailed", "deselected"),
    failures,
  };
}

/** Where the heading of each test stands, `____ TestX.test_in ____`. */
function headings(lines: readonly string[]): ReadonlyMap<string, number> {
  const found = new Map<string, number>();
  for (const [index, line] of lines.entries())
    if (line.startsWith("___")) found.set(line.replaceAll(/^_+ | _+$/g, ""), index);
  return found;
}

export function unittestReport(lines: readonly string[]): Report | undefined {
  const ran = lines.flatMap((line) => /^Ran (\d+) tests? in /.exec(line)?.[1] ?? []).at(-1);
  if (ran === undefined) return undefined;
  const verdict = lines.findLast((line) => /^(OK|FAILED)\b/.test(line)) ?? "";
  const number = (word: string) => Number(new RegExp(`\\b${word}=(\\d+)`).exec(verdict)?.[1] ?? 0);
  const failed = number("failures") + number("errors") + number("unexpected successes");
  const skipped = number("skipped") + number("expected failures");
  const failures = lines.flatMap((line, index): Failure[] => {
    const name = /^(?:FAIL|ERROR): (.+)$/.exec(line)?.[1];
    if (name === undefined) return [];
    const body = until(lines, index + 2, (below) => /^(=|-){20,}$/.test(below));
    const frames = body.flatMap((below) => {
      const frame = /^ {2}File "([^"]+)", line (\d+)/.exec(below);
      return frame === null ? [] : [`${frame[1]}:${frame[2]}`];
    });
    const said = body.findLastIndex((below) => /^\S/.test(below));
    return [{ name, message: messageOf(body.slice(said)), ...placeIn(frames.reverse()) }];
  });
  return { passed: Number(ran) - failed - skipped, failed, skipped, failures };
}

// ---- cargo -------------------------------------------------------------------------------------------

export function cargoReport(lines: readonly string[]): Report | undefined {
  // One line for each of the crate's test programs.
  const summaries = lines.filter((line) => /^test result: \w+\. \d+ passed; \d+ failed;/.test(line));
  if (summaries.length === 0) return undefined;
  const failures = lines.flatMap((line, index): Failure[] => {
    const name = /^---- (.+) stdout ----$/.exec(line)?.[1];
    if (name === undefined) return [];
    const body = until(lines, index + 1, (below) => /^---- .+ stdout ----$|^failures:$/.test(below));
    const panic = body.findIndex((below) => /^thread '.*panicked at /.test(below));
    const said = panic === -1 ? body : body.slice(panic + 1);
    return [{ name, message: messageOf(said), ...placeIn(body.slice(Math.max(0, panic), panic + 1)) }];
  });
  const all = summaries.join(" ");
  const numbers = { passed: countOf(all, "passed"), failed: countOf(all, "failed") };
  return { ...numbers, skipped: countOf(all, "ignored"), failures };
}

// ---- go ----------------------------------------------------------------------------------------------

export function goReport(given: readonly string[]): Report | undefined {
  const lines = given.some((line) => line.startsWith('{"Time":')) ? given.flatMap(goOutput) : given;
  const isGo = lines.some((line) => /^(--- (PASS|FAIL|SKIP): |(ok|FAIL|\?) {0,3}\t\S+)/.test(line));
  if (!isGo) return undefined;
  const results = lines.flatMap((line, index) => {
    const match = /^( *)--- (PASS|FAIL|SKIP): (\S+) \(/.exec(line);
    return match === null ? [] : [{ index, verdict: match[2], name: match[3] as string }];
  });
  // A test with parts only sums them up.
  const single = results.filter(({ name }) => !results.some((other) => other.name.startsWith(`${name}/`)));
  const failed = single.filter(({ verdict }) => verdict === "FAIL");
  const failures = failed.map(({ index, name }): Failure => {
    const below = until(lines, index + 1, (line) => /^( *--- |\S|$)/.test(line));
    const said = below.length > 0 ? below : saidWhileRunning(lines, name);
    const place = /^\s*(\S+\.go):(\d+): (.*)$/.exec(said[0] ?? "");
    if (place === null) return { name, message: messageOf(said) };
    const message = messageOf([place[3] as string, ...said.slice(1)]);
    return { name, message, file: place[1] as string, line: Number(place[2]) };
  });
  // Without -v tests that pass are not named; what is known is that their packages passed.
  const named = single.filter(({ verdict }) => verdict === "PASS").length;
  const packages = lines.filter((line) => /^ok {2}\t\S+/.test(line)).length;
  const broken = lines.filter((line) => /^FAIL\t\S+ \[(build|setup) failed\]/.test(line));
  return {
    passed: named > 0 ? named : packages,
    failed: failed.length + broken.length,
    skipped: single.filter(({ verdict }) => verdict === "SKIP").length,
    failures: [...failures, ...broken.map((line) => buildFailure(lines, line))],
  };
}

function goOutput(line: string): readonly string[] {
  try {
    const event: unknown = JSON.parse(line);
    const output = (event as { Output?: unknown } | null)?.Output;
    return typeof output === "string" ? [output.replace(/\n$/, "")] : [];
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return [line];
  }
}

/** With -v the output of a test stands before its verdict. */
function saidWhileRunning(lines: readonly string[], name: string): readonly string[] {
  const start = lines.findIndex((line) => line === `=== RUN   ${name}`);
  return start === -1 ? [] : until(lines, start + 1, (line) => /^( *--- |=== )/.test(line));
}

function buildFailure(lines: readonly string[], line: string): Failure {
  const name = line.split(/[\t[]/)[1] ?? line;
  const start = lines.findIndex((one) => one.startsWith("# "));
  const said = start === -1 ? [] : until(lines, start + 1, (one) => /^(FAIL|ok|\?)\s/.test(one));
  return { name, message: messageOf(said), ...placeIn(said) };
}

// ---- JUnit -------------------------------------------------------------------------------------------

export function junitReport(lines: readonly string[]): Report | undefined {
  if (!lines.some((line) => /<testsuites?\b/.test(line))) return undefined;
  const text = lines.join("\n");
  const failures: Failure[] = [];
  let [passed, skipped] = [0, 0];
  for (let at = text.indexOf("<testcase"); at !== -1; at = text.indexOf("<testcase", at + 1)) {
    const close = tagEnd(text, at);
    const attributes = text.slice(at, close);
    const end = attributes.endsWith("/") ? close : text.indexOf("</testcase>", close);
    const body = text.slice(close + 1, end === -1 ? undefined : end);
    const problem = body.search(/<(?:failure|error)\b/);
    if (problem !== -1) failures.push(junitFailure(attributes, body.slice(problem)));
    else if (body.includes("<skipped")) skipped++;
    else passed++;
    at = Math.max(at, end === -1 ? text.length : end);
  }
  return { passed, failed: failures.length, skipped, failures };
}

/** Where the tag that begins at `from` is closed; a closing bracket in an attribute does not count. */
function tagEnd(text: string, from: number): number {
  let quote = "";
  for (let at = from; at < text.length; at++) {
    const character = text[at] as string;
    if (quote !== "") quote = character === quote ? "" : quote;
    else if (character === ">") return at;
    else if (character === '"' || character === "'") quote = character;
  }
  return text.length;
}

function junitFailure(attributes: string, element: string): Failure {
  const close = tagEnd(element, 0);
  const end = element.search(/<\/(?:failure|error)>/);
  const inner = element.slice(close + 1, end === -1 ? undefined : end);
  const lines = plainText(inner.replace("<![CDATA[", "").replace("]]>", "")).split("\n");
  const [file, line] = [attribute(attributes, "file"), attribute(attributes, "line")];
  const named = file === undefined ? {} : { file, ...(line !== undefined && { line: Number(line) }) };
  const message = attribute(element.slice(0, close), "message") ?? messageOf(lines);
  return { name: attribute(attributes, "name") ?? "", message, ...named, ...placeIn(lines) };
}

function attribute(text: string, name: string): string | undefined {
  const value = new RegExp(`\\b${name}="([^"]*)"`).exec(text)?.[1];
  return value === undefined ? undefined : plainText(value);
}

const ENTITIES: Readonly<Record<string, string>> = {
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  amp: "&",
  "#10": "\n",
};

const plainText = (text: string): string =>
  text.replaceAll(/&(lt|gt|quot|apos|amp|#10);/g, (_, name: string) => ENTITIES[name] ?? "");

// ---- anything else -----------------------------------------------------------------------------------

/** A last line such as `12 tests passed, 1 failed`. */
export function plainReport(lines: readonly string[]): Report | undefined {
  const summary = lines.findLast((line) => {
    const short = line.slice(0, 300);
    return /\b\d+ (?:tests? )?passed\b/i.test(short) || /\b\d+ (?:tests? )?failed\b/i.test(short);
  });
  if (summary === undefined) return undefined;
  const plain = summary
    .slice(0, 300)
    .toLowerCase()
    .replaceAll(/(\d+) tests? /g, "$1 ");
  const counts = { passed: countOf(plain, "passed"), failed: countOf(plain, "failed") };
  return { ...counts, skipped: countOf(plain, "skipped", "ignored"), failures: [] };
}
