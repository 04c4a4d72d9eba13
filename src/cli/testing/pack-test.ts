// A test of a pack as its file says it: what the run is played with, what people do, what must come out.

import type { Script } from "../../adapter/script/read-script.ts";
import type { Json, JsonObject, Path } from "../../base/json.ts";
import type { Limits, Mode, Outcome, Status } from "../../core/facts.ts";
import type { Difference } from "./difference.ts";
import type { MockScenario } from "./mock-file.ts";

export interface PackTest {
  readonly name: string;
  /** As it was given on the command line or found. */
  readonly file: string;
  /** Where it stands in the file. */
  readonly at: Path;
  /** `FILE:LINE:COLUMN` of anything in the file. */
  readonly place: (path: Path) => string;
  /** Why it is left out. */
  readonly skip?: string;
  readonly pack: string;
  readonly config?: string;
  readonly model: PlayedModel;
  /** Tools and people, and with `{ kind: "script" }` the model. */
  readonly script: Script;
  readonly variables: JsonObject;
  readonly input: string;
  readonly prompt?: string;
  readonly mode: Mode;
  readonly limits: Partial<Limits>;
  readonly approvals: readonly string[];
  readonly people: readonly Act[];
  /** A folder that is copied for the test's tools to work in; an empty one when there is none. */
  readonly workspace?: string;
  readonly timeoutMs: number;
  readonly expect: Expectations;
  /** Of a Scenario: what the user says, one after the other, and what is then judged. */
  readonly turns: readonly UserTurn[];
  /** Of a Scenario: what is judged at its end, and what nobody can judge. */
  readonly closing: { readonly checks: readonly Check[]; readonly unsupported: readonly Difference[] };
  readonly remarks: readonly string[];
}

export type PlayedModel =
  | { readonly kind: "script" }
  | { readonly kind: "cassette"; readonly file: string }
  | { readonly kind: "mock"; readonly scenario: MockScenario };

/** What a person does once the run waits for it. */
export type Act =
  | { readonly do: "approve"; readonly tool: string; readonly by: string; readonly edit?: Json }
  | { readonly do: "reject"; readonly tool: string; readonly by: string; readonly reason: string }
  | { readonly do: "answer"; readonly tool: string; readonly by: string; readonly outcome: Outcome }
  | { readonly do: "say"; readonly text: string; readonly by: string }
  | {
      readonly do: "send";
      readonly event: string;
      readonly by: string;
      readonly context?: string;
      readonly artifacts?: JsonObject;
    }
  | { readonly do: "cancel"; readonly reason: string; readonly by: string };

export interface UserTurn {
  readonly text: string;
  readonly checks: readonly Check[];
}

export interface Expectations {
  readonly status?: Status;
  readonly reason?: ExpectedReason;
  readonly state?: string;
  /** States in the order they were entered. */
  readonly path?: readonly string[];
  readonly transitions?: readonly JsonObject[];
  readonly visits?: Readonly<Record<string, number>>;
  readonly artifacts?: Readonly<Record<string, Matcher>>;
  readonly output?: Matcher;
  readonly used?: Partial<Limits>;
  readonly checks: readonly Check[];
}

export interface ExpectedReason {
  readonly code?: string;
  readonly limit?: string;
  readonly state?: string;
  readonly message?: Matcher;
}

/** All that are given must hold. */
export interface Matcher {
  readonly equals?: Json;
  readonly contains?: Json;
  readonly matches?: string;
  readonly schema?: JsonObject | boolean;
  readonly length?: { readonly min: number; readonly max: number };
  readonly exists?: boolean;
}

export interface Check {
  readonly type: string;
  readonly params: JsonObject;
  /** Why it matters, in the author's words. */
  readonly message?: string;
  readonly when?: JsonObject;
  /** `FILE:LINE:COLUMN` */
  readonly place: string;
}
