// The rules of calls that are not over at once: noted before they leave, in doubt, deferred, and edited by the
// person who approves them.

import { describe } from "vitest";
import { scenario } from "./scenario.ts";

const pack = `id: s
name: S
version: 1.0.0
template_engine: { version: v1, syntax: "{{variable}}" }
prompts:
  p: { id: p, name: P, version: 1.0.0, system_template: Go., tools: [read, ship] }
tools:
  read: { name: read, description: Read }
  ship: { name: ship, description: Ship, parameters: { type: object, properties: { to: { type: string } }, required: [to] } }
workflow:
  version: 2
  entry: work
  states:
    work: { prompt_task: p, on_event: { Done: end } }
    end: { prompt_task: p, terminal: true }
`;
const timed = pack.replace("  entry: work", "  entry: work\n  engine: { budget: { max_wall_time_sec: 60 } }");
const active = pack.replace(
  "  entry: work",
  "  entry: work\n  engine: { wall_clock: active, budget: { max_wall_time_sec: 60 } }",
);
const hybrid = pack.replace("work: { prompt_task: p,", "work: { prompt_task: p, orchestration: hybrid,");

describe("calls that must not be repeated", () => {
  scenario(
    "S46: a call is noted as sent once, and not when nothing is to be sent",
    pack,
    `
    start                            entered work#1 · asks model
    sent 1                           ignored: no call is to be sent there
    model calls read                 asks tool read
    sent 2                           sent
    look 2                           open · sent
    sent 2                           ignored: no call is to be sent there
    sent 7                           ignored: no call is to be sent there
    tool read ok x                   asks model
    sent 2                           ignored: no call is to be sent there
    cancel                           finished cancelled (cancelled)
    sent 3                           ignored: no call is to be sent there
  `,
  );

  scenario(
    "S46: a call in doubt is not sent, and one that is retried has not left yet",
    pack,
    `
    start                            entered work#1 · asks model
    model calls read                 asks tool read
    sent 2                           sent
    doubt 2                          in_doubt
    sent 2                           ignored: no call is to be sent there
    retry 2                          retried
    look 2                           open
    sent 2                           sent
    look 2                           open · sent
  `,
  );

  scenario(
    "S12, S46: the note that comes after the run's time ends the run instead",
    timed,
    `
    start                            entered work#1 · asks model
    model calls read                 asks tool read
    after 60 s, sent 3               sent · finished budget_exhausted (max_wall_time_sec 60 work)
    look 3                           closed
  `,
  );

  scenario(
    "S46, S52: no call has left under the name of a fork",
    pack,
    `
    start                            entered work#1 · asks model
    model calls read                 asks tool read
    sent 2                           sent
    fork
    look 2                           open
    sent 2                           sent
  `,
  );
});

describe("deferred calls", () => {
  scenario(
    "S47: a bare one is answered from outside, once",
    pack,
    `
    start                            entered work#1 · asks model
    model calls read                 asks tool read
    defer 2                          deferred
    status                           waiting
    defer 2                          ignored: no call is pending there
    bob says 2 done                  asks model
    bob says 2 again                 ignored: the step is answered already
  `,
  );

  scenario(
    "S47: one with a time wakes by itself, and so counts as work",
    pack,
    `
    start                            entered work#1 · asks model
    model calls read                 asks tool read
    defer 2 until 10 s handle h1     deferred · wakes 2 at 10 s
    status                           running
    after 8 s, wake 2                ignored: the timer is not due
    after 1 s, wake 2                resumed
    look 2                           open · handle "h1"
    defer 2 until 20 s handle h2     deferred · wakes 2 at 20 s
    after 10 s, wake 2               resumed
    look 2                           open · handle "h2"
    tool read ok x                   asks model
  `,
  );

  scenario(
    "S47: a wake goes with its call, answered early",
    pack,
    `
    start                            entered work#1 · asks model
    model calls read                 asks tool read
    defer 2 until 10 s               deferred · wakes 2 at 10 s
    bob says 2 done                  asks model · drops wake
    after 20 s, answer 3             ignored: the step is answered already
  `,
  );

  scenario(
    "S46: a deferred call that is retried is not woken as well",
    pack,
    `
    start                            entered work#1 · asks model
    model calls read                 asks tool read
    defer 2 until 10 s handle h      deferred · wakes 2 at 10 s
    retry 2                          retried · drops wake
    look 2                           open · handle "h"
    after 20 s, answer 3             ignored: the step is answered already
    defer 2                          deferred
    status                           waiting
    look 2                           deferred
  `,
  );

  scenario(
    "S46: a call that only looks how it stands is known as such until it is deferred otherwise",
    pack,
    `
    start                            entered work#1 · asks model
    model calls read                 asks tool read
    sent 2                           sent
    defer 2 until 10 s looks         deferred · wakes 2 at 10 s
    after 9 s, wake 2                resumed
    look 2                           open · looks
    defer 2 until 20 s               deferred · wakes 2 at 20 s
    after 10 s, wake 2               resumed
    look 2                           open
  `,
  );

  scenario(
    "S46: abort of a deferred call ends the run, its timer with it",
    pack,
    `
    start                            entered work#1 · asks model
    model calls read                 asks tool read
    defer 2 until 10 s               deferred · wakes 2 at 10 s
    abort 2                          finished failed (aborted)
    after 20 s, answer 3             ignored: the run is failed
  `,
  );

  scenario(
    "S47: cancel closes a deferred call and its timer",
    pack,
    `
    start                            entered work#1 · asks model
    model calls read                 asks tool read
    defer 2 until 10 s               deferred · wakes 2 at 10 s
    cancel                           finished cancelled (cancelled)
    after 20 s, answer 3             ignored: the run is cancelled
    bob says 2 late                  ignored: the run is cancelled
  `,
  );

  scenario(
    "S28: an event in a hybrid state drops a deferred call with its wake",
    hybrid,
    `
    start                            entered work#1 · asks model · waits for Done
    model calls read                 asks tool read
    defer 3 until 10 s               deferred · wakes 3 at 10 s
    event Done                       drops event · drops tool · entered end#1 by alice · asks model · drops wake
    after 20 s, answer 4             ignored: the step is answered already
    bob says 3 late                  ignored: the step is answered already
  `,
  );

  scenario(
    "S52: a fork wakes the copied call as much later as it was made later",
    pack,
    `
    start                            entered work#1 · asks model
    model calls read                 asks tool read
    sent 2                           sent
    defer 2 until 10 s handle h      deferred · wakes 2 at 10 s
    after 100 s, fork
    look 2                           deferred · handle "h"
    after 8 s, wake 2                ignored: the timer is not due
    after 1 s, wake 2                resumed
    sent 2                           sent
  `,
  );

  scenario(
    "S12: the run's time runs out while a call is deferred",
    timed,
    `
    start                            entered work#1 · asks model
    model calls read                 asks tool read
    defer 3 until 90 s               deferred · wakes 3 at 90 s
    after 60 s, timer                finished budget_exhausted (max_wall_time_sec 60 work)
    after 60 s, answer 4             ignored: the run is budget_exhausted
  `,
  );

  scenario(
    "S12: a wake that comes after the run's time ends the run",
    timed,
    `
    start                            entered work#1 · asks model
    model calls read                 asks tool read
    defer 3 until 30 s               deferred · wakes 3 at 30 s
    after 61 s, wake 3               finished budget_exhausted (max_wall_time_sec 60 work)
  `,
  );

  scenario(
    "S12: with an active clock a call that wakes by itself spends time, one that waits for people does not",
    active,
    `
    start                            entered work#1 · asks model
    model calls read                 asks tool read
    defer 3 until 31 s               deferred · wakes 3 at 31 s
    after 30 s, wake 3               resumed
    defer 3 asks why                 deferred · drops timer
    after 900 s, bob says 3 so       resumed with "so"
    after 30 s, timer                finished budget_exhausted (max_wall_time_sec 60 work)
  `,
  );
});

describe("calls that ask a person", () => {
  scenario(
    "S47: the answer is the call's input, and the result comes from the tool",
    pack,
    `
    start                            entered work#1 · asks model
    model calls read                 asks tool read
    defer 2 handle h asks which one   deferred
    status                           waiting
    bob says 2 {n: 1}                resumed with {"n":1}
    look 2                           open · handle "h" · input {"n":1}
    status                           running
    tool read ok x                   asks model
  `,
  );

  scenario(
    "S49, S50: a second answer to the question is not taken for the tool's result",
    pack,
    `
    start                            entered work#1 · asks model
    model calls read                 asks tool read
    defer 2 asks which               deferred
    bob says 2 left                  resumed with "left"
    bob says 2 left                  ignored: the question is no longer asked
    bob fails 2                      ignored: the question is no longer asked
    tool read ok x                   asks model
    bob says 2 left                  ignored: the step is answered already
  `,
  );

  scenario(
    "S47: an error answer ends the call",
    pack,
    `
    start                            entered work#1 · asks model
    model calls read                 asks tool read
    defer 2 asks which               deferred
    bob fails 2                      asks model
  `,
  );

  scenario(
    "S47: with a time beside the question the earlier wins, and a late answer is not taken",
    pack,
    `
    start                            entered work#1 · asks model
    model calls read and calls read   asks tool read · asks tool read
    defer 2 until 10 s asks which    deferred · wakes 2 at 10 s
    defer 3 until 10 s asks which    deferred · wakes 3 at 10 s
    status                           waiting
    bob says 2 left                  resumed with "left" · drops wake
    after 9 s, wake 3                resumed
    bob says 3 left                  ignored: the question is no longer asked
    look 3                           open
    defer 3 asks really              deferred
    bob says 3 yes                   resumed with "yes"
  `,
  );

  scenario(
    "S46: in doubt, an answer is the result again, whatever the call once asked",
    pack,
    `
    start                            entered work#1 · asks model
    model calls read                 asks tool read
    defer 2 handle h asks which      deferred
    bob says 2 left                  resumed with "left"
    doubt 2                          in_doubt
    retry 2                          retried
    look 2                           open · handle "h" · input "left"
    doubt 2                          in_doubt
    bob says 2 done                  asks model
  `,
  );

  scenario(
    "S52: a fork may answer the question otherwise",
    pack,
    `
    start                            entered work#1 · asks model
    model calls read                 asks tool read
    defer 2 handle h asks which      deferred
    fork answering 2 right           resumed with "right"
    look 2                           open · handle "h" · input "right"
  `,
  );

  scenario(
    "S52: a fork may replace the result of a call whose question was answered",
    pack,
    `
    start                            entered work#1 · asks model
    model calls read                 asks tool read
    defer 2 asks which               deferred
    bob says 2 left                  resumed with "left"
    fork answering 2 done            asks model
  `,
  );

  scenario(
    "S12: an answer after the run's time ends the run",
    timed,
    `
    start                            entered work#1 · asks model
    model calls read                 asks tool read
    defer 3 asks which               deferred
    after 61 s, bob says 3 left      resumed with "left" · finished budget_exhausted (max_wall_time_sec 60 work)
  `,
  );
});

describe("approvals of other arguments", () => {
  scenario(
    "S12, S31: an edit after the run's time ends the run",
    timed,
    `
    start                            entered work#1 · asks model
    model calls ship({to: a})        asks approval of ship
    after 60 s, approve 3 edit {to: b}   finished budget_exhausted (max_wall_time_sec 60 work)
  `,
    { gated: ["ship"] },
  );

  scenario(
    "S31, S48: an edit that does not fit the tool is refused, one that fits is asked again",
    pack,
    `
    start                            entered work#1 · asks model
    model calls ship({to: a})        asks approval of ship
    approve 2 edit {to: 1}           refused bad-arguments
    approve 2 edit {}                refused bad-arguments
    approve 2 edit {to: b}           asks approval of ship
    approve 2                        ignored: the step is decided already
    approve 3 edit {to: 1}           refused bad-arguments
    approve 3                        asks tool ship
    approve 3 edit {to: 1}           ignored: the step is decided already
  `,
    { gated: ["ship"] },
  );

  scenario(
    "S48, S52: a fork onto a pack that does not offer the tool cannot approve it",
    pack,
    `
    start                            entered work#1 · asks model
    model calls ship({to: a})        asks approval of ship
    fork onto another
    approve 2 edit {to: b}           refused bad-arguments
    approve 2                        refused bad-arguments
    reject no                        asks model
  `,
    { gated: ["ship"], another: pack.replace("tools: [read, ship]", "tools: [read]") },
  );
});

describe("forks onto another pack", () => {
  scenario(
    "S12, S52: an event chosen for a fork whose time is over under the other pack ends it",
    pack,
    `
    start                            entered work#1 · asks model
    after 70 s, model says "hm"      nudges · asks model
    fork onto another choosing Done   finished budget_exhausted (max_wall_time_sec 60 work)
  `,
    { another: timed },
  );
});
