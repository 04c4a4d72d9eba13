// Runs as rows: how each stands, what it has used, and when it moved.

import type { RunLine } from "../../../src/host/run-line.ts";
import { age, clock, count, money, shortDigest, visible } from "../part/format.ts";
import { Link } from "../part/link.tsx";
import { StatusChip } from "../part/status-chip.tsx";
import { useNow } from "../part/use-asked.ts";
import { goWith, packHref, runHref } from "../route.ts";

const HEADS: readonly { readonly name: string; readonly isNumber?: true }[] = [
  { name: "Status" },
  { name: "Run" },
  { name: "State" },
  { name: "Pack" },
  { name: "Reason" },
  { name: "Visits", isNumber: true },
  { name: "Calls", isNumber: true },
  { name: "Tokens", isNumber: true },
  { name: "Cost", isNumber: true },
  { name: "Age", isNumber: true },
  { name: "Changed", isNumber: true },
];

export function RunTable({ items }: { readonly items: readonly RunLine[] }) {
  const now = useNow();
  return (
    <div className="scroll" tabIndex={0} role="region" aria-label="Runs">
      <table className="plain runs">
        <thead>
          <tr>
            {HEADS.map(({ name, isNumber }) => (
              <th key={name} scope="col" className={isNumber === true ? "right" : undefined}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {items.map((item) => (
            <Row key={item.run} item={item} now={now} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Row({ item, now }: { readonly item: RunLine; readonly now: number }) {
  const { used, reason } = item;
  return (
    <tr>
      <td>
        <StatusChip status={item.status} />
        {item.held && <span className="chip off">held</span>}
      </td>
      <th scope="row">
        <Link to={runHref(item.run)} className="mono">
          {item.run}
        </Link>
      </th>
      <td>{visible(item.state ?? "—")}</td>
      <td>
        <Link to={packHref(item.pack.digest)} title={item.pack.digest}>
          {visible(item.pack.id)} {visible(item.pack.version)}
        </Link>{" "}
        <span className="mono faint small">{shortDigest(item.pack.digest)}</span>
      </td>
      <td>
        {reason !== null && (
          <button
            type="button"
            className="inline-button"
            title="Only runs with this reason"
            onClick={() => goWith({ reason })}
          >
            {visible(reason)}
          </button>
        )}
      </td>
      <td className="right numbers">{count(item.visits)}</td>
      <Number value={used && used.model_calls + used.tool_calls} show={count} />
      <Number value={used && used.input_tokens + used.output_tokens} show={count} />
      <Number value={used && used.cost_usd} show={money} />
      <Time at={Date.parse(item.started_at)} now={now} />
      <Time at={Date.parse(item.updated_at)} now={now} />
    </tr>
  );
}

interface NumberProps {
  /** Null where an earlier release did not count it. */
  readonly value: number | null;
  readonly show: (value: number) => string;
}

const Number = ({ value, show }: NumberProps) => (
  <td className="right numbers">{value === null ? "—" : show(value)}</td>
);

const Time = ({ at, now }: { readonly at: number; readonly now: number }) => (
  <td className="right numbers" title={clock(at)}>
    {age(at, now)}
  </td>
);
