// Test results as JUnit readers take them: a suite per file, a case per test.

import { XML_HEADER, xmlAttributes, xmlText } from "../format/xml-text.ts";
import type { Difference } from "./difference.ts";
import type { TestFormat, TestResult } from "./test-result.ts";

export const junitTests: TestFormat = ({ results, totals }) => {
  const { tests, failed, ms } = totals;
  const head = { name: "packloop test", tests, failures: failed, errors: 0, time: seconds(ms) };
  const files = Map.groupBy(results, ({ test }) => test.file);
  const suites = [...files].map(([file, cases]) => suite(file, cases)).join("");
  return `${XML_HEADER}\n<testsuites${xmlAttributes(head)}>\n${suites}</testsuites>\n`;
};

const seconds = (ms: number): string => (ms / 1000).toFixed(3);

function suite(file: string, cases: readonly TestResult[]): string {
  const count = (status: TestResult["status"]) => cases.filter((one) => one.status === status).length;
  const head = {
    name: file,
    tests: cases.length,
    failures: count("failed"),
    errors: 0,
    skipped: count("skipped"),
    time: seconds(cases.reduce((sum, { ms }) => sum + ms, 0)),
  };
  return `  <testsuite${xmlAttributes(head)}>\n${cases.map(testCase).join("")}  </testsuite>\n`;
}

function testCase({ test, status, differences, ms }: TestResult): string {
  const head = `    <testcase${xmlAttributes({ name: test.name, classname: test.file, time: seconds(ms) })}`;
  if (status === "passed") return `${head}/>\n`;
  const inside =
    status === "skipped" ? `<skipped${xmlAttributes({ message: test.skip ?? "" })}/>` : failure(differences);
  return `${head}>\n      ${inside}\n    </testcase>\n`;
}

/** One element for all of them: readers show the first and drop the rest. */
function failure(differences: readonly Difference[]): string {
  const lines = differences.map(
    ({ place, kind, what, expected, actual }) =>
      `${place}: ${what}\n${kind === "unsupported" ? "cannot be judged: " : `expected ${expected}\nwas      `}${actual}`,
  );
  const [first] = differences;
  const message = first === undefined ? "" : `${first.what}: expected ${first.expected}, was ${first.actual}`;
  return `<failure${xmlAttributes({ type: "error", message })}>${xmlText(lines.join("\n\n"))}</failure>`;
}
