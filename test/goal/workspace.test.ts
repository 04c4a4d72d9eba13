// The files of a run: never changed in place, never outside, and gone without harm.

import {
  cpSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../src/base/json.ts";
import { Workspace } from "../../src/goal-plugin/workspace.ts";
import { LoopHost, onlyEvent } from "./loop-host.ts";
import { actTurn, doneTurn, firstTurn, worked } from "./scripted-turns.ts";

/** As gen-1 makes the folder of a child: every file is a link to the parent's. */
function linked(from: string, to: string): string {
  mkdirSync(to, { recursive: true });
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    if (entry.isDirectory()) linked(join(from, entry.name), join(to, entry.name));
    else linkSync(join(from, entry.name), join(to, entry.name));
  }
  return to;
}

function filesIn(folder: string, under = ""): readonly { path: string; inode: number; text: string }[] {
  return readdirSync(join(folder, under), { withFileTypes: true }).flatMap((entry) => {
    const path = join(under, entry.name);
    if (entry.isDirectory()) return filesIn(folder, path);
    return [
      { path, inode: statSync(join(folder, path)).ino, text: readFileSync(join(folder, path), "utf8") },
    ];
  });
}

test("W1: in folders that share their files by links no ancestor's file ever changes", async () => {
  const turns = [firstTurn(), actTurn(), actTurn(), actTurn(), doneTurn()];
  const host = new LoopHost(turns);
  const folders = [0, 1, 2, 3, 4].map((hop) => join(host.folder, `hop-${hop}`));
  let request = onlyEvent(await host.start(undefined, { workspaceDir: folders[0] as string }));
  const before = new Map<string, ReturnType<typeof filesIn>>();
  for (let hop = 1; hop < 5; hop++) {
    const [from, to] = [folders[hop - 1] as string, folders[hop] as string];
    before.set(from, filesIn(from));
    request = onlyEvent(
      await host.answer(request, { content: String(hop) }, { workspaceDir: linked(from, to) }),
    );
  }
  expect(request.type).toBe("agent.completed");
  for (const [folder, files] of before) expect(filesIn(folder)).toEqual(files);
  const last = filesIn(folders[4] as string)
    .map(({ path }) => path)
    .sort();
  expect(last).toEqual([
    ...[1, 2, 3, 4].map((step) => `artifacts/0${step}-1-${step === 1 ? "jina-reader" : "fabric"}.json`),
    ...["context.md", "memory.md", "plan.md", "trace.jsonl"],
  ]);
});

test("W2: what a crash leaves half written has another name, and the next turn writes past it", async () => {
  const host = new LoopHost([firstTurn(), actTurn(), doneTurn()]);
  const request = onlyEvent(await host.start());
  const folder = host.workspaceDir ?? "";
  writeFileSync(join(folder, "plan.md.4242.tmp"), "half");
  const plan = readFileSync(join(folder, "plan.md"), "utf8");
  await host.answer(request, { content: "P" });
  expect(readFileSync(join(folder, "plan.md"), "utf8")).toBe(plan);
  expect(readFileSync(join(folder, "memory.md"), "utf8")).toBe("- [step 1] page text is step 1\n");
});

describe("W3: other folders and none", () => {
  test("files that are missing are made again from the state", async () => {
    const host = new LoopHost([firstTurn(), actTurn(), actTurn()]);
    const request = onlyEvent(
      await host.start({ goal: "the goal", run_id: "R1", context: { tone: "mild" } }),
    );
    const second = onlyEvent(await host.answer(request, { content: "P" }));
    rmSync(host.workspaceDir ?? "", { recursive: true });
    await host.answer(second, { content: "P" });
    const text = (name: string) => readFileSync(join(host.workspaceDir ?? "", name), "utf8");
    expect(text("context.md")).toContain("the goal");
    expect(text("context.md")).toContain("tone: mild");
    expect(text("memory.md")).toBe("- [step 1] page text is step 1\n- [step 2] page text is step 1\n");
    expect(text("plan.md")).toContain("T1 fetch (C1)");
  });

  test("without a folder a run completes, claims no files and keeps its notes in the state", async () => {
    const host = new LoopHost([firstTurn(), actTurn("fabric", { text: "T" }), doneTurn(["step:2"])]);
    host.workspaceDir = undefined;
    const request = onlyEvent(await host.start());
    const second = onlyEvent(await host.answer(request, { content: "P" }));
    expect(host.run()["memory"]).toContain("page text is step 1");
    const end = onlyEvent(await host.answer(second, { result: "C" }));
    expect(end).toMatchObject({ type: "agent.completed", payload: { artifacts: [] } });
  });

  test("with workspace_root a run has a folder of its own, on every host", async () => {
    const host = new LoopHost(worked, { workspace_root: "runs" });
    const request = onlyEvent(await host.start());
    expect(request.payload["agentic"]).toMatchObject({ workspace_ref: "run" });
    host.workspaceDir = undefined;
    const second = onlyEvent(await host.answer(request, { content: "PAGE" }));
    expect(second.payload["text"]).toBe("PAGE");
    expect(existsSync(join(host.folder, "runs/R1/artifacts/01-1-jina-reader.json"))).toBe(true);
  });

  test("a folder that cannot be written fails no turn", async () => {
    const host = new LoopHost(worked);
    writeFileSync(join(host.folder, "file"), "");
    host.workspaceDir = join(host.folder, "file", "below");
    const response = await host.start();
    expect(onlyEvent(response).type).toBe("agentic.tool_request.jina-reader");
    expect(response.logs?.some(({ level, message }) => level === "warn" && message.includes("ENOTDIR"))).toBe(
      true,
    );
  });

  test("HZ-P: nothing is written once the deadline of the job is past", () => {
    const folder = mkdtempSync(join(tmpdir(), "packloop-late-"));
    const late = new Workspace({ root: join(folder, "w"), mayWrite: () => false, warn: () => {} });
    late.write("a.md", "x");
    expect(late.create("artifacts/a.json", "x")).toBeUndefined();
    expect(readdirSync(folder)).toEqual([]);
  });
});

describe("W4: nothing outside", () => {
  function outside() {
    const folder = mkdtempSync(join(tmpdir(), "packloop-out-"));
    writeFileSync(join(folder, "secret.txt"), "SECRET");
    mkdirSync(join(folder, "w", "artifacts"), { recursive: true });
    symlinkSync(join(folder, "secret.txt"), join(folder, "w", "artifacts", "link.txt"));
    writeFileSync(join(folder, "w", "artifacts", "own.txt"), "OWN");
    return {
      folder,
      workspace: new Workspace({ root: join(folder, "w"), mayWrite: () => true, warn: () => {} }),
    };
  }

  test.each([
    "../secret.txt",
    "artifacts/../../secret.txt",
    "artifacts/link.txt",
    "/etc/hostname",
    "artifacts",
    "artifacts//own.txt",
    "",
  ])("%j is not read", (path) => {
    const { workspace } = outside();
    expect(workspace.read(path)).toBeUndefined();
    expect(workspace.isFile(path)).toBe(false);
    expect(workspace.read("artifacts/own.txt")).toBe("OWN");
  });

  test("a folder that was turned into a link is not written through", () => {
    const { folder, workspace } = outside();
    mkdirSync(join(folder, "elsewhere"));
    rmSync(join(folder, "w", "artifacts"), { recursive: true });
    symlinkSync(join(folder, "elsewhere"), join(folder, "w", "artifacts"));
    expect(workspace.create("artifacts/a.json", "x")).toBeUndefined();
    expect(readdirSync(join(folder, "elsewhere"))).toEqual([]);
  });

  test("a taken name gets a suffix, the same text its old name", () => {
    const { workspace } = outside();
    expect(workspace.create("artifacts/own.txt", "NEW")).toBe("artifacts/own-2.txt");
    expect(workspace.create("artifacts/own.txt", "NEW")).toBe("artifacts/own-2.txt");
    expect(workspace.read("artifacts/own.txt")).toBe("OWN");
  });

  test("paths that a result or a report names are believed only when they lead to a file inside", async () => {
    const host = new LoopHost([
      firstTurn(),
      [
        doneTurn(["step:1"], { artifacts: ["../secret.txt"] }),
        doneTurn(["artifacts/critique.md"], { artifacts: ["artifacts/critique.md"] }),
      ],
    ]);
    const request = onlyEvent(await host.start());
    const folder = host.workspaceDir ?? "";
    mkdirSync(join(folder, "artifacts"), { recursive: true });
    writeFileSync(join(folder, "artifacts/critique.md"), "two paragraphs");
    const result: JsonObject = {
      artifact_path: "../secret.txt",
      output_path: "artifacts/critique.md",
      file_path: "/etc/passwd",
    };
    const end = onlyEvent(await host.answer(request, result));
    expect(end).toMatchObject({ type: "agent.completed", payload: { artifacts: ["artifacts/critique.md"] } });
    expect(host.run()["artifacts"]).toEqual(["artifacts/01-1-jina-reader.json", "artifacts/critique.md"]);
    cpSync(folder, join(host.folder, "kept"), { recursive: true });
  });
});
