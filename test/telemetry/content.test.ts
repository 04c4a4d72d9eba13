// What was said leaves only on request, and secrets never.

import { afterEach, describe, expect, test } from "vitest";
import { noSettings } from "../../src/host/run-settings.ts";
import { createEngine } from "../../src/library/packloop.ts";
import { served } from "../server/served.ts";
import { exportedHere } from "./exported.ts";
import { ends, looping, text } from "./looping-pack.ts";

const collector = exportedHere();
/** Given as a secret, and one that is known by its form. */
const CANARY = "canary-5f1d8c07e2";
const LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
const drawn = Array.from({ length: 93 }, (_, index) => LETTERS[(index * index * 37 + index * 11) % 61]);
const KEY = `sk-ant-api03-${drawn.join("")}AA`;

afterEach(() => {
  delete process.env["PACKLOOP_OTEL_CONTENT"];
});

/** Secrets in a variable, in what the model says, in arguments, in a result and in an error. */
async function talked(): Promise<string> {
  await using engine = await createEngine({
    secrets: { TOKEN: CANARY },
    model: {
      script: {
        states: {
          ...ends,
          work: [
            { text: `said ${CANARY}`, calls: [{ tool: "look", args: { where: `in ${CANARY}` } }] },
            { calls: [{ tool: "look", args: { where: "nowhere" } }] },
            { event: "Done" },
          ],
        },
      },
    },
    tools: {
      look: async (args) => {
        if ((args as { where: string }).where === "nowhere") throw new Error(`not with ${CANARY}`);
        return { found: `${CANARY} and ${KEY} in the drawer` };
      },
    },
  });
  const run = await engine.start(looping(), { variables: { task: `tides with ${CANARY}` } });
  expect((await run.result()).status).toBe("completed");
  return run.id;
}

const contentOf = (attributes: Readonly<Record<string, unknown>>): readonly string[] =>
  Object.keys(attributes).filter((key) =>
    /messages|instructions|tool\.call\.(arguments|result)|definitions/.test(key),
  );

describe("what was said", () => {
  test("stays here unless it is asked for", async () => {
    const run = await talked();
    const spans = await collector().segments(run, 1);
    expect(spans.length).toBeGreaterThan(6);
    expect(spans.flatMap(({ attributes }) => contentOf(attributes))).toEqual([]);
    for (const word of ["tides", "drawer", "nowhere", "Goodbye", CANARY, KEY])
      expect(collector().text()).not.toContain(word);
  });

  test("leaves in the conventions' form when it is, without secrets", async () => {
    process.env["PACKLOOP_OTEL_CONTENT"] = "1";
    const run = await talked();
    const spans = await collector().segments(run, 1);
    const ofStep = (step: number) =>
      spans.find(({ attributes }) => attributes["packloop.step"] === step)?.attributes ?? {};
    const json = (value: unknown) => JSON.parse(String(value)) as unknown;
    const hidden = "[redacted TOKEN]";
    expect(json(ofStep(1)["gen_ai.system_instructions"])).toEqual([
      { type: "text", content: `Do tides with ${hidden}.` },
    ]);
    expect(json(ofStep(1)["gen_ai.output.messages"])).toEqual([
      {
        role: "assistant",
        parts: [
          { type: "text", content: `said ${hidden}` },
          { type: "tool_call", id: "1.1", name: "look", arguments: { where: `in ${hidden}` } },
        ],
        finish_reason: "tool_call",
      },
    ]);
    expect(json(ofStep(2)["gen_ai.tool.call.arguments"])).toEqual({ where: `in ${hidden}` });
    expect(String(ofStep(2)["gen_ai.tool.call.result"])).toMatch(
      /^\{"found":"\[redacted TOKEN\] and \[redacted/,
    );
    const messages = json(ofStep(3)["gen_ai.input.messages"]) as { role: string; parts: unknown[] }[];
    expect(messages.at(-1)).toMatchObject({
      role: "tool",
      parts: [
        { type: "tool_call_response", id: "1.1", response: { found: expect.stringContaining(hidden) } },
      ],
    });
    const failed = spans.find(({ message }) => message !== "");
    expect(failed?.message).toBe(`not with ${hidden}`);
    expect(collector().text()).not.toContain(CANARY);
    expect(collector().text()).not.toContain(KEY);
  });

  test("leaves a server where its settings say so", async () => {
    const settings = { ...noSettings("."), telemetry: { content: true } };
    const server = await served({ settings });
    const script = { states: { ...ends, work: [{ event: "Done" }] } };
    const { body } = await server.post("/api/runs", { pack: text, variables: { task: "moorings" }, script });
    const spans = await collector().segments(String(body["run"]), 1);
    expect(JSON.stringify(spans.map(({ attributes }) => attributes))).toContain("Do moorings.");
  });
});
