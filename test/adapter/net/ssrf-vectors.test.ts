// Requests to places that are not the public internet, in every spelling: none leaves. A server listens on the
// addresses of this machine; that nothing reached it is what counts, the refusal's code comes second.

import { expect, test } from "vitest";
import { type GuardedRequest, guardedRequest } from "../../../src/adapter/net/guarded-request.ts";
import type { Address, Resolve } from "../../../src/adapter/net/net-rules.ts";
import { testServer } from "../test-server.ts";

/** Literal addresses and URLs; PORT is where the server listens. */
const LITERALS: readonly string[] = [
  "http://127.0.0.1:PORT/",
  "http://127.0.0.1.:PORT/",
  "http://127.1:PORT/",
  "http://127.0.1:PORT/",
  "http://2130706433:PORT/",
  "http://2130706433.:PORT/",
  "http://0x7f000001:PORT/",
  "http://0x7f.0.0.1:PORT/",
  "http://0x7f.1:PORT/",
  "http://0X7F.0X0.0X0.0X1:PORT/",
  "http://017700000001:PORT/",
  "http://0177.0.0.1:PORT/",
  "http://0177.0x0.0.01:PORT/",
  "http://00000177.0.0.1:PORT/",
  "http://127.255.255.254:PORT/",
  "http://127.0.0.1%2e:PORT/",
  "http://%31%32%37.0.0.1:PORT/",
  "http://①②⑦.⓪.⓪.①:PORT/",
  "http://127。0。0。1:PORT/",
  "http://１２７.０.０.１:PORT/",
  "http:127.0.0.1:PORT/",
  "http:\\\\127.0.0.1:PORT\\",
  "http:////127.0.0.1:PORT/",
  " http://127.0.0.1:PORT/ ",
  "ht\ntp://127.0.0.1:PORT/",
  "http://0:PORT/",
  "http://0.0.0.0:PORT/",
  "http://0x0:PORT/",
  "http://[::]:PORT/",
  "http://[::1]:PORT/",
  "http://[0:0:0:0:0:0:0:1]:PORT/",
  "http://[0000:0000:0000:0000:0000:0000:0000:0001]:PORT/",
  "http://[::ffff:127.0.0.1]:PORT/",
  "http://[::ffff:7f00:1]:PORT/",
  "http://[0:0:0:0:0:ffff:127.0.0.1]:PORT/",
  "http://[::127.0.0.1]:PORT/",
  "http://[::ffff:0:127.0.0.1]:PORT/",
  "http://[64:ff9b::127.0.0.1]:PORT/",
  "http://[64:ff9b::7f00:1]:PORT/",
  "http://[64:ff9b::a9fe:a9fe]/",
  "http://[64:ff9b:1::7f00:1]:PORT/",
  "http://[2002:7f00:1::]:PORT/",
  "http://[2002:a9fe:a9fe::1]/",
  "http://[2001:0:7f00:1::]/",
  "http://[fe80::1]/",
  "http://[fec0::1]/",
  "http://[fc00::1]/",
  "http://[fd00:ec2::254]/latest/meta-data/",
  "http://[ff02::1]/",
  "http://[100::1]/",
  "http://[2001:db8::1]/",
  "http://[3fff::1]/",
  "http://[5f00::1]/",
  "http://169.254.169.254/latest/meta-data/",
  "http://2852039166/latest/meta-data/",
  "http://0xa9fea9fe/",
  "http://0251.0376.0251.0376/",
  "http://169.254.43518/",
  "http://[::ffff:169.254.169.254]/",
  "http://10.0.0.1/",
  "http://012.1.2.3/",
  "http://172.16.0.1/",
  "http://172.31.255.255/",
  "http://192.168.1.1/",
  "http://100.64.0.1/",
  "http://100.100.100.200/",
  "http://168.63.129.16/",
  "http://192.0.0.192/",
  "http://192.0.2.1/",
  "http://198.18.0.1/",
  "http://198.51.100.7/",
  "http://203.0.113.9/",
  "http://192.88.99.1/",
  "http://224.0.0.1/",
  "http://239.255.255.250:1900/",
  "http://240.0.0.1/",
  "http://255.255.255.255/",
  "http://localhost:PORT/",
  "http://localhost.:PORT/",
  "http://LOCALHOST:PORT/",
  "http://ⓛⓞⓒⓐⓛⓗⓞⓢⓣ:PORT/",
  "http://user:word@127.0.0.1:PORT/",
  "http://example.org@127.0.0.1:PORT/",
  "http://127.0.0.1:PORT#@example.org/",
  "file:///etc/passwd",
  "ftp://127.0.0.1:PORT/",
  "gopher://127.0.0.1:PORT/_GET%20/",
  "data:text/plain,hello",
  "blob:http://127.0.0.1:PORT/x",
  "//127.0.0.1:PORT/",
  "http://",
  "http://[::1%25lo]:PORT/",
  "http://256.256.256.256:PORT/",
];

const address = (text: string): Address => ({ address: text, family: text.includes(":") ? 6 : 4 });

/** What a name server could say about a name that looks harmless. */
const NAMES: readonly (readonly string[])[] = [
  ["127.0.0.1"],
  ["::1"],
  ["::ffff:127.0.0.1"],
  ["0.0.0.0"],
  ["10.1.2.3"],
  ["169.254.169.254"],
  ["fd00:ec2::254"],
  ["fe80::1%lo"],
  ["64:ff9b::7f00:1"],
  ["93.184.215.14", "127.0.0.1"],
  ["2606:2800:21f:cb07:6820:80da:af6b:8b2c", "::1"],
  ["localhost"],
];

const quick = (url: string, more: Partial<GuardedRequest> = {}): GuardedRequest => ({
  url,
  method: "GET",
  headers: {},
  rules: {},
  timeoutMs: 30_000,
  signal: new AbortController().signal,
  ...more,
});

test("there are at least 80 vectors", () => {
  expect(new Set(LITERALS).size + NAMES.length).toBeGreaterThanOrEqual(80);
});

test.each(LITERALS)("nothing is sent to %j", async (url) => {
  const server = await testServer((_request, response) => response.end("reached"));
  const answer = await guardedRequest(quick(url.replace("PORT", String(server.port))));
  expect(answer).toMatchObject({ ok: false });
  expect(server.requests).toEqual([]);
});

test.each(NAMES)("nothing is sent to a name that is %s", async (...addresses) => {
  const server = await testServer((_request, response) => response.end("reached"));
  const resolve: Resolve = async () => addresses.map(address);
  const answer = await guardedRequest(quick(`http://harmless.example:${server.port}/`, { resolve }));
  expect(answer).toMatchObject({ ok: false, code: "address_refused" });
  expect(server.requests).toEqual([]);
});

test.each(LITERALS.filter((url) => url !== "//127.0.0.1:PORT/"))(
  "no redirect leads to %j",
  async (location) => {
    const inner = await testServer((_request, response) => response.end("reached"));
    const outer = await testServer((_request, response) => {
      response.writeHead(302, {
        location: encodeURI(location.replace("PORT", String(inner.port))).replaceAll("%25", "%"),
      });
      response.end();
    });
    const answer = await guardedRequest(
      quick(`${outer.url}/start`, { rules: { allowPrivate: [outer.place] } }),
    );
    expect(answer).toMatchObject({ ok: false });
    expect(inner.requests).toEqual([]);
  },
);

test("a name that changes between the check and the connection still leads to the checked address", async () => {
  const first = await testServer((_request, response) => response.end("checked"), { listenOn: "127.0.0.1" });
  let asked = 0;
  // Allowed by name, so that the check passes; the second answer would be another machine.
  const resolve: Resolve = async () => [address(asked++ === 0 ? "127.0.0.1" : "127.0.0.2")];
  const place = `rebind.example:${first.port}`;
  const answer = await guardedRequest(
    quick(`http://${place}/`, { resolve, rules: { allowPrivate: [place] } }),
  );
  expect(answer).toMatchObject({ ok: true, status: 200 });
  expect(asked).toBe(1);
});

test("a name that turns private at the second look, after a redirect, is refused there", async () => {
  const server = await testServer((_request, response) => {
    response.writeHead(302, { location: `http://rebind.example:${server.port}/inner` });
    response.end();
  });
  let asked = 0;
  const resolve: Resolve = async () => {
    asked += 1;
    return [address("127.0.0.1")];
  };
  const answer = await guardedRequest(
    quick(`${server.url}/`, { resolve, rules: { allowPrivate: [server.place] } }),
  );
  expect(answer).toMatchObject({ ok: false, code: "address_refused" });
  expect(asked).toBe(1);
  expect(server.requests).toHaveLength(1);
});

test("an exception is for its host and port only", async () => {
  const one = await testServer((_request, response) => response.end("one"));
  const other = await testServer((_request, response) => response.end("other"));
  const rules = { allowPrivate: [one.place] };
  expect(await guardedRequest(quick(one.url, { rules }))).toMatchObject({ ok: true });
  expect(await guardedRequest(quick(other.url, { rules }))).toMatchObject({ code: "address_refused" });
  expect(await guardedRequest(quick(`http://localhost:${one.port}`, { rules }))).toMatchObject({
    code: "address_refused",
  });
});

test.each(["8.8.8.8", "1.1.1.1", "172.32.0.1", "2606:4700::1111", "64:ff9b::808:808", "198.20.0.1"])(
  "%s is a public address",
  async (text) => {
    const { blockedReason } = await import("../../../src/adapter/net/blocked-address.ts");
    expect(blockedReason(text)).toBeUndefined();
  },
);
