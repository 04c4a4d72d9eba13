// Copies a text and says so.

import { useEffect, useState } from "react";

interface CopyProps {
  readonly text: () => string | Promise<string>;
  readonly children: string;
  readonly title?: string;
}

export function CopyButton({ text, children, title }: CopyProps) {
  const [said, setSaid] = useState<"copied" | "not copied">();
  useEffect(() => {
    if (said === undefined) return undefined;
    const timer = setTimeout(() => setSaid(undefined), 1_500);
    return () => clearTimeout(timer);
  }, [said]);
  const copy = async (): Promise<void> => {
    setSaid((await copyText(await text())) ? "copied" : "not copied");
  };
  return (
    <button type="button" className="button quiet" title={title} onClick={() => void copy()}>
      <span aria-live="polite">
        {said === undefined ? children : said === "copied" ? "Copied" : "Not copied"}
      </span>
    </button>
  );
}

/** False where the browser allows no page to copy. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    // The button says that nothing was copied.
    return false;
  }
}
