// The graph as a table: the same, for those who do not see pictures.

import type { StateLine } from "../journal/journal-shapes.ts";
import { count, visible } from "./format.ts";
import type { Overlay } from "./pack-graph.tsx";

interface TableProps {
  readonly states: readonly StateLine[];
  readonly overlay?: Overlay;
}

export function StateTable({ states, overlay }: TableProps) {
  return (
    <div className="scroll" tabIndex={0} role="region" aria-label="States">
      <table className="plain">
        <thead>
          <tr>
            <th scope="col">State</th>
            <th scope="col" className="right">
              Visits
            </th>
            <th scope="col" className="right">
              Limit
            </th>
            <th scope="col">Leads to</th>
          </tr>
        </thead>
        <tbody>
          {states.map((state) => (
            <tr key={state.name} aria-current={overlay?.current === state.name ? "true" : undefined}>
              <th scope="row">
                {visible(state.name)}
                {state.facts !== "" && <span className="faint small block">{visible(state.facts)}</span>}
              </th>
              <td className="right numbers">{count(visitsOf(overlay, state.name))}</td>
              <td className="right numbers">{state.limit ?? "—"}</td>
              <td>
                {state.leadsTo.length === 0 && <span className="faint">end</span>}
                {state.leadsTo.map(({ label, to }) => (
                  <span key={`${label} ${to}`} className="block">
                    {visible(label)} → {visible(to)}
                  </span>
                ))}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

const visitsOf = (overlay: Overlay | undefined, name: string): number =>
  overlay !== undefined && Object.hasOwn(overlay.visits, name) ? (overlay.visits[name] ?? 0) : 0;
