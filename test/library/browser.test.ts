// `packloop/pack` is pure: bundled, it runs where there is no Node.

import { fileURLToPath } from "node:url";
import vm from "node:vm";
import { rolldown } from "rolldown";
import { beforeAll, expect, test } from "vitest";
import { openPack } from "../../src/pack/open-pack.ts";

const good = `id: tick
name: Tick
version: 1.0.0
template_engine: { version: v1, syntax: "{{variable}}" }
prompts:
  p: { id: p, name: P, version: 1.0.0, system_template: Emit Again. }
workflow:
  version: 2
  entry: tick
  states:
    tick: { prompt_task: p, max_visits: 5, on_max_visits: sum, on_event: { Again: tick } }
    sum: { prompt_task: p, terminal: true }
`;

let bundle = "";
let imports: readonly string[] = [];

beforeAll(async () => {
  const input = fileURLToPath(new URL("../../src/pack/pack.ts", import.meta.url));
  const built = await rolldown({ input, platform: "browser", logLevel: "silent" });
  const { output } = await built.generate({ format: "iife", name: "packloopPack" });
  bundle = output[0].code;
  imports = [...output[0].imports, ...output[0].dynamicImports];
});

function inBrowser<T>(expression: string): T {
  // Only what every browser has beside the language itself.
  const context = vm.createContext({ TextEncoder, TextDecoder });
  vm.runInContext(bundle, context);
  return JSON.parse(vm.runInContext(`JSON.stringify(${expression})`, context) as string) as T;
}

test("the bundle asks for nothing of Node", () => {
  expect(imports).toEqual([]);
  expect(bundle).not.toMatch(/\brequire\(|["']node:/);
});

test("it opens a pack and proves its bound without Node", () => {
  const opened = inBrowser<{ ok: boolean; digest: string; visits: number }>(
    `(() => { const p = packloopPack.openPack(${JSON.stringify(good)}); return { ok: p.ok, digest: p.digest, visits: p.bound.visits }; })()`,
  );
  const here = openPack(good);
  expect(opened).toEqual({ ok: true, digest: here.ok && here.digest, visits: 6 });
});

test("it reports the same findings as here", () => {
  const bad = good.replace("Again: tick }", "Again: tok }");
  const there = inBrowser<unknown>(`packloopPack.openPack(${JSON.stringify(bad)}).diagnostics`);
  expect(there).toEqual(JSON.parse(JSON.stringify(openPack(bad).diagnostics)));
});
