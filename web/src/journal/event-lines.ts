// Server-sent events out of bytes that come in pieces. Only what the server sends: names, and data on one
// line.

export interface StreamEvent {
  readonly name: string;
  readonly data: string;
}

/** Comments are events without a name: they show that somebody is there. */
export async function* eventsIn(body: ReadableStream<Uint8Array>): AsyncGenerator<StreamEvent> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let text = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      // Only what is new may end an event, but for the first half of its end.
      const seen = Math.max(0, text.length - 1);
      text += decoder.decode(value, { stream: true });
      let from = 0;
      for (let end = text.indexOf("\n\n", seen); end !== -1; end = text.indexOf("\n\n", from)) {
        yield eventOf(text.slice(from, end));
        from = end + 2;
      }
      text = text.slice(from);
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

function eventOf(lines: string): StreamEvent {
  let [name, data] = ["", ""];
  for (const line of lines.split("\n")) {
    if (line.startsWith("event: ")) name = line.slice("event: ".length);
    if (line.startsWith("data: ")) data = line.slice("data: ".length);
  }
  return { name, data };
}
