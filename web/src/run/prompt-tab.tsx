// What the model was sent: the prompt with the origin of every value, and the conversation.

import { useState } from "react";
import type { ShownMessage, StepView, WholePart } from "../journal/journal-shapes.ts";
import { count, money, visible } from "../part/format.ts";
import { Loading } from "../part/notices.tsx";
import { Said } from "../part/said.tsx";
import { TextView } from "../part/text-view.tsx";
import type { RunView } from "./use-run.ts";

interface StepProps {
  readonly view: RunView;
  readonly step: StepView | undefined;
}

const SOURCES: Readonly<Record<string, string>> = {
  variable: "variable",
  default: "default of",
  artifact: "artifact",
  workflow_context: "context of the transition",
  fragment: "fragment",
  missing: "no value for",
};

export function PromptTab({ view, step }: StepProps) {
  const [isRaw, setRaw] = useState(false);
  if (step === undefined) return <Loading />;
  return (
    <>
      <StepTitle step={step} />
      <div className="segments" role="group" aria-label="How the prompt is shown">
        <button type="button" aria-pressed={!isRaw} onClick={() => setRaw(false)}>
          With origins
        </button>
        <button type="button" aria-pressed={isRaw} onClick={() => setRaw(true)}>
          As sent
        </button>
      </div>
      {step.missing.length > 0 && (
        <p className="problem">
          Nothing was put in for {step.missing.map((name) => `{{${name}}}`).join(", ")}.
        </p>
      )}
      <pre className="text prompt" tabIndex={0} role="region" aria-label="Prompt">
        {step.parts.map((part, index) => {
          const text = visible(part.text.text) + (part.text.isCut ? "…" : "");
          if (isRaw || part.kind === "template") return <span key={index}>{text}</span>;
          return (
            <mark
              key={index}
              className={`origin ${part.kind}`}
              title={`${SOURCES[part.kind] ?? part.kind} ${part.name}`}
            >
              <span className="origin-name">
                {part.kind === "workflow_context" ? "context" : visible(part.name)}
              </span>
              {text === "" ? <span className="faint">empty</span> : text}
            </mark>
          );
        })}
      </pre>
      <CutParts step={step} whole={(part) => view.feed.questions.whole(step.step, part)} />
      {step.offered.length > 0 && (
        <section className="block-section">
          <h3>Tools offered</h3>
          <p className="tags">
            {step.offered.map((name) => (
              <code key={name}>{visible(name)}</code>
            ))}
          </p>
        </section>
      )}
    </>
  );
}

type Whole = (part: WholePart) => Promise<string>;

/** Pieces that are too long to stand among the others. */
function CutParts({ step, whole }: { readonly step: StepView; readonly whole: Whole }) {
  return step.parts.map(({ text, name, kind }, index) =>
    text.isCut ? (
      <section className="block-section" key={index}>
        <h3>{visible(name === "" ? kind : name)}</h3>
        <TextView text={text} label={name === "" ? kind : name} whole={() => whole(`part ${index}`)} />
      </section>
    ) : null,
  );
}

function StepTitle({ step }: { readonly step: StepView }) {
  const { usage } = step;
  return (
    <p className="step-title">
      Model call, step {step.step}
      <span className="faint">
        {" "}
        {visible(step.state ?? "")} {step.status === "open" ? "not answered at this turn" : step.status}
        {usage !== null &&
          `, ${count(usage.inputTokens)} in, ${count(usage.outputTokens)} out, ${money(usage.costUsd)}`}
      </span>
    </p>
  );
}

export function MessagesTab({ view, step }: StepProps) {
  if (step === undefined) return <Loading />;
  const { earlier } = step;
  const whole: Whole = (part) => view.feed.questions.whole(step.step, part);
  return (
    <>
      <StepTitle step={step} />
      {earlier > 0 && (
        <p className="faint">{count(earlier)} earlier messages are in the request, in the Raw tab.</p>
      )}
      <ol className="messages" start={earlier + 1}>
        {step.messages.map((message, index) => (
          <Message key={earlier + index} message={message} place={earlier + index} whole={whole} />
        ))}
        {step.reply !== null && <Message message={step.reply} place={null} whole={whole} />}
        {step.reply === null && step.error !== null && (
          <li className="message failed">{visible(step.error)}</li>
        )}
        {step.reply === null && step.error === null && (
          <li className="faint">The model has not answered at this turn.</li>
        )}
      </ol>
    </>
  );
}

interface MessageProps {
  readonly message: ShownMessage;
  /** Among the messages of the request; null for what the model answered. */
  readonly place: number | null;
  readonly whole: Whole;
}

function Message({ message, place, whole }: MessageProps) {
  const { role, title, text, calls, isError } = message;
  const isReply = place === null;
  const wholeText = () => whole(place === null ? "reply" : `message ${place}`);
  const name = ["message", role, isReply && "reply", isError && "failed"].filter((one) => one !== false);
  return (
    <li className={name.join(" ")}>
      <p className="message-title">
        {role === "tool" ? `result of ${visible(title)}` : role}
        {isReply && <span className="faint"> answer</span>}
        {isError && <span className="bad"> error</span>}
      </p>
      {role === "tool" ? (
        <TextView text={text} label={`Result of ${title}`} whole={wholeText} />
      ) : (
        text.text !== "" && <Said text={text} whole={wholeText} />
      )}
      {calls.map((call, nth) => (
        <div key={call.id} className="call">
          <p className="call-title">
            calls <code>{visible(call.tool)}</code>
          </p>
          <TextView
            text={call.args}
            label={`Arguments of ${call.tool}`}
            whole={() => whole(place === null ? "response" : `call ${place} ${nth}`)}
          />
        </div>
      ))}
    </li>
  );
}
