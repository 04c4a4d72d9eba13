// Approve, reject, change the arguments, or answer in place of the call. What is approved is named by its
// hash.

import { useMemo, useState } from "react";
import type { Json } from "../../../src/base/json.ts";
import type { InboxItem } from "../../../src/host/inbox.ts";
import { visible } from "../part/format.ts";
import { useKeys } from "../part/keys.ts";
import { ArgumentsDiff } from "./arguments-diff.tsx";
import { Confirm, Write } from "./confirm.tsx";
import { type Decide, isGrave } from "./decide.ts";
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
      return <Choose choose={setMode} />;
    case "approve":
      return <Approve item={item} send={send} back={back} />;
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

function Choose({ choose }: { readonly choose: (mode: Mode) => void }) {
  return (
    <div className="actions">
      <button type="button" className="button primary" onClick={() => choose("approve")}>
        Approve
      </button>
      <button type="button" className="button danger" onClick={() => choose("reject")}>
        Reject
      </button>
      <button type="button" className="button quiet" onClick={() => choose("edit")}>
        Change arguments
      </button>
      <button type="button" className="button quiet" onClick={() => choose("respond")}>
        Answer instead
      </button>
    </div>
  );
}

interface ApproveProps {
  readonly item: InboxItem;
  readonly send: (body: Readonly<Record<string, unknown>>, word: string) => Promise<void>;
  readonly back: () => void;
}

/**
 * A call that cannot be taken back, or of which nothing is known, is asked about a second time, with the
 * focus on the way back.
 */
function Approve({ item, send, back }: ApproveProps) {
  const [comment, setComment] = useState("");
  const [isSure, setSure] = useState(false);
  const tool = visible(item.tool ?? "it");
  const approve = () =>
    send({ decision: "approve", ...(comment.trim() !== "" && { reason: comment }) }, "approved");
  const needsMore = item.risk === undefined || isGrave(item.risk);
  const why = item.risk === undefined ? "is not known as harmless" : "cannot simply be taken back";
  if (isSure)
    return (
      <Confirm
        // Another question is another element: the focus must not stay where it was.
        key="sure"
        text={`${tool} ${why}. Approve it all the same?`}
        word="Yes, run it"
        isGrave
        act={approve}
        back={back}
      />
    );
  return (
    <Confirm
      key="first"
      text={`Run ${tool} with exactly these arguments?`}
      word="Approve"
      act={async () => (needsMore ? setSure(true) : approve())}
      back={back}
    >
      <label className="field">
        Comment, kept in the journal
        <input value={comment} onChange={(event) => setComment(event.target.value)} />
      </label>
    </Confirm>
  );
}

interface EditProps {
  readonly args: Json;
  readonly act: (value: Json) => Promise<void>;
  readonly back: () => void;
}

function Edit({ args, act, back }: EditProps) {
  const [text, setText] = useState(() => JSON.stringify(args, null, 2));
  const parsed = useMemo(() => parsedJson(text), [text]);
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
      {parsed.ok ? (
        <ArgumentsDiff before={args} after={parsed.value} label="Changes that you make" />
      ) : (
        <p className="problem">{parsed.message}</p>
      )}
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
