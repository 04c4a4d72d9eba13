// One pack behind one server, and a run of it started in each protocol: what each of them sees of it.

import { once } from "node:events";
import type { Task } from "@a2a-js/sdk";
import type { Client } from "@a2a-js/sdk/client";
import { CloudEvent } from "cloudevents";
import type { JsonObject } from "../../src/base/json.ts";
import type { Summary } from "../../src/core/summary.ts";
import { type Clock, Fault } from "../../src/engine/ports.ts";
import { systemClock } from "../../src/engine/system-clock.ts";
import { clientOf, configuration, type DeskOptions, request, send, servedDesk } from "./a2a-served.ts";
import { type OpenPage, openPage, said } from "./agui-page.ts";
import { callTool, rpc, WITH_FORMS, WITH_TASKS } from "./mcp-rpc.ts";
import type { Served } from "./served.ts";

/** An agent that calls another, which asks somebody as often as it is told to. */
export const nested = `id: nested
name: Nested
version: 1.0.0
template_engine: { version: v1, syntax: "{{variable}}" }
prompts:
  lead:
    id: lead
    name: Lead
    version: 1.0.0
    system_template: "Lead {{who}}."
    tools: [helper]
    variables: [{ name: who, type: string, required: true }]
  helper: { id: helper, name: Helper, version: 1.0.0, system_template: "Help." }
workflow:
  version: 2
  entry: lead
  engine: { budget: { max_total_visits: 9, max_tool_calls: 9, max_wall_time_sec: 600 } }
  states:
    lead: { prompt_task: lead, on_event: { Done: end } }
    ask: { prompt_task: helper, orchestration: external, on_event: { Yes: end, More: ask } }
    end: { prompt_task: helper, terminal: true }
agents:
  entry: lead
  members: { lead: { state: lead }, helper: { state: ask } }
`;

export const leads: JsonObject = {
  states: {
    lead: [{ calls: [{ tool: "helper", args: { query: "May I?" } }] }, { event: "Done" }],
    ask: [{ text: "May it?" }],
    end: [{ text: "It may." }],
  },
};

export const TASKS_AND_FORMS = { ...WITH_TASKS, ...WITH_FORMS };

export interface SceneOptions extends DeskOptions {
  readonly mode?: "conversational";
  /** The call of the model, by number, that does not come back. */
  readonly stuckAt?: number;
  /** The model has no key. */
  readonly keyless?: true;
}

/** The same run, begun three times. */
export interface Scene {
  readonly server: Served;
  readonly a2a: { readonly client: Client; readonly run: string };
  readonly mcp: { readonly task: string; readonly run: string };
  readonly agui: { readonly page: OpenPage; readonly run: string };
  readonly runs: readonly string[];
}

/** A call becomes a task soon, and no other wait is shorter. */
function hurried(): Clock {
  const clock = systemClock();
  return { ...clock, sleep: (ms, signal) => clock.sleep(ms === 2_000 ? 20 : ms, signal) };
}

export async function scene({ mode, stuckAt, keyless, ...options }: SceneOptions): Promise<Scene> {
  const begun = Promise.withResolvers<void>();
  const calls = new Map<string, number>();
  const server = await servedDesk({
    clock: hurried(),
    ...options,
    // Nothing moves before all three have begun, so that the call of MCP has become a task.
    model: (model) => ({
      async call(asked, context) {
        const count = (calls.get(context.run) ?? 0) + 1;
        calls.set(context.run, count);
        await (count === stuckAt ? once(context.signal, "abort") : begun.promise);
        if (keyless === true) throw new Fault("no_key", "`a/b` needs a key (set A_KEY)", { retry: "never" });
        return model.call(asked, context);
      },
    }),
  });
  const { body } = await server.get("/api/packs");
  const [{ digest, id }] = body["items"] as unknown as [{ digest: string; id: string }];
  const agent = options.pack === undefined ? "desk/clerk" : `${id}/lead`;
  const client = await clientOf(server, { agent });
  const asked = send(request(), configuration({ returnImmediately: true }));
  const accepted = (await client.sendMessage({ ...asked, ...(mode && { metadata: { mode } }) })) as Task;
  const variables = { who: "Ada" };
  const wish = { variables, ...(mode && { mode }) };
  const args = { digest, agent: agent.split("/")[1] ?? "", input: "Please.", ...wish };
  const called = await callTool(server.url, "start_run", args, { capabilities: TASKS_AND_FORMS });
  const task = String(called.result["taskId"]);
  const page = await openPage(
    server,
    { threadId: "t1", runId: "1", messages: said("Please."), forwardedProps: wish },
    { path: `/agui/${agent}` },
  );
  const { metadata } = await page.first("RUN_STARTED");
  const runs = [accepted.id, task.split(".")[0] ?? "", String((metadata as JsonObject)["run"])] as const;
  begun.resolve();
  return {
    ...{ server, runs },
    a2a: { client, run: runs[0] },
    mcp: { task, run: runs[1] },
    agui: { page, run: runs[2] },
  };
}

/** Each of the three is as wanted. */
export async function allAre({ server, runs }: Scene, wanted: (summary: Summary) => boolean): Promise<void> {
  for (const run of runs) await server.until(run, wanted);
}

export const taskOf = ({ a2a }: Scene): Promise<Task> => a2a.client.getTask({ tenant: "", id: a2a.run });

export async function mcpTaskOf({ server, mcp }: Scene): Promise<JsonObject> {
  const params = { taskId: mcp.task };
  return (await rpc(server.url, "tasks/get", params, { capabilities: TASKS_AND_FORMS })).result;
}

/** Of one run, each taken by the strict reader of the format. */
export async function eventsOf(server: Served, run: string): Promise<readonly CloudEvent<JsonObject>[]> {
  const accept = { accept: "application/cloudevents-batch+json" };
  const { body } = await server.get(`/api/runs/${encodeURIComponent(run)}/facts?limit=200`, accept);
  return (body as unknown as readonly JsonObject[]).map((event) => new CloudEvent(event, true));
}
