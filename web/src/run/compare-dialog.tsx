// Which other run to compare with.

import { type FormEvent, useState } from "react";
import type { RunLine } from "../../../src/host/run-line.ts";
import { ask } from "../api.ts";
import { Dialog } from "../part/dialog.tsx";
import { age } from "../part/format.ts";
import { StatusChip } from "../part/status-chip.tsx";
import { useAsked, useNow } from "../part/use-asked.ts";
import { compareHref, go } from "../route.ts";

export function CompareDialog({ run, close }: { readonly run: string; readonly close: () => void }) {
  const [other, setOther] = useState("");
  const now = useNow();
  const { value } = useAsked("runs", () =>
    ask<{ readonly items: readonly RunLine[] }>("/api/runs?limit=20&parent="),
  );
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    if (other.trim() !== "") go(compareHref(run, other.trim()));
  };
  return (
    <Dialog title={`Compare ${run} with`} close={close}>
      <form onSubmit={submit} className="inline-form">
        <label className="field grow">
          Run
          <input value={other} onChange={(event) => setOther(event.target.value)} className="mono" />
        </label>
        <button type="submit" className="button primary">
          Compare
        </button>
      </form>
      <ul className="pick-list">
        {(value?.items ?? [])
          .filter((item) => item.run !== run)
          .map((item) => (
            <li key={item.run}>
              <button type="button" onClick={() => go(compareHref(run, item.run))}>
                <span className="mono">{item.run}</span>
                <StatusChip status={item.status} />
                <span className="faint">{age(Date.parse(item.updated_at), now)}</span>
              </button>
            </li>
          ))}
      </ul>
    </Dialog>
  );
}
