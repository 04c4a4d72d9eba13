// Jobs, events and pipelines of a gateway as text.

import { isoTime } from "../../base/iso-time.ts";
import { get, type Json, type JsonObject } from "../../base/json.ts";
import type { Job } from "../../gateway/queue/job.ts";
import type { LogRow } from "../../gateway/queue/jobs.ts";
import type { Notice } from "../../gateway/queue/notices.ts";

export function jobLines(jobs: readonly Job[]): string {
  if (jobs.length === 0) return "no jobs\n";
  return jobs.map(jobLine).join("");
}

function jobLine(job: Job): string {
  const place = job.pipeline === null ? "" : ` ${job.pipeline}/${job.stepId}`;
  const why = job.errorCode === null ? "" : ` ${job.errorCode}`;
  const attempt = job.attempt === 1 ? "" : ` attempt ${job.attempt}/${job.maxAttempts}`;
  const name = `${job.plugin} ${job.command}`;
  return `${job.id}  ${job.status.padEnd(9)} ${isoTime(job.createdAt)}  ${name}${place}${attempt}${why}\n`;
}

export function jobText(
  job: Job,
  { attempts, tree }: { attempts: readonly LogRow[]; tree: readonly Job[] },
): string {
  const lines = [jobLine(job), `  payload ${JSON.stringify(job.payload)}\n`];
  for (const one of attempts) {
    const code = one.exit_code === null ? "" : ` exit ${one.exit_code}`;
    lines.push(`  attempt ${one.attempt} ${one.status} ${isoTime(one.at)}${code}\n`);
    if (one.error !== null) lines.push(`    ${one.error_code}: ${one.error}\n`);
    if (one.document !== null) lines.push(`    answer ${one.document}\n`);
    if (one.stderr !== null)
      lines.push(
        ...one.stderr
          .trimEnd()
          .split("\n")
          .map((line) => `    | ${line}\n`),
      );
  }
  if (tree.length > 0) lines.push("led to\n", ...tree.map((one) => `  ${jobLine(one)}`));
  return lines.join("");
}

export function noticeLine({ seq, name, data }: Notice): string {
  const { at, ...rest } = data;
  const fields = Object.entries(rest).filter(([, value]) => value !== null);
  return `${seq} ${String(at)} ${name}${fields.map(([key, value]) => ` ${key}=${shown(value)}`).join("")}\n`;
}

const shown = (value: Json): string => (typeof value === "string" ? value : JSON.stringify(value));

/** A compiled pipeline. */
export function pipelineLines(pipeline: JsonObject): string {
  const list = (key: string) => (get(pipeline, key) ?? []) as readonly Json[];
  const nodes = list("nodes").map((node) => {
    const id = String(get(node, "id"));
    const next = list("edges").filter((edge) => get(edge, "from") === id);
    const marks = [
      ...(list("entries").includes(id) ? ["entry"] : []),
      ...(list("terminals").includes(id) ? ["terminal"] : []),
    ];
    const arrow = next.length === 0 ? "" : ` -> ${next.map((edge) => String(get(edge, "to"))).join(", ")}`;
    return `  ${id} uses ${String(get(node, "uses"))}${arrow}${marks.length === 0 ? "" : ` (${marks.join(", ")})`}\n`;
  });
  return `${String(get(pipeline, "name"))} on ${String(get(pipeline, "on"))}\n${nodes.join("")}`;
}
