// An event from outside, or a message.

import { useState } from "react";
import type { InboxItem } from "../../../src/host/inbox.ts";
import { visible } from "../part/format.ts";
import { Write } from "./confirm.tsx";
import type { Decide } from "./decide.ts";

interface FormProps {
  readonly item: InboxItem;
  readonly decide: Decide;
}

/** Only events that the state allows can be sent. */
export function EventForm({ item, decide }: FormProps) {
  const [event, setEvent] = useState<string>();
  const events = item.events ?? [];
  if (event !== undefined)
    return (
      <Write
        label={`Context of ${visible(event)}: why, or what should be done`}
        word={`Send ${visible(event)}`}
        isOptional
        act={(context) =>
          decide("/events", { name: event, ...(context !== "" && { context }) }, `sent ${event}`)
        }
        back={() => setEvent(undefined)}
      />
    );
  return (
    <div className="actions">
      {events.map((one) => (
        <button key={one} type="button" className="button" onClick={() => setEvent(one)}>
          {visible(one)}
        </button>
      ))}
    </div>
  );
}

export function MessageForm({ decide }: Pick<FormProps, "decide">) {
  return <Write label="Message" word="Send" act={(text) => decide("/messages", { text }, "sent")} />;
}
