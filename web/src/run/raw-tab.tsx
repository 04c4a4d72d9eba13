// What was sent and what came back, and the facts of the turn, as they are stored.

import type { Moment, StepView } from "../journal/journal-shapes.ts";
import { Loading } from "../part/notices.tsx";
import { TextView } from "../part/text-view.tsx";
import type { RunView } from "./use-run.ts";

export function RawTab({ view, step }: { readonly view: RunView; readonly step: StepView | undefined }) {
  if (step === undefined) return <Loading />;
  const whole = (part: "request" | "response") => () => view.feed.questions.whole(step.step, part);
  return (
    <>
      <p className="step-title">Model call, step {step.step}</p>
      {step.request !== null && (
        <section className="block-section">
          <h3>Request</h3>
          <TextView text={step.request} label="Request" of={step.step} whole={whole("request")} />
        </section>
      )}
      {step.response !== null && (
        <section className="block-section">
          <h3>Response</h3>
          <TextView text={step.response} label="Response" of={step.step} whole={whole("response")} />
        </section>
      )}
    </>
  );
}

export function FactsTab({ view, moment }: { readonly view: RunView; readonly moment: Moment }) {
  return (
    <section className="block-section">
      <h3>Facts of turn {moment.turn}</h3>
      <TextView text={moment.facts} label="Facts" whole={() => view.feed.questions.facts(moment.turn)} />
    </section>
  );
}
