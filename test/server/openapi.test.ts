// The document of the API, judged by somebody else's linter.

import { createConfig, lintFromString } from "@redocly/openapi-core";
import { expect, test } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { allRoutes } from "../../src/server/routes.ts";
import { document, served } from "./served.ts";

async function lint(text: string): Promise<readonly string[]> {
  const config = await createConfig({ extends: ["recommended-strict"] });
  const problems = await lintFromString({ source: text, config });
  return problems.map(
    ({ ruleId, message, location }) => `${ruleId} ${message} ${location[0]?.pointer ?? ""}`,
  );
}

test("the document has no problem that an independent linter knows", async () => {
  expect(await lint(JSON.stringify(document))).toEqual([]);
});

test("the linter would find one", async () => {
  const broken = JSON.stringify(document).replaceAll(
    "#/components/schemas/Summary",
    "#/components/schemas/None",
  );
  expect((await lint(broken)).length).toBeGreaterThan(0);
  expect(await lint(JSON.stringify(document).replace('"startRun"', '"listRuns"'))).toHaveLength(1);
});

test("it is OpenAPI 3.1 and served as it is", async () => {
  const server = await served();
  const { body } = await server.get("/openapi.json");
  expect(body["openapi"]).toBe("3.1.0");
  expect(body).toEqual(document);
});

test("as OpenAPI 3.2 it says what the events of a stream are", async () => {
  const server = await served();
  const { body } = await server.get("/openapi.json?version=3.2");
  expect(body["openapi"]).toBe("3.2.0");
  const paths = body["paths"] as Record<string, { get: { responses: JsonObject } }>;
  for (const path of ["/api/runs/{id}/stream", "/api/stream"])
    expect(paths[path]?.get.responses["200"]).toMatchObject({
      content: { "text/event-stream": { itemSchema: { properties: { event: { type: "string" } } } } },
    });
  expect(await lint(JSON.stringify(body))).toEqual([]);
  expect((await server.get("/openapi.json?version=4")).status).toBe(400);
});

test("it names every route once, with its scope, and refers to nothing outside itself", () => {
  const routes = allRoutes();
  const ids = routes.map(({ name }) => name);
  expect(new Set(ids).size).toBe(ids.length);
  const paths = document["paths"] as Record<string, Record<string, { description: string }>>;
  for (const { path, method, scope } of routes) {
    const described = paths[path]?.[method]?.description ?? "";
    expect(described).toContain(scope === null ? "" : `\`${scope}\``);
  }
  const refs = JSON.stringify(document).matchAll(/"\$ref":"([^"]*)"/g);
  expect([...refs].filter(([, ref]) => !ref?.startsWith("#/"))).toEqual([]);
});
