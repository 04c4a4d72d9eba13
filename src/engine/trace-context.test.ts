// W3C Trace Context, header by header.

import { describe, expect, test } from "vitest";
import { readTrace } from "./trace-context.ts";

const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

describe("a traceparent", () => {
  test("is read as it is, without the space around it", () => {
    expect(readTrace({ traceparent: ` ${traceparent} ` })).toEqual({ traceparent });
  });

  test("of a later version may say more", () => {
    expect(readTrace({ traceparent: `cc${traceparent.slice(2)}-what-comes` })).toBeDefined();
    expect(readTrace({ traceparent: `cc${traceparent.slice(2)}` })).toBeDefined();
  });

  test.each([
    undefined,
    "",
    "00",
    traceparent.toUpperCase(),
    `${traceparent}-more`,
    `${traceparent}0`,
    `ff${traceparent.slice(2)}`,
    `cc${traceparent.slice(2)}.more`,
    traceparent.replaceAll(/(?<=00-)\w{32}/g, "0".repeat(32)),
    traceparent.replace("b7ad6b7169203331", "0000000000000000"),
    traceparent.replaceAll("-", "_"),
    traceparent.replace("0a", "0g"),
  ])("%s is none", (given) => {
    expect(readTrace({ traceparent: given })).toBeUndefined();
  });
});

describe("a tracestate", () => {
  const stateOf = (tracestate: string) => readTrace({ traceparent, tracestate })?.tracestate;

  test("is kept member by member, empty ones left out", () => {
    expect(stateOf("rojo=1, congo=t61rcWkgMzE ,,a@b=2")).toBe("rojo=1,congo=t61rcWkgMzE,a@b=2");
  });

  test.each([
    "",
    "rojo",
    "Rojo=1",
    "rojo=1,rojo=2",
    "rojo=a=b",
    "rojo=\u00e9",
    Array.from({ length: 33 }, (_, index) => `k${index}=1`).join(","),
    `rojo=${"x".repeat(257)}`,
    Array.from({ length: 3 }, (_, index) => `k${index}=${"x".repeat(200)}`).join(","),
  ])("%s is dropped whole, and the trace goes on", (given) => {
    expect(stateOf(given)).toBeUndefined();
    expect(readTrace({ traceparent, tracestate: given })).toEqual({ traceparent });
  });
});

test("baggage comes along up to its limit", () => {
  expect(readTrace({ traceparent, baggage: "a=1" })?.baggage).toBe("a=1");
  expect(readTrace({ traceparent, baggage: `a=${"x".repeat(8_192)}` })?.baggage).toBeUndefined();
  expect(readTrace({ traceparent: undefined, baggage: "a=1" })).toBeUndefined();
});
