// Packs over HTTP: registered, listed, checked, run by their digest.

import { expect, test } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { ends, pack } from "./sample-pack.ts";
import { served } from "./served.ts";
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
