// Every key there is.

import { Dialog } from "./part/dialog.tsx";

const KEYS: readonly (readonly [keys: readonly string[], what: string])[] = [
  [["j", "k"], "next and previous turn; arrows as well"],
  [["Home", "End"], "first and last turn"],
  [["[", "]"], "previous and next visit of the same state"],
  [["h", "l"], "previous and next tab of the inspector"],
  [["."], "follow the newest turn"],
  [["f"], "fork from this turn"],
  [["d"], "what the visit changed"],
  [["c"], "compare with another run"],
  [["a", "x"], "approve, reject (both ask again)"],
  [["y"], "copy the link"],
  [["/"], "search"],
  [["g r", "g i", "g p"], "runs, inbox, pack of the run"],
  [["?"], "this list"],
];

export function HelpDialog({ close }: { readonly close: () => void }) {
  return (
    <Dialog title="Keys" close={close}>
      <dl className="keys">
        {KEYS.map(([keys, what]) => (
          <div key={what}>
            <dt>
              {keys.map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
      <p className="faint">
        Letters do nothing while a field has the focus, and can be switched off in the settings.
      </p>
    </Dialog>
  );
}
