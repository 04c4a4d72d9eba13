// Requests to the server. What the server refuses is an error with its code and its words.

import type { Json } from "../../src/base/json.ts";

export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

/** The server could not be reached at all. */
export const UNREACHABLE = "unreachable";

/** What a page signed in by cookie shows with its changes. */
let pageKey: string | null = null;

export function usePageKey(key: string | null): void {
  pageKey = key;
}

export interface Asked {
  readonly method?: "GET" | "POST" | "DELETE";
  readonly body?: unknown;
  /** Refused when the run has moved on from this turn. */
  readonly ifTurn?: number;
  readonly signal?: AbortSignal;
}

export async function ask<T>(path: string, asked: Asked = {}): Promise<T> {
  const { method = asked.body === undefined ? "GET" : "POST", body, ifTurn, signal } = asked;
  const headers: Record<string, string> = { accept: "application/json" };
  if (body !== undefined) headers["content-type"] = "application/json";
  if (ifTurn !== undefined) headers["if-match"] = `"${ifTurn}"`;
  if (pageKey !== null && method !== "GET") headers["x-packloop-key"] = pageKey;
  const response = await reach(path, {
    method,
    headers,
    ...(body !== undefined && { body: JSON.stringify(body) }),
    ...(signal !== undefined && { signal }),
  });
  if (!response.ok) throw await problemOf(response);
  return (await unlessCutOff(() => response.json())) as T;
}

/** A stream of events as it comes; null when there is nothing more to come. */
export async function askStream(
  path: string,
  signal: AbortSignal,
): Promise<ReadableStream<Uint8Array> | null> {
  const response = await reach(path, { headers: { accept: "text/event-stream" }, signal });
  if (!response.ok) throw await problemOf(response);
  return response.status === 204 ? null : response.body;
}

async function reach(path: string, init: RequestInit): Promise<Response> {
  return unlessCutOff(() => fetch(path, init));
}

/** A connection fails before an answer or in the middle of it. */
async function unlessCutOff<T>(act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    if (error instanceof TypeError)
      throw new ApiError(0, UNREACHABLE, "the server cannot be reached (is packloop serve running?)");
    throw error;
  }
}

async function problemOf(response: Response): Promise<ApiError> {
  const text = await unlessCutOff(() => response.text());
  const { status } = response;
  if (!(response.headers.get("content-type") ?? "").includes("json"))
    return new ApiError(status, "unexpected", `the server answered ${status}`);
  const problem = JSON.parse(text) as {
    readonly code?: string;
    readonly detail?: string;
    readonly errors?: Json;
  };
  return new ApiError(
    status,
    problem.code ?? "unexpected",
    problem.detail ?? `the server answered ${status}`,
  );
}

export const runPath = (run: string): string => `/api/runs/${encodeURIComponent(run)}`;
