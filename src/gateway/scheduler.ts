// Queues what is due by the clock. When a schedule is due next is stored, so that a gateway that was down
// catches up once, not once for every time it missed.

import { isoTime } from "../base/iso-time.ts";
import type { JsonObject } from "../base/json.ts";
import type { Schedule } from "./config/config.ts";
import type { InstalledPlugin } from "./installed-plugins.ts";
import { enqueue } from "./queue/enqueue.ts";
import { type NewJob, NO_CONTEXT } from "./queue/job.ts";
import { outstanding } from "./queue/jobs.ts";
import { notice } from "./queue/notices.ts";
import type { QueueFile } from "./queue/queue-file.ts";

export interface Tick {
  readonly now: number;
  readonly random: () => number;
  readonly dedupeTtlMs: number;
  readonly attemptsMax: (plugin: string, command: string) => number;
}

export function tick(file: QueueFile, plugins: Iterable<InstalledPlugin>, terms: Tick): void {
  const due = [...plugins].flatMap((plugin) =>
    plugin.entry.enabled ? plugin.entry.schedules.map((schedule) => ({ plugin, schedule })) : [],
  );
  file.transaction(
    () => {
      notice(file, terms.now, "scheduler.tick", {});
      for (const { plugin, schedule } of due) tickOne(file, plugin, schedule, terms);
    },
    { durable: false },
  );
}

function tickOne(file: QueueFile, plugin: InstalledPlugin, schedule: Schedule, terms: Tick): void {
  const { now, random } = terms;
  const { name } = plugin.manifest;
  const key = `${name}/${schedule.id}`;
  const known = file.get<{ next_at: number }>("SELECT next_at FROM schedule WHERE key = ?", key);
  // A clock that was set back, or an interval that was shortened, must not keep a plugin waiting.
  const latest = now + schedule.everyMs + schedule.jitterMs;
  if (known !== undefined && known.next_at > now && known.next_at <= latest) return;
  const { command } = schedule;
  if (outstanding(file, { plugin: name, command }) >= plugin.entry.outstandingPollsMax) return;
  const next = Math.floor(now + schedule.everyMs + random() * schedule.jitterMs);
  file.run(
    "INSERT INTO schedule VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET next_at = excluded.next_at",
    key,
    next,
  );
  enqueue(file, scheduledJob(name, schedule, terms), {
    ...{ now, dedupeTtlMs: terms.dedupeTtlMs, parent: null },
    stored: new Map(),
  });
}

function scheduledJob(plugin: string, { command, payload }: Schedule, { now, attemptsMax }: Tick): NewJob {
  const event: JsonObject = { type: "schedule.trigger", payload, timestamp: isoTime(now) };
  return {
    ...{ plugin, command, payload: command === "handle" ? event : payload, submittedBy: "schedule" },
    ...{ dedupeKey: null, pipeline: null, stepId: null, instanceId: null, sourceEventId: null },
    context: NO_CONTEXT,
    maxAttempts: attemptsMax(plugin, command),
  };
}
