// An agent as a process of its own, with its tasks on disk: killed and started again it goes on with them. A task
// is finished when there is a file `go` in its folder; every message that comes is noted in `messages`.

import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { Task, TaskState } from "@a2a-js/sdk";
import { InMemoryTaskStore } from "@a2a-js/sdk/server";
import { ownAgent, textPart } from "./own-agent.ts";

const [folder = "", port = "0"] = process.argv.slice(2);
const tasks = join(folder, "tasks");
mkdirSync(tasks, { recursive: true });

const read = (file: string): Task => Task.fromJSON(JSON.parse(readFileSync(join(tasks, file), "utf8")));

function keep(task: Task): void {
  const file = join(tasks, `${task.id}.json`);
  writeFileSync(`${file}.new`, JSON.stringify(Task.toJSON(task)));
  renameSync(`${file}.new`, file);
}

class DiskTasks extends InMemoryTaskStore {
  override load(id: string): Promise<Task | undefined> {
    return Promise.resolve(existsSync(join(tasks, `${id}.json`)) ? read(`${id}.json`) : undefined);
  }

  override save(task: Task): Promise<void> {
    keep(task);
    return Promise.resolve();
  }
}

const told = (): Promise<void> =>
  new Promise((resolve) => {
    const look = setInterval(() => {
      if (!existsSync(join(folder, "go"))) return;
      clearInterval(look);
      resolve();
    }, 10);
  });

/** What a process before this one left. */
async function goOn(task: Task): Promise<void> {
  await told();
  const parts = [textPart("finished by the second process")];
  const artifact = {
    artifactId: "report",
    name: "report",
    description: "",
    parts,
    metadata: {},
    extensions: [],
  };
  const status = {
    state: TaskState.TASK_STATE_COMPLETED,
    message: undefined,
    timestamp: new Date().toISOString(),
  };
  keep({ ...task, artifacts: [artifact], status });
}

for (const file of readdirSync(tasks).filter((name) => name.endsWith(".json"))) {
  const task = read(file);
  if (task.status?.state === TaskState.TASK_STATE_WORKING) void goOn(task);
}

const agent = await ownAgent({
  port: Number(port),
  store: new DiskTasks(),
  async does(turn) {
    appendFileSync(join(folder, "messages"), `${turn.context.userMessage.messageId}\n`);
    turn.task(TaskState.TASK_STATE_WORKING);
    await told();
    turn.artifact("report", [textPart("finished by the first process")]);
    turn.status(TaskState.TASK_STATE_COMPLETED, "done");
  },
});
process.stdout.write(`at ${agent.url}\n`);
