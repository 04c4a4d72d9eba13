// What can be taken elsewhere: a link to what is seen, commands that say the same, and the run as a test.

import { useState } from "react";
import type { Summary } from "../../../src/core/summary.ts";
import { CopyButton } from "../part/copy-button.tsx";
import { saveFile } from "../part/save-file.ts";
import { linkNow } from "../route.ts";
import { wordOf } from "./shell-word.ts";
import type { RunView } from "./use-run.ts";

interface MenuProps {
  readonly view: RunView;
  readonly summary: Summary;
}

export function RunMenu({ view, summary }: MenuProps) {
  const [problem, setProblem] = useState<string>();
  const made = async () => (await import("./test-file.ts")).testFile(view.feed.run, summary.pack);
  const save = async (): Promise<void> => {
    try {
      const { name, text } = await made();
      setProblem(undefined);
      saveFile(name, text);
    } catch (error) {
      // Not every run can be played again; it says why.
      setProblem(error instanceof Error ? error.message : String(error));
    }
  };
  return (
    <>
      <CopyButton text={linkNow}>Copy link</CopyButton>
      <CopyButton text={() => commandFor(view)} title={commandFor(view)}>
        Copy command
      </CopyButton>
      <button
        type="button"
        className="button quiet"
        title={`packloop export ${wordOf(view.feed.run)} --test`}
        onClick={() => void save()}
      >
        Export as test
      </button>
      {problem !== undefined && (
        <p className="problem" role="alert">
          {problem}
        </p>
      )}
    </>
  );
}

/** The command that shows what is looked at: the run, a turn of it, or a part of one step. */
function commandFor({ feed, turn, isFollowing, query, moment }: RunView): string {
  const run = wordOf(`${feed.run}${isFollowing ? "" : `@${turn}`}`);
  const step = moment.value?.modelStep ?? null;
  const tab = query.get("tab");
  const part = tab === "prompt" || tab === "messages" || tab === "raw" ? ` --${tab}` : "";
  if (part !== "" && step !== null) return `packloop step ${wordOf(feed.run)} ${step}${part}`;
  return `packloop show ${run}`;
}
