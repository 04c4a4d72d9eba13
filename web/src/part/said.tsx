// What was said, as Markdown. A text that was cut is shown plain, with the rest on request.

import type { CutText } from "../journal/journal-shapes.ts";
import { Markdown } from "./markdown.tsx";
import { TextView } from "./text-view.tsx";

export function Said({ text, whole }: { readonly text: CutText; readonly whole: () => Promise<string> }) {
  return text.isCut ? (
    <TextView text={text} label="Text" isProse whole={whole} />
  ) : (
    <Markdown text={text.text} />
  );
}
