// The calls of the visit: arguments, result, how long each took, and who let it through.

import { useState } from "react";
import type { Moment, StepLine, StepView } from "../journal/journal-shapes.ts";
import { duration, visible } from "../part/format.ts";
import { Link } from "../part/link.tsx";
import { Failed, Loading } from "../part/notices.tsx";
import { TextView } from "../part/text-view.tsx";
import { useAsked } from "../part/use-asked.ts";
import { runHref } from "../route.ts";
import type { RunView } from "./use-run.ts";

interface ToolsProps {
  readonly view: RunView;
  readonly moment: Moment;
}

export function ToolsTab({ view, moment }: ToolsProps) {
  const calls = moment.steps.filter(({ tool }) => tool !== null);
  const [open, setOpen] = useState<number>();
  const shown = calls.some(({ step }) => step === open) ? open : calls.at(-1)?.step;
  return (
    <ul className="calls">
      {calls.map((call) => (
        <li key={call.step} className="card">
          <button
            type="button"
            className="call-head"
            aria-expanded={call.step === shown}
            onClick={() => setOpen(call.step === shown ? -1 : call.step)}
          >
            <code>{visible(call.tool ?? "")}</code>
            <span className={`outcome ${call.status}`}>{WORDS[call.status]}</span>
            <span className="grow" />
            <span className="faint numbers">
              step {call.step}
              {call.answeredAt !== null && `, ${duration(call.answeredAt - call.at)}`}
            </span>
          </button>
          {call.step === shown && open !== -1 && <CallBody view={view} call={call} turn={moment.turn} />}
        </li>
      ))}
    </ul>
  );
}

const WORDS: Readonly<Record<StepLine["status"], string>> = {
  open: "not answered yet",
  in_doubt: "in doubt",
  deferred: "deferred",
  answered: "answered",
  failed: "failed",
  abandoned: "given up",
};

interface BodyProps {
  readonly view: RunView;
  readonly call: StepLine;
  readonly turn: number;
}

function CallBody({ view: { feed }, call, turn }: BodyProps) {
  const { value, error } = useAsked<StepView>(`${feed.run} ${call.step} ${turn}`, () =>
    feed.questions.step(call.step, turn),
  );
  if (error !== undefined) return <Failed error={error} />;
  if (value === undefined) return <Loading lines={3} />;
  const whole = (part: "args" | "result") => () => feed.questions.whole(call.step, part);
  return (
    <div className="call-body">
      {value.args !== null && (
        <>
          <h3>Arguments</h3>
          <TextView text={value.args} label="Arguments" of={call.step} whole={whole("args")} />
        </>
      )}
      {value.result !== null && (
        <>
          <h3>Result</h3>
          <TextView text={value.result} label="Result" of={call.step} whole={whole("result")} />
        </>
      )}
      {value.error !== null && <p className="problem">{visible(value.error)}</p>}
      <dl className="pairs">
        <div>
          <dt>key</dt>
          <dd className="mono">{value.key}</dd>
        </div>
        {value.by !== null && (
          <div>
            <dt>by</dt>
            <dd>{visible(value.by)}</dd>
          </div>
        )}
        {value.sha256 !== null && (
          <div>
            <dt>SHA-256</dt>
            <dd className="mono">{value.sha256}</dd>
          </div>
        )}
        {value.child !== null && (
          <div>
            <dt>run</dt>
            <dd>
              <Link to={runHref(value.child)} className="mono">
                {value.child}
              </Link>
            </dd>
          </div>
        )}
      </dl>
    </div>
  );
}
