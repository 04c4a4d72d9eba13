// Packs over HTTP: registered, listed, checked, run by their digest.

import { expect, test } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { ends, pack } from "./sample-pack.ts";
import { type Answer, served } from "./served.ts";
import { completed } from "./started-run.ts";

test("a registered pack is listed, shown with its proof, and run by its digest", async () => {
  const server = await served();
  const made = await server.post("/api/packs", { source: pack, file: "served.yaml" });
  expect(made.status).toBe(201);
  const { digest } = made.body as { digest: string };
  expect(made.body).toMatchObject({
    id: "served",
    version: "1.0.0",
    bound: { terminates: true, visits: 20 },
  });
  expect((await server.get("/api/packs")).body["items"]).toMatchObject([{ digest, file: "served.yaml" }]);
  const got = await server.get(`/api/packs/${encodeURIComponent(digest)}`);
  expect(got.body).toMatchObject({ digest, source: pack, program: { id: "served" } });
  const run = await server.post("/api/runs", { digest, variables: { task: "it" }, script: ends });
  expect([run.status, run.body["pack"]]).toEqual([201, { id: "served", version: "1.0.0", digest }]);
});

test("a pack with errors is refused with its diagnostics and not kept", async () => {
  const server = await served();
  const wrong = await server.post("/api/packs", { source: "id: [" });
  expect([wrong.status, wrong.body["code"]]).toEqual([422, "pack-invalid"]);
  expect(wrong.body["diagnostics"]).toMatchObject([{ severity: "error", file: "pack.yaml" }]);
  expect((await server.get("/api/packs")).body).toEqual({ items: [], next_cursor: null });
});

test("the pack of a run is shown by its digest although nobody registered it", async () => {
  const server = await served();
  const run = await completed(server);
  const { pack: used } = (await server.get(`/api/runs/${run}`)).body as { pack: { digest: string } };
  const got = await server.get(`/api/packs/${encodeURIComponent(used.digest)}`);
  expect(got.body).toMatchObject({ source: pack, registered_at: null });
  expect((await server.get("/api/packs/none")).body["code"]).toBe("unknown-pack");
});

test("packs come in pages, and stay registered when the server starts anew", async () => {
  const server = await served();
  for (const version of ["1.0.1", "1.0.2", "1.0.3"])
    await server.post("/api/packs", { source: pack.replace("version: 1.0.0", `version: ${version}`) });
  await server.stop();
  const next = await served({ folder: server.folder });
  const seen: string[] = [];
  let cursor = "";
  do {
    const { body } = await next.get(`/api/packs?limit=2${cursor}`);
    seen.push(...(body["items"] as JsonObject[]).map((one) => String(one["version"])));
    cursor = body["next_cursor"] === null ? "" : `&cursor=${String(body["next_cursor"])}`;
  } while (cursor !== "");
  expect(seen.toSorted()).toEqual(["1.0.1", "1.0.2", "1.0.3"]);
});

test("a check answers the document of the command line and keeps nothing", async () => {
  const server = await served();
  const good = await server.post("/api/check", { source: pack, file: "a.yaml" });
  expect(good.body).toMatchObject({ files: 1, errors: 0, bounds: { "a.yaml": { terminates: true } } });
  const bad = await server.post("/api/check", { source: pack.replace("Done: end", "Done: ende") });
  expect(bad.body).toMatchObject({ errors: 1, diagnostics: expect.arrayContaining([]) });
  expect((await server.get("/api/packs")).body["items"]).toEqual([]);
});

const tone = { folder: "tone", name: "tone", description: "", instructions: "Be kind.", resources: {} };
const skilled = `${pack}\nskills: [tone]\n`;
/** Findings about files that are not there. */
const lost = ({ body }: Answer) =>
  (body["diagnostics"] as readonly JsonObject[]).filter(({ code }) => code === "PP212");
const beside = { skills: { tone: [tone] } };

test("a pack carries what lies beside it: registered, started anew, and run by its digest", async () => {
  const server = await served();
  const bare = await server.post("/api/packs", { source: skilled });
  expect(lost(bare)).toMatchObject([{ severity: "warning", message: "skill path `tone` does not exist" }]);
  const made = await server.post("/api/packs", { source: skilled, beside });
  const { digest } = made.body as { digest: string };
  expect([made.status, lost(made)]).toEqual([201, []]);
  expect(digest).not.toBe(bare.body["digest"]);
  await server.stop();
  const next = await served({ folder: server.folder });
  const run = await next.post("/api/runs", { digest, variables: { task: "it" }, script: ends });
  expect([run.status, run.body["pack"]]).toMatchObject([201, { digest }]);
  const got = await next.get(`/api/packs/${encodeURIComponent(digest)}`);
  expect(got.body).toMatchObject({ program: { skillFiles: { tone: [tone] } } });
  expect(lost(got)).toEqual([]);
});

test("what lies beside a pack is refused where the pack does not name it, or it is no such thing", async () => {
  const server = await served();
  const start = (given: JsonObject) =>
    server.post("/api/runs", { pack: skilled, variables: { task: "it" }, script: ends, ...given });
  expect((await start({ beside })).status).toBe(201);
  const wrong: readonly JsonObject[] = [
    { beside: { skills: { tune: [tone] } } },
    { beside: { schemas: { "a.json": {} } } },
    { beside: { skills: { tone: [{ ...tone, name: 1 }] } } },
    { beside: { skills: { __proto__x: "y" } } },
    { beside: { schemas: [] } },
    { beside: { files: {} } },
  ];
  for (const given of wrong) {
    const { status, body } = await start(given);
    expect([status, body["code"]]).toEqual([400, "bad-request"]);
  }
  const { digest } = (await server.post("/api/packs", { source: skilled })).body;
  const both = await server.post("/api/runs", { digest, beside, variables: { task: "it" } });
  expect([both.status, both.body["code"]]).toEqual([400, "bad-request"]);
});
