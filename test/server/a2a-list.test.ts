// The list of tasks after a restart: what moves is where it belongs, and what is gone is not shown.

import { TaskState } from "@a2a-js/sdk";
import type { Client } from "@a2a-js/sdk/client";
import { expect, onTestFinished, test } from "vitest";
import type { ServedAgent } from "../../src/server/a2a/agent-directory.ts";
import { listTasks } from "../../src/server/a2a/list-tasks.ts";
import { TaskIndex } from "../../src/server/a2a/task-index.ts";
import { TaskShelf } from "../../src/server/a2a/task-shelf.ts";
import { asking, clientOf, servedDesk, started } from "./a2a-served.ts";
import { servedParts } from "./served.ts";

const listed = async (client: Client): Promise<readonly string[]> => {
  const { tasks } = await client.listTasks({
    ...{ tenant: "", contextId: "", status: TaskState.TASK_STATE_UNSPECIFIED, pageToken: "" },
    statusTimestampAfter: undefined,
  });
  return tasks.map(({ id }) => id);
};

test("tasks are listed after a restart as they were before, and as they move from then on", async () => {
  const first = await servedDesk({ script: asking });
  const client = await clientOf(first);
  const [a, b, c] = [await started(client), await started(client), await started(client)].map(({ id }) => id);
  expect(await listed(client)).toEqual([c, b, a]);
  await first.post(`/api/runs/${b}/cancel`, {});
  await first.stop();
  const second = await servedDesk({ script: asking, folder: first.folder });
  const again = await clientOf(second);
  expect(await listed(again)).toEqual([b, c, a]);
  await second.post(`/api/runs/${a}/cancel`, {});
  expect(await listed(again)).toEqual([a, b, c]);
  await second.call("DELETE", `/api/runs/${a}`);
  expect(await listed(again)).toEqual([b, c]);
});

test("one request reads a thousand tasks at most, and the next goes on behind them", async () => {
  const parts = await servedParts();
  const shelf = new TaskShelf(parts.side);
  const entry = { agent: "desk", context: "c", status: "waiting" } as const;
  shelf.put(Array.from({ length: 1_002 }, (_, at) => ({ ...entry, run: `r_${at}`, at: at + 1 })));
  shelf.markWhole();
  const index = new TaskIndex(parts);
  onTestFinished(() => index.close());
  const read: string[] = [];
  const store = {
    record: async (run: string) => {
      read.push(run);
      return undefined;
    },
  };
  const page = (pageToken: string) => {
    const agent = { address: "desk" } as ServedAgent;
    const wanted = { tenant: "", contextId: "", status: TaskState.TASK_STATE_INPUT_REQUIRED, pageToken };
    const counting = { ...parts, store: store as unknown as typeof parts.store };
    return listTasks(counting, { agent, index }, { ...wanted, statusTimestampAfter: undefined });
  };
  const first = await page("");
  expect([first.tasks, read.length, read.at(-1)]).toEqual([[], 1_000, "r_2"]);
  const second = await page(first.nextPageToken);
  expect([second.nextPageToken, read.slice(1_000)]).toEqual(["", ["r_1", "r_0"]]);
});
