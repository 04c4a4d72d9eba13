// What a call can do, in words: how much, whether it may be made again, and how it is put back.

import type { CallRisk } from "../../../src/host/call-risk.ts";
import { visible } from "../part/format.ts";
import { isGrave } from "./decide.ts";

const TIERS: Readonly<Record<NonNullable<CallRisk["tier"]>, string>> = {
  read: "only reads",
  write: "writes",
  destructive: "destructive",
  egress: "sends something out",
};

export function RiskLines({ risk }: { readonly risk: CallRisk }) {
  const { tier, idempotent, reversibility, rollback } = risk;
  return (
    <dl className="pairs risk">
      <div>
        <dt>risk</dt>
        <dd>
          <span className={isGrave(risk) ? "chip fail" : "chip off"}>
            {tier === null ? "nobody says" : TIERS[tier]}
          </span>
          {reversibility !== null && ` ${reversibility}`}
        </dd>
      </div>
      <div>
        <dt>again</dt>
        <dd>{idempotent ? "may be made again with the same key" : "not idempotent: made once"}</dd>
      </div>
      {rollback !== null && (
        <div>
          <dt>put back</dt>
          <dd>{visible(rollback)}</dd>
        </div>
      )}
    </dl>
  );
}
