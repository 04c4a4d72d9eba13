// A text of any kind and length, as text. A long one is shown in part until somebody asks for the rest.

import { useState } from "react";
import type { Json } from "../../../src/base/json.ts";
import type { CutText } from "../journal/journal-shapes.ts";
import { size, visible } from "./format.ts";
import { saveFile } from "./save-file.ts";

interface TextProps {
  readonly text: CutText;
  readonly label: string;
  readonly whole?: () => Promise<string>;
  /** Names what the text is of, where that is not another thing with every text that is given. */
  readonly of?: Json;
  /** As prose, not as code. */
  readonly isProse?: boolean;
}

/** More than this is not put into a page; it can be downloaded. */
const LOADED_MAX = 2_000_000;

export function TextView({ text, label, whole, of, isProse = false }: TextProps) {
  const subject = of ?? text;
  const [kept, setKept] = useState<{ readonly subject: unknown; readonly text: string }>();
  // What was loaded at another turn is not what is looked at now.
  const loaded = kept?.subject === subject ? kept.text : undefined;
  const shown = loaded ?? text.text;
  const [problem, setProblem] = useState<string>();
  const fetchWhole = (take: (text: string) => void): void => {
    setProblem(undefined);
    whole?.().then(take, (error: unknown) =>
      setProblem(error instanceof Error ? error.message : String(error)),
    );
  };
  const load = (): void => fetchWhole((all) => setKept({ subject, text: all.slice(0, LOADED_MAX) }));
  const download = (): void => fetchWhole((all) => saveFile(fileName(label), all));
  return (
    <div className="text-view">
      <pre className={isProse ? "text prose" : "text"} tabIndex={0} role="region" aria-label={label}>
        {shown === "" ? <span className="faint">empty</span> : visible(shown)}
        {text.isCut && loaded === undefined && <span className="faint"> …</span>}
      </pre>
      {text.isCut && whole !== undefined && (
        <p className="cut-note">
          {loaded === undefined ? `The first part of ${size(text.size)}. ` : `${size(text.size)}. `}
          {loaded === undefined && (
            <button type="button" className="button quiet" onClick={load}>
              Load
            </button>
          )}
          <button type="button" className="button quiet" onClick={download}>
            Download
          </button>
        </p>
      )}
      {problem !== undefined && (
        <p className="problem" role="alert">
          {problem}
        </p>
      )}
    </div>
  );
}

const fileName = (label: string): string => `${label.replaceAll(/[^\w.-]+/g, "-").slice(0, 80)}.txt`;
