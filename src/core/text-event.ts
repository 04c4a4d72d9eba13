// S19: an event given as plain text, for packs whose prompts say "respond with: resolved".

/**
 * The event a response names: its whole text or its last line, exact first, then the only one that differs by
 * case.
 */
export function eventInText(text: string, events: readonly string[]): string | undefined {
  const lines = text.trim().split("\n");
  const last = lines.findLast((line) => line.trim() !== "") ?? "";
  const candidates = [bare(text), bare(last)];
  for (const candidate of candidates) if (events.includes(candidate)) return candidate;
  for (const candidate of candidates) {
    const folded = events.filter((event) => event.toLowerCase() === candidate.toLowerCase());
    if (folded.length === 1) return folded[0];
  }
  return undefined;
}

/** Without what people and models put around a word. */
function bare(text: string): string {
  const stripped = text.trim().replace(/^["'`*.!\s]+|["'`*.!\s]+$/g, "");
  return stripped.replace(/^event:\s*/i, "").replace(/^["'`*.!\s]+|["'`*.!\s]+$/g, "");
}
