// What cannot start is refused before anything is opened for it: no store is made, no model or server is
// asked.

import type { JsonObject } from "../../base/json.ts";
import { decide } from "../../core/decide.ts";
import type { Limits, Mode } from "../../core/facts.ts";
import { emptyRun } from "../../core/run.ts";
import type { LoadedPack } from "../load-pack.ts";
import { refusalError } from "./refusal-error.ts";
import type { StartPlace } from "./start-place.ts";

export interface EarlyStart {
  readonly mode: Mode;
  readonly variables: JsonObject;
  readonly limits?: Partial<Limits>;
  readonly place: StartPlace;
}

export function refuseEarly({ program, digest }: LoadedPack, { place, ...given }: EarlyStart): void {
  const decision = decide(program, emptyRun, {
    type: "start",
    at: Date.now(),
    digest,
    input: "",
    ...given,
    ...place,
  });
  if (decision.kind === "refused") throw refusalError(decision.refusal);
}
