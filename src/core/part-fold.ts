// The fold of a composition: each part has its own rounds, calls and conversation, so that parts which run at
// the same time never see each other's answers. Decides nothing, like the rest of the fold.

import { assert } from "../base/assert.ts";
import { type Json, put } from "../base/json.ts";
import type { PartNoted } from "./facts.ts";
import type { Composing, Message, PartRun } from "./run.ts";

const fresh: PartRun = { is: "running", attempt: 1, round: 0, calls: 0, messages: [], said: null };

export function takePart(composing: Composing | undefined, fact: PartNoted): Composing {
  assert(composing !== undefined, "parts belong to a composition that has begun");
  const before = Object.hasOwn(composing.parts, fact.part) ? composing.parts[fact.part] : undefined;
  const parts = { ...composing.parts };
  put(parts, fact.part, movedOn(before, fact));
  return { ...composing, parts };
}

function movedOn(before: PartRun | undefined, fact: PartNoted): PartRun {
  switch (fact.is) {
    case "begun":
      return begun(before, fact);
    case "skipped":
      return { ...fresh, attempt: 0, is: "skipped" };
    case "done": {
      // A branch is decided at once, without having begun.
      const part = before ?? fresh;
      return { ...part, is: "done", output: fact.output === undefined ? part.said : fact.output };
    }
    case "failed": {
      const { code, message } = fact;
      return { ...(before ?? { ...fresh, attempt: 0 }), is: "failed", error: { code, message } };
    }
  }
}

function begun(before: PartRun | undefined, fact: Extract<PartNoted, { readonly is: "begun" }>): PartRun {
  const { attempt, prompt, input, mends } = fact;
  const given = { ...(prompt !== undefined && { prompt }), ...(input !== undefined && { input }) };
  if (mends === undefined || before === undefined) return { ...fresh, attempt, ...given };
  const messages: readonly Message[] = [...before.messages, { role: "user", text: mends }];
  return { ...fresh, attempt, ...given, messages };
}

export function partAsked(
  composing: Composing | undefined,
  id: string,
  asked: { readonly round?: number },
): Composing {
  return changed(composing, id, (part) =>
    asked.round === undefined ? { ...part, calls: part.calls + 1 } : { ...part, round: asked.round },
  );
}

/** Something was said in a part: by its model, by a tool, or by the rules in their place. */
export function partHeard(composing: Composing | undefined, id: string, message: Message): Composing {
  return changed(composing, id, (part) => {
    const messages = [...part.messages, message];
    if (message.role === "assistant") return { ...part, messages, said: message.text };
    // With a conversation a result is something the model hears; without, it is what the part is about.
    const own = part.prompt === undefined && message.role === "result" && !message.error;
    return own ? { ...part, messages, said: message.value } : { ...part, messages };
  });
}

/** Of a model's answer only what validators left is ever shown. */
export function partGuarded(composing: Composing | undefined, id: string, text: string): Composing {
  return changed(composing, id, (part) => {
    const last = part.messages.at(-1);
    assert(last?.role === "assistant", "a validator judges the answer that came last");
    return { ...part, messages: [...part.messages.slice(0, -1), { ...last, text }], said: text };
  });
}

function changed(
  composing: Composing | undefined,
  id: string,
  change: (part: PartRun) => PartRun,
): Composing {
  const part = composing && Object.hasOwn(composing.parts, id) ? composing.parts[id] : undefined;
  assert(composing !== undefined && part !== undefined, "a part that is heard of was begun");
  const parts = { ...composing.parts };
  put(parts, id, change(part));
  return { ...composing, parts };
}

/** What a part has come to so far; undefined when it has not been come to. */
export const partOf = (composing: Composing | undefined, id: string): PartRun | undefined =>
  composing !== undefined && Object.hasOwn(composing.parts, id) ? composing.parts[id] : undefined;

/** A composition that has just begun. */
export const newComposing = (composition: string, input: Json): Composing => ({
  composition,
  input,
  parts: {},
});
