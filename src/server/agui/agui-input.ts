// What a page sends, held against the protocol's own schema, and what of it matters to a run.

import { z } from "@hono/zod-openapi";
import type { Json } from "../../base/json.ts";
import type { RunWish } from "../begin-run.ts";
import { Problem } from "../problem.ts";
import { readBody } from "../request-body.ts";
import { startBody } from "../schemas/requests.ts";

export interface AguiInput {
  readonly threadId: string;
  readonly runId: string;
  readonly resume: readonly ResumeEntry[];
  readonly said: readonly SaidMessage[];
  /** How a new run is to start: `forwardedProps`, in the words of the API. */
  readonly wish: Omit<RunWish, "requestHash">;
}

export interface ResumeEntry {
  readonly interruptId: string;
  readonly status: "resolved" | "cancelled";
  readonly payload: Json;
}

export interface SaidMessage {
  readonly id: string;
  readonly text: string;
}

/** The body was read within the limits of the server already. */
const READ = { bytesMax: Number.MAX_SAFE_INTEGER, timeoutMs: 10_000, isOther: () => false };

/** Of a thread's name, which is kept with its run. */
const ID_CHARS_MAX = 500;

const props = startBody.omit({ input: true }).nullish();

export async function readInput(request: Request): Promise<AguiInput> {
  const { RunAgentInputSchema } = await import("@ag-ui/core/schemas");
  const { value } = await readBody(request, READ);
  const read = RunAgentInputSchema.safeParse(value);
  if (!read.success) throw misfit("", read.error.issues);
  const { threadId, runId, messages, resume = [], forwardedProps } = read.data;
  if (threadId === "" || threadId.length > ID_CHARS_MAX || !threadId.isWellFormed())
    throw new Problem("bad-request", `\`threadId\` is not a text of 1 to ${ID_CHARS_MAX} characters`);
  const wish = props.safeParse(forwardedProps);
  if (!wish.success) throw misfit("/forwardedProps", wish.error.issues);
  const said = messages.flatMap(({ id, role, content }) =>
    role === "user" ? [{ id, text: contentText(content) }] : [],
  );
  const entries = resume.map(({ interruptId, status, payload }) => ({
    ...{ interruptId, status, payload: (payload ?? null) as Json },
  }));
  return { threadId, runId, said, resume: entries, wish: wish.data ?? {} };
}

/** The last thing a person said, if there is any. */
export const lastSaid = ({ said }: AguiInput): SaidMessage | undefined =>
  said.findLast(({ text }) => text.trim() !== "");

const part = z.object({ type: z.literal("text"), text: z.string() });

/** Of pictures and sounds a run is told nothing: packs speak in texts. */
function contentText(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content
    .flatMap((one) => {
      const read = part.safeParse(one);
      return read.success ? [read.data.text] : [];
    })
    .join("\n");
}

interface Issue {
  readonly path: readonly PropertyKey[];
  readonly message: string;
}

function misfit(prefix: string, issues: readonly Issue[]): Problem {
  const errors = issues.slice(0, 20).map(({ path, message }) => ({
    pointer: `${prefix}${path.map((key) => `/${String(key)}`).join("")}`,
    message: message.slice(0, 300),
  }));
  const [first] = errors;
  return new Problem("bad-request", `${first?.message ?? "it does not fit"} (at ${first?.pointer ?? "/"})`, {
    extras: { errors },
  });
}
