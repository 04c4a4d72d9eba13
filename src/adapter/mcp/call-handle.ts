// What a call leaves in the journal when it is not over, so that any later process can go on with it: the
// task the server works on, or the state the server wants back with a person's answer.

import { get, isObject, type Json, type JsonObject } from "../../base/json.ts";
import type { Asked } from "./questions.ts";

export interface TaskHandle {
  readonly task: string;
  /** When the task was taken on: the longer it runs, the less often it is looked at. */
  readonly since: number;
  /** The open question, if a person is being asked. */
  readonly asked: readonly Asked[];
  /** Keys of questions that have been answered; a server may show them a little longer. */
  readonly answered: readonly string[];
  /** A person's answer that could not be handed over yet. */
  readonly reply: Json;
  /** Looks in a row that did not reach the server. */
  readonly misses: number;
}

export interface RoundHandle {
  /** Opaque to us; goes back as it came. */
  readonly state: string | null;
  readonly asked: readonly Asked[];
  /** Rounds of questions so far. */
  readonly round: number;
}

export type CallHandle = TaskHandle | RoundHandle;

export const toJson = (handle: CallHandle): Json => handle as unknown as JsonObject;

/** Undefined for a first call; what does not look like ours is taken for none. */
export function readHandle(value: Json | undefined): CallHandle | undefined {
  if (!isObject(value)) return undefined;
  const asked = readAsked(value["asked"]);
  const task = value["task"];
  if (typeof task === "string") {
    const answered = value["answered"];
    return {
      task,
      since: count(value["since"]),
      asked,
      answered: Array.isArray(answered) ? answered.filter((key) => typeof key === "string") : [],
      reply: value["reply"] ?? null,
      misses: count(value["misses"]),
    };
  }
  const state = value["state"];
  return { state: typeof state === "string" ? state : null, asked, round: count(value["round"]) };
}

function readAsked(value: Json | undefined): readonly Asked[] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((one: Json): readonly Asked[] => {
    const key = get(one, "key");
    const only = get(one, "only");
    if (typeof key !== "string") return [];
    const kind = get(one, "kind") === "url" ? "url" : "form";
    return [{ key, kind, only: typeof only === "string" ? only : null }];
  });
}

const count = (value: Json | undefined): number => (typeof value === "number" && value >= 0 ? value : 0);
