// What time it is, and sleeping: the first call defers, the call made again answers.

import { expect, test } from "vitest";
import { bindTime } from "../../../src/adapter/tool/time/bind-time.ts";
import type { Json, JsonObject } from "../../../src/base/json.ts";
import { Bench, codeOf, problemsOf, valueOf } from "./fs-bench.ts";

test("now tells the time of the clock", async () => {
  await using bench = await Bench.make();
  expect(valueOf(await bench.call(bench.bind(bindTime, { op: "now" }), {}))).toEqual({
    iso: "2030-01-01T00:00:00.000Z",
    unix_sec: 1893456000,
  });
});

test.each<[JsonObject, number]>([
  [{ seconds: 90 }, 90_000],
  [{ duration: "15m" }, 900_000],
  [{ seconds: "2h" }, 7_200_000],
  [{ seconds: 0.5 }, 500],
  [{ until: "2030-01-01T01:00:00Z" }, 3_600_000],
  [{ at: "2030-01-01T03:00:00+02:00" }, 3_600_000],
])("sleep %j defers and then answers", async (args, ms) => {
  await using bench = await Bench.make();
  const tool = bench.bind(bindTime, { op: "sleep" });
  const until = bench.now + ms;
  const first = await bench.call(tool, args);
  expect(first).toEqual({ deferred: true, until, handle: { since: bench.now, until } });
  const { handle } = first as { handle: Json };
  bench.now += ms - 1;
  expect(await bench.call(tool, args, { handle })).toEqual(first);
  bench.now += 1001;
  expect(valueOf(await bench.call(tool, args, { handle }))).toEqual({
    slept_sec: Math.round((ms + 1000) / 1000),
  });
});

test("a time that is over, or none, is answered at once", async () => {
  await using bench = await Bench.make();
  const tool = bench.bind(bindTime, { op: "sleep" });
  for (const args of [{ seconds: 0 }, { until: "2029-12-31T00:00:00Z" }])
    expect(valueOf(await bench.call(tool, args))).toEqual({ slept_sec: 0 });
});

test.each<[JsonObject, string]>([
  [{}, "bad_arguments"],
  [{ seconds: -1 }, "bad_arguments"],
  [{ seconds: "soon" }, "bad_arguments"],
  [{ seconds: [] }, "bad_arguments"],
  [{ until: "2030-01-01T01:00:00" }, "bad_arguments"],
  [{ until: "tomorrow" }, "bad_arguments"],
  [{ until: "2030-13-01T01:00:00Z" }, "bad_arguments"],
  [{ seconds: "367d" }, "too_large"],
  [{ until: "2040-01-01T00:00:00Z" }, "too_large"],
])("sleep %j is refused", async (args, code) => {
  await using bench = await Bench.make();
  expect(codeOf(await bench.call(bench.bind(bindTime, { op: "sleep" }), args))).toBe(code);
});

test("a binding may fix the length; it is checked", async () => {
  await using bench = await Bench.make();
  const tool = bench.bind(bindTime, { op: "sleep", seconds: "1m" });
  expect(await bench.call(tool, {})).toMatchObject({ until: bench.now + 60_000 });
  expect(problemsOf(bindTime, { op: "sleep", seconds: "soon" }, bench.around)).toHaveLength(1);
  expect(problemsOf(bindTime, { op: "now", seconds: 1 }, bench.around)).toHaveLength(1);
});
