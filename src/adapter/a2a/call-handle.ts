// What a call leaves in the journal when it is not over, so that any later process can go on with it: the
// task the agent works on, and where the conversation about it stands.

import { isObject, type Json, type JsonObject } from "../../base/json.ts";

export interface TaskHandle {
  readonly task: string;
  /** The agent's name for the conversation the task belongs to. */
  readonly context: string;
  /** When the task was taken on: the longer it runs, the less often it is looked at. */
  readonly since: number;
  /** Looks in a row that did not reach the agent. */
  readonly misses: number;
  /** Answers given so far; part of the name of each. */
  readonly round: number;
  /** The question a person is asked, by its digest. */
  readonly asked: string | null;
  /** The one that was answered last; an agent may show it a little longer. */
  readonly answered: string | null;
  /** How often it was still shown. */
  readonly stale: number;
  /** A person's answer that could not be handed over yet. */
  readonly reply: Json;
  /** The agent does not know the task any more, and a person is asked what to do. */
  readonly lost: boolean;
}

export const newHandle = (task: string, context: string, since: number): TaskHandle => ({
  task,
  context,
  since,
  misses: 0,
  round: 0,
  asked: null,
  answered: null,
  stale: 0,
  reply: null,
  lost: false,
});

export const toJson = (handle: TaskHandle): Json => handle as unknown as JsonObject;

/** Undefined for a first call; what does not look like ours is taken for none. */
export function readHandle(value: Json | undefined): TaskHandle | undefined {
  if (!isObject(value) || typeof value["task"] !== "string") return undefined;
  const { task, context, asked, answered } = value;
  return {
    task,
    context: typeof context === "string" ? context : "",
    since: count(value["since"]),
    misses: count(value["misses"]),
    round: count(value["round"]),
    asked: typeof asked === "string" ? asked : null,
    answered: typeof answered === "string" ? answered : null,
    stale: count(value["stale"]),
    reply: value["reply"] ?? null,
    lost: value["lost"] === true,
  };
}

const count = (value: Json | undefined): number => (typeof value === "number" && value >= 0 ? value : 0);
