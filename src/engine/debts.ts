// What runs owe each other, and the world, when their work is over or was given up.

import type { Ask } from "../core/facts.ts";
import type { Run } from "../core/run.ts";

/** From one run to another, without the world between them; what has ended owes the world an end, too. */
export const isOwed = (ask: Ask, { final }: Run): boolean =>
  ask.kind === "reply" || (ask.kind === "stop" && (ask.remote === undefined || final !== null));

/** The caller has not been told yet how the run ended, and what it came to. */
export const owesReply = ({ open }: Run): boolean =>
  Object.values(open).some(({ ask }) => ask.kind === "reply");

/** Agents of the run may still be spending: until they have stopped, what it came to is not known. */
export const isStopping = ({ open }: Run): boolean =>
  Object.values(open).some(({ ask }) => ask.kind === "stop" && ask.remote === undefined);
