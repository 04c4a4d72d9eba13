// Programs that embed packloop get the same protection: credentials are known by their form, other secrets by
// being named.

import { expect, test } from "vitest";
import type { TurnRow } from "../../src/core/facts.ts";
import { createEngine, type ModelPort } from "../../src/library/packloop.ts";
import { openPack } from "../../src/pack/pack.ts";

const text = `id: p
name: P
version: 1.0.0
template_engine: { version: v1, syntax: "{{variable}}" }
prompts:
  p: { id: p, name: P, version: 1.0.0, system_template: Go., tools: [look] }
`;

const mine = "Zm9vYmFyYmF6-1234567890-abcdefghij";
const issued = ["sk", "-ant-api03-", "Kq7ZxW3vTn9RbLm2YcPd5HsJ8fGaUeXi4VtQ"].join("");
const usage = { inputTokens: 0, outputTokens: 0, costUsd: 0 };

test("secrets stay out of journals and streams of an embedded engine", async () => {
  const pack = openPack(text, { file: "p.pack.yaml" });
  if (!pack.ok) throw pack.toError();
  const model: ModelPort = {
    async call({ messages }, { delta }) {
      const words = `I know ${mine} and ${issued}.`;
      for (const piece of words.match(/.{1,5}/g) ?? []) delta?.(piece);
      const isFirst = !messages.some(({ role }) => role === "tool");
      return { text: words, calls: isFirst ? [{ id: "1", tool: "look", args: {} }] : [], usage };
    },
  };
  let streamed = "";
  const look = async () => ({ found: mine, also: issued });
  const options = { model, tools: { look }, secrets: { MINE: mine } };
  await using engine = await createEngine({ ...options, onDelta: (delta) => void (streamed += delta.text) });
  const run = await engine.start(pack.program);
  const rows: TurnRow[] = [];
  for await (const row of run.follow()) rows.push(row);
  const journal = JSON.stringify(rows);
  for (const seen of [journal, streamed]) {
    expect(seen).toContain("I know [redacted MINE] and [redacted: an API key]");
    expect(seen).not.toContain(mine.slice(4, 20));
    expect(seen).not.toContain(issued.slice(-20));
  }
});
