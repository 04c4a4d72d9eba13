// Outputs of test runners, shortened, and the reports read from them.

import { describe, expect, test } from "vitest";
import { testReport } from "./test-report.ts";

const reportOf = (stdout: string, stderr = "") => testReport({ stdout, stderr }, "/home/ada/work");

const cases: readonly (readonly [string, string, unknown])[] = [
  [
    "vitest",
    `
 ❯ sum.test.ts (3 tests | 1 failed | 1 skipped) 19ms
   ✓ adds 4ms
     × fails 12ms

⎯⎯⎯⎯⎯⎯⎯ Failed Tests 1 ⎯⎯⎯⎯⎯⎯⎯

 FAIL  sum.test.ts > sums > fails
AssertionError: expected 1 to be 2 // Object.is equality

\u001b[32m- Expected\u001b[39m
\u001b[31m+ Received\u001b[39m

 ❯ node_modules/vitest/dist/x.js:9:1
 ❯ sum.test.ts:3:59
      3| describe("sums", () => {

⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯[1/1]⎯

 Test Files  1 failed (1)
      Tests  1 failed | 1 passed | 1 skipped (3)
`,
    {
      runner: "vitest",
      passed: 1,
      failed: 1,
      skipped: 1,
      failures: [
        {
          name: "sum.test.ts > sums > fails",
          message: "AssertionError: expected 1 to be 2 // Object.is equality\n- Expected\n+ Received",
          file: "sum.test.ts",
          line: 3,
        },
      ],
    },
  ],
  [
    "vitest that cannot load a file",
    `
 FAIL  sum.test.ts [ sum.test.ts ]
Error: Cannot find module './sum.ts' imported from /home/ada/work/sum.test.ts
 ❯ sum.test.ts:1:1

⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯⎯[1/1]⎯

 Test Files  1 failed (1)
      Tests  no tests
`,
    { runner: "vitest", passed: 0, failed: 1, failures: [{ file: "sum.test.ts", line: 1 }] },
  ],
  [
    "jest",
    `FAIL ./sum.test.js
  sums
    ✓ adds (1 ms)
    ✕ subtracts (7 ms)

  ● sums › subtracts

    expect(received).toBe(expected) // Object.is equality

    Expected: 1
    Received: 2

    > 1 | it("subtracts", () => { expect(2).toBe(1); });
        |                                   ^

      at Object.toBe (sum.test.js:1:82)

Test Suites: 1 failed, 1 total
Tests:       1 failed, 1 skipped, 1 passed, 3 total
`,
    {
      runner: "jest",
      passed: 1,
      failed: 1,
      skipped: 1,
      failures: [
        {
          name: "sums › subtracts",
          message: "expect(received).toBe(expected) // Object.is equality\nExpected: 1\nReceived: 2",
          file: "sum.test.js",
          line: 1,
        },
      ],
    },
  ],
  [
    "mocha",
    `
  sums
    ✔ adds
    1) subtracts
    - later

  1 passing (32ms)
  1 pending
  1 failing

  1) sums
       subtracts:

      AssertionError [ERR_ASSERTION]: 2 == 1
      + expected - actual

      at Context.<anonymous> (test/sum.cjs:2:77)
      at process.processImmediate (node:internal/timers:574:21)
`,
    {
      runner: "mocha",
      passed: 1,
      failed: 1,
      skipped: 1,
      failures: [
        {
          name: "sums > subtracts",
          message: "AssertionError [ERR_ASSERTION]: 2 == 1\n+ expected - actual",
          file: "test/sum.cjs",
          line: 2,
        },
      ],
    },
  ],
  [
    "pytest",
    `collected 4 items

test_sum.py .Fs.                                       [100%]

=========================== FAILURES ===========================
__________________________ test_bad ____________________________

    def test_bad():
>       assert 3 - 1 == 1, "off by one"
E       AssertionError: off by one

test_sum.py:5: AssertionError
=================== short test summary info ====================
FAILED test_sum.py::test_bad - AssertionError: off by one
============ 1 failed, 2 passed, 1 skipped in 4.31s ============
`,
    {
      runner: "pytest",
      passed: 2,
      failed: 1,
      skipped: 1,
      failures: [{ name: "test_bad", message: "AssertionError: off by one", file: "test_sum.py", line: 5 }],
    },
  ],
  ["a quiet pytest", "...\n3 passed in 0.01s\n", { runner: "pytest", passed: 3, failed: 0, failures: [] }],
  [
    "unittest",
    `F.s
======================================================================
FAIL: test_a (sums.Sum.test_a)
----------------------------------------------------------------------
Traceback (most recent call last):
  File "/home/ada/work/sums.py", line 3, in test_a
    self.assertEqual(1, 2)
AssertionError: 1 != 2

----------------------------------------------------------------------
Ran 3 tests in 0.001s

FAILED (failures=1, skipped=1)
`,
    {
      runner: "unittest",
      passed: 1,
      failed: 1,
      skipped: 1,
      failures: [
        { name: "test_a (sums.Sum.test_a)", message: "AssertionError: 1 != 2", file: "sums.py", line: 3 },
      ],
    },
  ],
  [
    "cargo",
    `running 3 tests
test tests::later ... ignored
test tests::ok ... ok
test tests::bad ... FAILED

failures:

---- tests::bad stdout ----

thread 'tests::bad' (2266) panicked at src/lib.rs:3:21:
assertion \`left == right\` failed: off
  left: 1
 right: 2
note: run with \`RUST_BACKTRACE=1\` environment variable to display a backtrace


failures:
    tests::bad

test result: FAILED. 1 passed; 1 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.48s

running 2 tests
test result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s
`,
    {
      runner: "cargo",
      passed: 3,
      failed: 1,
      skipped: 1,
      failures: [{ name: "tests::bad", file: "src/lib.rs", line: 3 }],
    },
  ],
  [
    "go",
    `=== RUN   TestAdd
--- PASS: TestAdd (0.00s)
=== RUN   TestTable
=== RUN   TestTable/one
=== RUN   TestTable/two
    sum_test.go:25: two is wrong
--- FAIL: TestTable (0.00s)
    --- PASS: TestTable/one (0.00s)
    --- FAIL: TestTable/two (0.00s)
FAIL
FAIL\texample.com/sum\t0.003s
`,
    {
      runner: "go",
      passed: 2,
      failed: 1,
      skipped: 0,
      failures: [{ name: "TestTable/two", message: "two is wrong", file: "sum_test.go", line: 25 }],
    },
  ],
  ["a go package that passes", "ok  \texample.com/sum\t0.003s\n", { runner: "go", passed: 1, failed: 0 }],
  [
    "go as JSON",
    ["=== RUN   TestA\n", "    a_test.go:3: no\n", "--- FAIL: TestA (0.00s)\n"]
      .map((Output) => JSON.stringify({ Time: "2030-01-01T00:00:00Z", Action: "output", Output }))
      .join("\n"),
    { runner: "go", failed: 1, failures: [{ name: "TestA", message: "no", file: "a_test.go", line: 3 }] },
  ],
  [
    "go that does not build",
    "# example.com/sum\n./sum.go:4:2: undefined: x\nFAIL\texample.com/sum [build failed]\n",
    { runner: "go", failed: 1, failures: [{ name: "example.com/sum", file: "./sum.go", line: 4 }] },
  ],
  [
    "a JUnit file",
    `<?xml version="1.0"?><testsuites><testsuite name="s" tests="3">
<testcase name="adds" classname="s" time="0.1"/>
<testcase name="less &lt;" classname="s"><failure message="1 &amp; 2" type="x"><![CDATA[at a.ts:4:1]]></failure></testcase>
<testcase name="later"><skipped/></testcase></testsuite></testsuites>`,
    {
      runner: "junit",
      passed: 1,
      failed: 1,
      skipped: 1,
      failures: [{ name: "less <", message: "1 & 2", file: "a.ts", line: 4 }],
    },
  ],
  ["TAP", "TAP version 14\n1..2\nok 1 - a\nnot ok 2 - b\n", { runner: "tap", passed: 1, failed: 1 }],
  [
    "another runner",
    "Done. 12 tests passed, 1 failed\n",
    { runner: "other", passed: 12, failed: 1, failures: [] },
  ],
];

test.each(cases.map(([name, output, report]) => [name, output, report] as const))(
  "%s is read",
  (_, output, report) => {
    expect(reportOf(output)).toMatchObject(report as object);
    expect(reportOf("", output)).toMatchObject(report as object);
  },
);

test("output that is of no test runner has no report", () => {
  for (const output of ["", "hello\nworld\n", "compiled 3 files\n", "ok\n", "<html></html>"])
    expect(reportOf(output)).toBeUndefined();
});

describe("a report stays short", () => {
  test("with many failures", () => {
    const lines = Array.from({ length: 500 }, (_, i) => `not ok ${i + 1} - ${"x".repeat(900)}`);
    const report = reportOf(`TAP version 13\n${lines.join("\n")}`) as Record<string, unknown>;
    expect(report).toMatchObject({ failed: 500, left_out: 480 });
    expect(JSON.stringify(report).length).toBeLessThan(20_000);
  });

  test("and is read in time from lines made to be slow", () => {
    const hostile = ["(", " ", "=", "_", "a:", "● ", "<testcase ", "ok ", "1 ", "FAILED x:"]
      .map((piece) => `${piece.repeat(20_000)}\n`)
      .join("");
    for (const start of [
      "TAP version 13\n",
      "<testsuite>\n",
      "ℹ tests 1\n✖ failing tests:\n\n",
      "  1 passing (1ms)\n",
    ])
      expect(reportOf(`${start}${hostile}1 failed in 1s\n`)).toBeDefined();
  });

  test.each([
    ["  1 passing (1ms)\n  1 failing\n", "  1) x\n"],
    ["", "FAILED a.py::b - c\n"],
    ["", "--- FAIL: T (0.00s)\n"],
    ["", "    --- FAIL: T/x (0.00s)\n"],
    ["ℹ tests 1\n✖ failing tests:\n", "test at a.js:1:1\n"],
    ["TAP version 13\n", "not ok 1 - x\n  ---\n"],
    ["<testsuite>", "<testcase><failure>"],
    ["test result: ok. 1 passed; 0 failed; 0 ignored\n", "---- a stdout ----\n"],
  ])("and many heads without a body after %j do not make it slow", (start, head) => {
    const lines = Math.floor((256 * 1024) / head.length);
    expect(reportOf(`${start}${head.repeat(lines)}\n1 failed in 1s\n`)).toBeDefined();
  });
});
