// The table of formats.

import { expect, test } from "vitest";
import { formatNames, formats } from "./formats.ts";

test("every format has one name, in the order in which they are listed", () => {
  expect(Object.keys(formats)).toEqual([...formatNames]);
  expect(new Set(Object.values(formats)).size).toBe(formatNames.length);
});
