import { expect, test } from "vitest";
import { readAddress } from "./address.ts";
import { Connections } from "./connections.ts";

test("what the driver would warn of is written as it means it", () => {
  for (const mode of ["prefer", "require", "verify-ca", "verify-full"])
    expect(readAddress(`postgres://me@db/x?sslmode=${mode}`).url).toBe(
      "postgres://me@db/x?sslmode=verify-full",
    );
  for (const mode of ["disable", "no-verify"])
    expect(readAddress(`postgres://me@db/x?sslmode=${mode}`).url).toBe(`postgres://me@db/x?sslmode=${mode}`);
  const libpq = "postgres://me@db/x?sslmode=require&uselibpqcompat=true";
  expect(readAddress(libpq).url).toBe(libpq);
});

test("settings of the address come first, so that they do not move the tables", () => {
  const { url, schema, options } = readAddress(
    "postgres://me@db/x?schema=ours&options=-c%20search_path%3Dpublic",
  );
  expect([url, schema]).toEqual(["postgres://me@db/x", "ours"]);
  expect(options).toMatch(/^-c search_path=public -c search_path=ours -c synchronous_commit=on /);
});

test("a socket may be named as libpq has it, without a host", () => {
  expect(readAddress("postgresql://me@/x?host=/run/pg").url).toBe(
    "postgresql://me@localhost/x?host=%2Frun%2Fpg",
  );
});

test("a password that was not encoded is refused, and not told", () => {
  for (const password of ["a@/secret", "12/secret"])
    expect(() => readAddress(`postgres://me:${password}@db/x`)).toThrow(/^(?!.*secret).* write @ as %40/);
});

test.for(["abc", "0", "99999999"])(
  "a port that is none, %s, is refused before anybody waits for it",
  async (port) => {
    const terms = { connections: 1, outageMs: 0, answerMs: 1_000 };
    const opened = Connections.open({ address: readAddress(`postgres://me@db/x?port=${port}`), ...terms });
    await expect(opened).rejects.toMatchObject({ code: "store-address" });
  },
);
