// Approve, reject, change the arguments, or answer in place of the call. What is approved is named by its
// hash.

import { useRef, useState } from "react";
import type { Json } from "../../../src/base/json.ts";
import type { InboxItem } from "../../../src/host/inbox.ts";
import { useKeys } from "../part/keys.ts";
import type { Decide } from "./decide.ts";
import { parsedJson } from "./json-field.ts";

interface FormProps {
  readonly item: InboxItem;
  readonly decide: Decide;
  readonly takesKeys: boolean;
}

type Mode = "choose" | "approve" | "reject" | "edit" | "respond";

export function ApprovalForm({ item, decide, takesKeys }: FormProps) {
  const [mode, setMode] = useState<Mode>("choose");
  useKeys(takesKeys ? { a: () => setMode("approve"), x: () => setMode("reject") } : {});
  const send = (body: Readonly<Record<string, unknown>>, word: string): Promise<void> =>
    decide(`/approvals/${item.step}`, { sha256: item.sha256, ...body }, word);
  const back = (): void => setMode("choose");
  switch (mode) {
    case "choose":
      return (
        <div className="actions">
          <button type="button" className="button primary" onClick={() => setMode("approve")}>
            Approve
          </button>
          <button type="button" className="button danger" onClick={() => setMode("reject")}>
            Reject
          </button>
          <button type="button" className="button quiet" onClick={() => setMode("edit")}>
            Change arguments
          </button>
          <button type="button" className="button quiet" onClick={() => setMode("respond")}>
            Answer instead
          </button>
        </div>
      );
    case "approve":
      return (
        <Confirm
          text={`Run ${item.tool ?? "it"} with exactly these arguments?`}
          word="Approve"
          act={() => send({ decision: "approve" }, "approved")}
          back={back}
        />
      );
    case "reject":
      return (
        <Write
          label="Reason"
          word="Reject"
          isOptional
          act={(reason) => send({ decision: "reject", reason }, "rejected")}
          back={back}
        />
      );
    case "respond":
      return (
        <Write
          label="What the model hears in place of the result"
          word="Answer"
          act={(value) => send({ decision: "respond", value }, "answered in its place")}
          back={back}
        />
      );
    case "edit":
      return (
        <Edit
          args={item.args ?? null}
          act={(value) =>
            send({ decision: "edit", value }, "arguments changed; they ask to be approved again")
          }
          back={back}
        />
      );
  }
}

interface ConfirmProps {
  readonly text: string;
  readonly word: string;
  readonly act: () => Promise<void>;
  readonly back: () => void;
}

export function Confirm({ text, word, act, back }: ConfirmProps) {
  return (
    <div className="confirm">
      <p>{text}</p>
      <div className="actions">
        <button type="button" className="button primary" autoFocus onClick={() => void act()}>
          {word}
        </button>
        <button type="button" className="button quiet" onClick={back}>
          Back
        </button>
      </div>
    </div>
  );
}

interface WriteProps {
  readonly label: string;
  readonly word: string;
  readonly isOptional?: boolean;
  readonly act: (text: string) => Promise<void>;
  readonly back?: () => void;
}

export function Write({ label, word, isOptional = false, act, back }: WriteProps) {
  const [text, setText] = useState("");
  const field = useRef<HTMLTextAreaElement>(null);
  return (
    <div className="confirm">
      <label className="field">
        {label}
        <textarea
          ref={field}
          rows={3}
          value={text}
          autoFocus={back !== undefined}
          onChange={(event) => setText(event.target.value)}
        />
      </label>
      <div className="actions">
        <button
          type="button"
          className="button primary"
          disabled={!isOptional && text.trim() === ""}
          onClick={() => void act(text)}
        >
          {word}
        </button>
        {back !== undefined && (
          <button type="button" className="button quiet" onClick={back}>
            Back
          </button>
        )}
      </div>
    </div>
  );
}

interface EditProps {
  readonly args: Json;
  readonly act: (value: Json) => Promise<void>;
  readonly back: () => void;
}

function Edit({ args, act, back }: EditProps) {
  const [text, setText] = useState(() => JSON.stringify(args, null, 2));
  const parsed = parsedJson(text);
  return (
    <div className="confirm">
      <label className="field">
        Arguments, as JSON
        <textarea
          rows={8}
          className="mono"
          value={text}
          autoFocus
          aria-invalid={!parsed.ok}
          onChange={(event) => setText(event.target.value)}
        />
      </label>
      {!parsed.ok && <p className="problem">{parsed.message}</p>}
      <div className="actions">
        <button
          type="button"
          className="button primary"
          disabled={!parsed.ok}
          onClick={() => parsed.ok && void act(parsed.value)}
        >
          Ask again with these
        </button>
        <button type="button" className="button quiet" onClick={back}>
          Back
        </button>
      </div>
    </div>
  );
}
