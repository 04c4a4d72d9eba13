// The rules of runs that somebody holds: what is out may come back, nothing is lost, and time goes on.

import { describe, expect, test } from "vitest";
import { fold } from "../../src/core/apply.ts";
import { summaryOf } from "../../src/core/summary.ts";
import { Play, program, scenario } from "./scenario.ts";

const pack = `id: s
name: S
version: 1.0.0
template_engine: { version: v1, syntax: "{{variable}}" }
prompts:
  p: { id: p, name: P, version: 1.0.0, system_template: Go., tools: [read, helper] }
  helper: { id: helper, name: Helper, version: 1.0.0, system_template: Help. }
tools:
  read: { name: read, description: Read }
agents:
  entry: p
  members: { p: {}, helper: {} }
workflow:
  version: 2
  entry: work
  states:
    work: { prompt_task: p, on_event: { Done: end, Ask: gate } }
    gate: { prompt_task: p, orchestration: external, on_event: { Yes: end } }
    end: { prompt_task: p, terminal: true }
`;
const timed = pack.replace("  entry: work", "  entry: work\n  engine: { budget: { max_wall_time_sec: 60 } }");
const active = timed.replace("engine: { budget", "engine: { wall_clock: active, budget");
const hybrid = pack.replace("work: { prompt_task: p,", "work: { prompt_task: p, orchestration: hybrid,");

describe("a run that is held", () => {
  scenario(
    "records what comes back, and waits with what that asks until it is let go",
    pack,
    `
    start                            entered work#1 · asks model
    pause                            held
    status                           waiting
    model calls read                 asks tool read
    status                           waiting
    sent 2                           ignored: the run is held
    unpause                          unheld
    status                           running
    sent 2                           sent
  `,
  );

  scenario(
    "is held once, and let go once",
    pack,
    `
    start                            entered work#1 · asks model
    unpause                          ignored: nobody holds the run
    pause                            held
    pause                            ignored: the run is held already
    unpause                          unheld
    unpause                          ignored: nobody holds the run
    cancel                           finished cancelled (cancelled)
    pause                            ignored: the run is cancelled
    unpause                          ignored: the run is cancelled
  `,
  );

  scenario(
    "for want of a key is held for good when a person says so",
    pack,
    `
    start                            entered work#1 · asks model
    nokey                            held
    nokey                            ignored: the run is held already
    pause                            held
    pause                            ignored: the run is held already
    nokey                            ignored: the run is held already
    unpause                          unheld
    status                           running
  `,
  );

  scenario(
    "takes the event that it waits for, and asks nobody before it is let go",
    pack,
    `
    start                            entered work#1 · asks model
    model emits Ask                  entered gate#1 · waits for Yes
    pause                            held
    event Yes                        drops event · entered end#1 by alice · asks model
    status                           waiting
    unpause                          unheld
    status                           running
  `,
  );

  scenario(
    "takes no message while a model is to be asked",
    hybrid,
    `
    start                            entered work#1 · asks model · waits for Done|Ask
    pause                            held
    message hello                    refused not-waiting (Done|Ask)
  `,
  );

  scenario(
    "S12: has no more time than one that waits",
    timed,
    `
    start                            entered work#1 · asks model
    pause                            held
    after 59 s, unpause              unheld
    pause                            held
    after 1 s, timer                 finished budget_exhausted (max_wall_time_sec 60 work)
  `,
  );

  scenario(
    "S12: ends when it is let go after its time",
    timed,
    `
    start                            entered work#1 · asks model
    pause                            held
    after 61 s, unpause              unheld · finished budget_exhausted (max_wall_time_sec 60 work)
  `,
  );

  scenario(
    "S12: spends no active time",
    active,
    `
    start                            entered work#1 · asks model
    after 50 s, pause                held · drops timer
    after 500 s, unpause             unheld
    after 9 s, model calls read      asks tool read
    after 1 s, tool read ok x        finished budget_exhausted (max_wall_time_sec 60 work)
  `,
  );

  scenario(
    "S47: has its calls woken, which leave when it is let go",
    pack,
    `
    start                            entered work#1 · asks model
    model calls read                 asks tool read
    defer 2 until 10 s               deferred · wakes 2 at 10 s
    pause                            held
    after 10 s, wake 2               resumed
    status                           waiting
    unpause                          unheld
    status                           running
  `,
  );

  scenario(
    "S43: waits for its agents as for work when it is let go",
    pack,
    `
    start                            entered work#1 · asks model
    model calls helper               asks agent helper
    pause                            held
    defer 2                          deferred
    unpause                          unheld · resumed
    status                           running
  `,
  );

  scenario(
    "S52: is held in a fork as well, and ends like any other",
    pack,
    `
    start                            entered work#1 · asks model
    pause                            held
    fork
    status                           waiting
    pause                            ignored: the run is held already
    model emits Done                 entered end#1 · asks model
    model says "bye"                 finished completed
  `,
  );
});

test("who holds a run, since when and why is in its summary until it is let go or ends", () => {
  const play = new Play(program(pack), {});
  for (const line of ["start", "after 5 s, pause"]) play.say(line);
  const summary = () => summaryOf("r", { id: "s", version: "1", digest: "d" }, fold(play.rows));
  expect(summary()).toMatchObject({
    status: "waiting",
    held: { by: "alice", since: "1970-01-01T00:00:06.000Z" },
  });
  play.say("cancel");
  expect(summary()).toMatchObject({ status: "cancelled", held: null });
});
