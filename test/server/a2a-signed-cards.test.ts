// Cards that are signed: whoever has the public key can tell, by other people's code and by ours.

import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { type IncomingMessage, request } from "node:http";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import { AgentCard, canonicalizeAgentCard, verifyAgentCardSignature } from "@a2a-js/sdk";
import { createLocalJWKSet, exportJWK, exportPKCS8, flattenedVerify, generateKeyPair, importJWK } from "jose";
import { describe, expect, test } from "vitest";
import { canonical, type JsonObject } from "../../src/base/json.ts";
import { Fault } from "../../src/engine/ports.ts";
import { type CardKey, readCardKey } from "../../src/server/a2a/card-key.ts";
import { step } from "../adapter/a2a/bench.ts";
import { clientOf, servedDesk } from "./a2a-served.ts";
import type { Served } from "./served.ts";

const PLACE = "/a2a/desk/clerk/agent-card.json";

async function keyOf(alg: string, form: "jwk" | "pem"): Promise<CardKey> {
  const { privateKey } = await generateKeyPair(alg, { extractable: true });
  const text = form === "pem" ? await exportPKCS8(privateKey) : JSON.stringify(await exportJWK(privateKey));
  return readCardKey(text);
}

const cardOf = async (server: Served, place = PLACE): Promise<{ card: JsonObject; etag: string }> => {
  const response = await fetch(`${server.url}${place}`, { headers: { "a2a-version": "1.0" } });
  return { card: (await response.json()) as JsonObject, etag: response.headers.get("etag") ?? "" };
};

const keysOf = async (server: Served): Promise<{ keys: JsonObject[] }> =>
  (await (await fetch(`${server.url}/.well-known/jwks.json`)).json()) as { keys: JsonObject[] };

test.each([
  ["ES256", "jwk"],
  ["ES512", "pem"],
  ["EdDSA", "jwk"],
  ["RS256", "pem"],
] as const)("a card signed by %s from a %s verifies, and a changed one does not", async (alg, form) => {
  const server = await servedDesk({ a2aKey: await keyOf(alg, form) });
  const { card, etag } = await cardOf(server);
  const keys = await keysOf(server);
  expect(Object.keys(keys.keys[0] ?? {})).not.toContain("d");
  // RFC 8785 by hand: ours is canonical JSON with sorted names.
  const { signatures, ...said } = card as { signatures: [{ protected: string; signature: string }] };
  const payload = Buffer.from(canonicalizeAgentCard(AgentCard.fromJSON(card))).toString("base64url");
  expect(JSON.parse(Buffer.from(payload, "base64url").toString())).toMatchObject({
    name: said["name" as never],
  });
  expect(Buffer.from(payload, "base64url").toString()).toBe(
    canonical(JSON.parse(Buffer.from(payload, "base64url").toString()) as JsonObject),
  );
  const { protectedHeader } = await flattenedVerify(
    { ...signatures[0], payload },
    createLocalJWKSet(keys as never),
  );
  expect(protectedHeader).toMatchObject({ alg, typ: "JOSE", jku: `${server.url}/.well-known/jwks.json` });
  await verifyAgentCardSignature(async () => importJWK(keys.keys[0] as never, alg))(AgentCard.fromJSON(card));
  const changed = canonicalizeAgentCard(AgentCard.fromJSON({ ...card, description: "Pays bills." }));
  const forged = { ...signatures[0], payload: Buffer.from(changed).toString("base64url") };
  await expect(flattenedVerify(forged, createLocalJWKSet(keys as never))).rejects.toThrow(
    "verification failed",
  );
  expect((await cardOf(server)).etag).toBe(etag);
});

test("the extended card and the card of the default agent are signed as well, and our own client takes them", async () => {
  const server = await servedDesk({ a2aKey: await keyOf("EdDSA", "jwk") });
  const keys = await keysOf(server);
  const verify = verifyAgentCardSignature(async () => importJWK(keys.keys[0] as never, "EdDSA"));
  const client = await clientOf(server);
  const extended = await client.getAgentCard();
  await verify(extended);
  await verify(AgentCard.fromJSON((await cardOf(server, "/.well-known/agent-card.json")).card));
  const file = join(server.folder, "keys.json");
  writeFileSync(file, JSON.stringify(keys));
  const options = { card_key: file };
  const args = { query: "Please.", variables: { who: "Ada" } };
  expect(await step(`${server.url}/a2a/desk/clerk`, { options, args })).not.toMatchObject({ ok: false });
  writeFileSync(file, JSON.stringify({ keys: [(await keyOf("EdDSA", "jwk")).publicKey] }));
  expect(await step(`${server.url}/a2a/desk/clerk`, { options })).toMatchObject({ code: "bad_signature" });
});

test("nobody gets a signature for a card that leads to an address of another machine", async () => {
  const a2aKey = await keyOf("EdDSA", "jwk");
  const askedBy = async (server: Served, host: string): Promise<JsonObject> => {
    const asked = request(`${server.url}${PLACE}`, { headers: { host, "a2a-version": "1.0" } }).end();
    const [response] = (await once(asked, "response")) as [IncomingMessage];
    return (await json(response)) as JsonObject;
  };
  const server = await servedDesk({ a2aKey, hosts: ["agents.example"] });
  const foreign = await askedBy(server, "203.0.113.9");
  expect(JSON.stringify(foreign)).toContain("http://203.0.113.9/a2a/desk/clerk");
  expect(foreign).not.toHaveProperty("signatures");
  for (const host of ["agents.example", "localhost:7777", "[::1]:7777", "127.0.0.1"])
    expect(await askedBy(server, host)).toHaveProperty("signatures");
  const behind = await servedDesk({ a2aKey, publicUrl: "https://agents.example" });
  const card = await askedBy(behind, "203.0.113.9");
  expect(card).toHaveProperty("signatures");
  expect(JSON.stringify(card)).not.toContain("203.0.113.9");
});

test("without a key cards are not signed, and there is none to be had", async () => {
  const server = await servedDesk();
  expect((await cardOf(server)).card).not.toHaveProperty("signatures");
  expect((await fetch(`${server.url}/.well-known/jwks.json`)).status).toBe(404);
});

describe("what is no private key that can sign", () => {
  test.each([
    ["nothing", ""],
    ["no key", "hello"],
    ["JSON that is none", '{"kty":"oct","k":"c2VjcmV0"}'],
    ["JSON that is broken", '{"kty":'],
    ["a list", "[]"],
  ])("%s is refused without being shown", (_name, text) => {
    expect(() => readCardKey(text)).toThrow(Fault);
    expect(() => readCardKey(text)).toThrow(/^it is not a private key \(give/);
  });

  test("a public key is refused", async () => {
    const { publicKey } = await generateKeyPair("ES256", { extractable: true });
    const text = JSON.stringify(await exportJWK(publicKey));
    expect(() => readCardKey(text)).toThrow(/not a private key/);
  });
});
