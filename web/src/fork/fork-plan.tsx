// What a fork would do: its first calls for certain, and then what its origin did after the cut.

import type { CallRisk } from "../../../src/host/call-risk.ts";
import type { ForkView } from "../../../src/host/fork-view.ts";
import { wholeCut } from "../journal/cut-text.ts";
import { visible } from "../part/format.ts";
import { TextView } from "../part/text-view.tsx";

export function ForkPlan({ plan }: { readonly plan: ForkView }) {
  const { calls, waiting_for: waits, origin_called: later } = plan;
  return (
    <section className="card plan" aria-label="What the fork would do">
      <p>
        It begins in <strong>{visible(plan.state ?? "no state")}</strong> and first makes{" "}
        {counted(calls.length, "call")}
        {waits.length > 0 && `; it waits for ${waits.map(({ kind }) => kind.replace("_", " ")).join(", ")}`}.
      </p>
      {calls.length > 0 && (
        <ul className="plain-list">
          {calls.map((call) => (
            <li key={call.step}>
              {call.kind === "model"
                ? `model, prompt ${visible(call.prompt)}`
                : `${call.kind} ${visible(call.tool ?? "")}`}
              {call.risk !== undefined && ` (${riskText(call.risk)})`}
              {call.args !== undefined && <TextView text={wholeCut(call.args)} label="Arguments" />}
            </li>
          ))}
        </ul>
      )}
      <p>{willCall(plan)}</p>
      {later.length > 0 && (
        <ul className="plain-list">
          {later.map(({ tool, calls: made, risk }) => (
            <li key={tool}>
              <code>{visible(tool)}</code> {made === 1 ? "once" : `${made} times`} ({riskText(risk)})
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

const counted = (number: number, word: string): string =>
  number === 0 ? `no ${word}` : number === 1 ? `one ${word}` : `${number} ${word}s`;

const riskText = ({ tier, idempotent }: CallRisk): string =>
  `${tier ?? "unknown risk"}, ${idempotent ? "idempotent" : "not idempotent"}`;

/** Open calls of tools were not made yet, so the origin's count of what followed has them already. */
function willCall({ calls, origin_called: later }: ForkView): string {
  const first = calls.filter(({ kind }) => kind !== "model");
  const tools = later.reduce((sum, { calls: made }) => sum + made, 0);
  const bad = later.reduce((sum, { calls: made, risk }) => sum + (risk.idempotent ? 0 : made), 0);
  if (tools === 0 && first.length === 0) return "From here its origin called no tool.";
  if (tools === 0) {
    const unsafe = first.filter(({ risk }) => risk?.idempotent === false).length;
    return `It will call ${counted(first.length, "tool")}, ${unsafe} not idempotent.`;
  }
  return `If it goes as its origin went, it will call ${counted(tools, "tool")}, ${bad} not idempotent:`;
}
