// `packloop view`: finds the server that has the store, or is one.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { served, temporaryFolder } from "../server/served.ts";
import { completed } from "../server/started-run.ts";

const bin = fileURLToPath(new URL("../../bin/packloop", import.meta.url));

function view(folder: string, ...args: readonly string[]) {
  const child = spawn(process.execPath, [bin, "view", ...args, "--no-open", "--store", "runs.db"], {
    cwd: folder,
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  return child;
}

test("serves the store itself when nobody does, prints where the run is, and stops when told", async () => {
  const folder = temporaryFolder();
  const server = await served({ folder });
  const run = await completed(server);
  await server.stop();
  const child = view(folder, `${run}@2`);
  let text = "";
  for await (const chunk of child.stdout) {
    text += String(chunk);
    if (text.includes("/r/")) break;
  }
  const url = /(http:\/\/\S+)\/r\/(\S+)\n/.exec(text);
  expect(url?.[2]).toBe(`${run}?turn=2`);
  const summary = await fetch(`${url?.[1]}/api/runs/${run}`);
  expect(summary.status).toBe(200);
  const ended = once(child, "exit");
  child.kill("SIGTERM");
  expect(await ended).toEqual([0, null]);
});

test("a run that is not there is an error, and nothing is served", async () => {
  const folder = temporaryFolder();
  const server = await served({ folder });
  await completed(server);
  await server.stop();
  const child = view(folder, "r_none");
  expect(await once(child, "exit")).toEqual([5, null]);
});
