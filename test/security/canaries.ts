// Secrets that are planted to be found: values that a configuration makes known, and credentials that are known
// by their form only. They are put together at run time, so that no scanner takes this file for a leak.

import { crc32 } from "node:zlib";

/** Environment variables of the process, and values that nobody may see. */
export const KNOWN: Readonly<Record<string, string>> = Object.fromEntries(
  [
    ...["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GOOGLE_GENERATIVE_AI_API_KEY", "GEMINI_API_KEY"],
    ...["AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "GITHUB_TOKEN", "NPM_TOKEN", "HF_TOKEN", "PGPASSWORD"],
    ...["LOCAL_KEY", "MODEL_HEADER", "OTHER_MODEL_KEY", "POST_TOKEN", "POST_HEADER", "PAGE_TOKEN"],
    ...["OWN_TOKEN", "EXEC_SECRET", "PROC_PASSWORD", "LISTED_SECRET", "MULTI_WORD"],
  ].map((name, index) => [name, `${"Kq7Zx".repeat(2)}.${name.toLowerCase()}/${(index + 17) * 104_729}+v`]),
);

/** The password within is a secret of its own. */
export const DB_PASSWORD = "p4ss+of/the.books-8841";
export const databaseUrl = (port: number): string =>
  `postgres://reader:${encodeURIComponent(DB_PASSWORD)}@127.0.0.1:${port}/books`;

const letters = "q8Zr4Wt1Ym6Kc3Hs9Bv2Nd7Lf5Gx0Jp8Ra6Te4UiOo1EyCwQzXk3Mn5Vb7Ds9";

function withChecksum(prefix: string): string {
  const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
  const body = letters.slice(0, 30);
  let rest = crc32(body);
  let sum = "";
  for (let index = 0; index < 6; index++, rest = Math.floor(rest / 62)) sum = (digits[rest % 62] ?? "") + sum;
  return prefix + body + sum;
}

const encoded = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");

/** What is secret in a text that only its form gives away, with the text. */
export const FORMED: readonly { readonly secret: string; readonly text: string }[] = [
  ["sk", "-ant-api03-", letters.slice(0, 40)].join(""),
  ["sk", "-proj-", letters.slice(3, 43)].join(""),
  ["AI", "za", letters.slice(0, 35)].join(""),
  ["sk", "_live_", letters.slice(5, 30)].join(""),
  withChecksum(["gh", "p_"].join("")),
  withChecksum(["np", "m_"].join("")),
  ["xo", "xb-", letters.slice(2, 40)].join(""),
  [
    "ey",
    "J",
    encoded({ alg: "HS256", typ: "JWT" }).slice(3),
    ".",
    encoded({ sub: "eve" }),
    ".",
    letters.slice(0, 43),
  ].join(""),
]
  .map((secret) => ({ secret, text: `it is ${secret} now` }))
  .concat({ secret: letters.slice(7, 29), text: `password = ${letters.slice(7, 29)} ;` });

/** Every secret as text, the ones that are known in several codings. */
export const LEAK = [
  ...Object.entries(KNOWN).map(([name, value]) => `${name}=${value}`),
  ...Object.values(KNOWN).map((value) => `https://x.example/?k=${encodeURIComponent(value)}`),
  ...Object.values(KNOWN).map((value) => Buffer.from(`user:${value}`).toString("base64")),
  ...Object.values(KNOWN).map((value) => JSON.stringify(JSON.stringify({ value }))),
  `login by ${databaseUrl(5432)} failed`,
  `the password ${DB_PASSWORD} is wrong`,
  ...FORMED.map(({ text }) => text),
].join("\n");

/** Names of secrets that a text holds, in any of the codings. */
export function leaksIn(text: string): readonly string[] {
  const known = Object.entries({ ...KNOWN, DB_PASSWORD }).filter(([, value]) =>
    [
      ...[value, encodeURIComponent(value), JSON.stringify(value).slice(1, -1)],
      // However the text around it is aligned, the middle of a value stands in base 64 as one of three.
      ...[0, 1, 2].map((before) =>
        Buffer.from("x".repeat(before) + value)
          .toString("base64")
          .slice(4, -4),
      ),
    ].some((form) => text.includes(form)),
  );
  const formed = FORMED.filter(({ secret }) => text.includes(secret));
  return [...known.map(([name]) => name), ...formed.map(({ secret }) => secret.slice(0, 8))];
}
