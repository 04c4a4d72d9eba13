// Notices: signed, the same for every attempt, and sent until somebody has heard.

import { Webhook } from "standardwebhooks";
import { describe, expect, onTestFinished, test } from "vitest";
import { bindNotify } from "../../../src/adapter/tool/notify/bind-notify.ts";
import type { JsonObject } from "../../../src/base/json.ts";
import type { Later, ToolAnswer } from "../../../src/engine/ports.ts";
import { bodyOf, testServer } from "../test-server.ts";
import { Bench, codeOf, problemsOf, valueOf } from "./fs-bench.ts";

const SECRET = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;

/** Answers with these statuses in turn, the last one for ever; 0 cuts the line. */
async function scene(statuses: readonly number[], options: JsonObject = {}) {
  const bodies: string[] = [];
  const server = await testServer(async (request, response) => {
    const status = statuses[Math.min(bodies.length, statuses.length - 1)] ?? 200;
    bodies.push(await bodyOf(request));
    if (status === 0) response.destroy();
    else response.writeHead(status, status === 429 ? { "retry-after": "600" } : {}).end("ok");
  });
  const bench = await Bench.make({}, { HOOK_SECRET: SECRET, HOOK_URL: `${server.url}/hook` });
  onTestFinished(() => bench[Symbol.asyncDispose]());
  const webhook = { op: "webhook", url: `${server.url}/hook`, secret_env: "HOOK_SECRET" };
  const tool = bench.bind(bindNotify, options["op"] === "slack" ? options : { ...webhook, ...options });
  const call = (args: JsonObject, handle?: Later["handle"]) =>
    bench.call(tool, args, { step: 4, ...(handle !== undefined && { handle }) });
  return { bench, server, bodies, tool, call };
}

const laterOf = (answer: ToolAnswer): Later => {
  expect(answer).toHaveProperty("deferred");
  return answer as Later;
};

describe("a webhook", () => {
  test("verifies with the library of the standard, and says where it is from", async () => {
    const { call, server, bodies, bench } = await scene([200]);
    bench.now = Date.now();
    const answer = await call({ message: "Disk is full.", subject: "Alarm", data: { disk: 3 } });
    expect(valueOf(answer)).toEqual({ sent: true, id: "r_1/4", attempts: 1 });
    const [text = ""] = bodies;
    const headers = server.requests[0]?.headers as Record<string, string>;
    expect(headers["webhook-id"]).toBe("r_1/4");
    expect(new Webhook(SECRET).verify(text, headers)).toMatchObject({
      type: "run.notice",
      data: { run: "r_1", step: 4, state: "work", text: "Disk is full.", title: "Alarm", data: { disk: 3 } },
    });
    expect(() => new Webhook(SECRET).verify(`${text} `, headers)).toThrow("No matching signature");
  });

  test("that is not taken waits longer and longer, and is the same each time", async () => {
    const { call, bodies, server, bench } = await scene([503, 0, 429, 200]);
    const pauses: number[] = [];
    let answer = await call({ text: "Hello." });
    while ("deferred" in answer) {
      const { until = 0, handle } = laterOf(answer);
      pauses.push(until - bench.now);
      bench.now = until;
      answer = await call({ text: "Hello." }, handle);
    }
    expect(valueOf(answer)).toMatchObject({ attempts: 4 });
    expect(pauses).toEqual([5_000, 60_000, 600_000]);
    expect(new Set(bodies).size).toBe(1);
    expect(new Set(server.requests.map(({ headers }) => headers["webhook-id"])).size).toBe(1);
  });

  test("that is turned away slowly still is the same the next time", async () => {
    const texts: string[] = [];
    const bench = await Bench.make({}, { HOOK_SECRET: SECRET });
    onTestFinished(() => bench[Symbol.asyncDispose]());
    const server = await testServer(async (request, response) => {
      texts.push(await bodyOf(request));
      bench.now += 7_000;
      response.writeHead(texts.length === 1 ? 503 : 200).end();
    });
    const options = { op: "webhook", url: server.url, secret_env: "HOOK_SECRET" };
    const tool = bench.bind(bindNotify, options);
    const { handle } = laterOf(await bench.call(tool, { text: "Hello." }, { step: 4 }));
    const again = await bench.call(
      tool,
      { text: "Hello." },
      { step: 4, ...(handle !== undefined && { handle }) },
    );
    expect(valueOf(again)).toMatchObject({ attempts: 2 });
    expect(texts).toEqual([texts[0], texts[0]]);
  });

  test("is given up when its time is over, and at once where it is refused or leads elsewhere", async () => {
    const never = await scene([500], { give_up: 30 });
    const first = laterOf(await never.call({ text: "x" }));
    never.bench.now = first.until ?? 0;
    const second = await never.call({ text: "x" }, first.handle);
    expect(codeOf(second)).toBe("unreachable");
    for (const status of [404, 410, 302]) {
      const { call, bodies } = await scene([status]);
      expect(codeOf(await call({ text: "x" }))).toBe(`http_${status}`);
      expect(bodies).toHaveLength(1);
    }
  });

  test("leaves only with a secret, and only if it is small", async () => {
    const { call, bench, bodies, tool } = await scene([200]);
    expect([tool.tier, tool.safe]).toEqual(["egress", true]);
    expect(codeOf(await call({ text: "x".repeat(20_001) }))).toBe("too_large");
    expect(codeOf(await call({}))).toBe("bad_arguments");
    for (const secret of ["", "hello", "whsec_AAAA"]) {
      bench.env["HOOK_SECRET"] = secret;
      expect(codeOf(await call({ text: "x" }))).toBe("not_configured");
    }
    expect(bodies).toEqual([]);
  });
});

describe("a message of Slack", () => {
  const slack = { op: "slack", url_env: "HOOK_URL" };

  test("shows what a model wrote and mentions nobody", async () => {
    const { call, bodies, tool } = await scene([200], slack);
    expect(tool.safe).toBe(false);
    await call({ title: "A & B", text: "<!channel> see <https://evil.example|here>" });
    const { text } = JSON.parse(bodies[0] ?? "") as { text: string };
    expect(text).toBe("*A &amp; B*\n&lt;!channel&gt; see &lt;https://evil.example|here&gt;\n_run r_1, work_");
  });

  test("that may have been shown is in doubt, and one that was turned away is sent later", async () => {
    const cut = await scene([0], slack);
    await expect(cut.call({ text: "x" })).rejects.toMatchObject({ name: "Fault", retry: "unknown" });
    const busy = await scene([429, 200], slack);
    const { handle } = laterOf(await busy.call({ text: "x" }));
    expect(valueOf(await busy.call({ text: "x" }, handle))).toMatchObject({ attempts: 2 });
  });

  test("needs its address", async () => {
    const { call, bench } = await scene([200], slack);
    bench.env["HOOK_URL"] = "";
    expect(codeOf(await call({ text: "x" }))).toBe("not_configured");
  });
});

test.each<[JsonObject, string]>([
  [{ url: "https://x", secret_env: "S" }, "op"],
  [{ op: "webhook", secret_env: "S" }, "one of `url` and `url_env`"],
  [{ op: "webhook", url: "https://x", url_env: "U", secret_env: "S" }, "one of `url` and `url_env`"],
  [{ op: "webhook", url: "https://x" }, "`secret_env` is missing"],
  [{ op: "webhook", url: "ftp://x", secret_env: "S" }, "is not an http or https address"],
  [{ op: "slack", url: "https://hooks.slack.example/x" }, "is a secret"],
  [{ op: "slack", url_env: "U", give_up: "8d" }, "give_up"],
])("%j is wrong, and where", async (options, problem) => {
  await using bench = await Bench.make();
  expect(problemsOf(bindNotify, options, bench.around)).toContainEqual(expect.stringContaining(problem));
});
