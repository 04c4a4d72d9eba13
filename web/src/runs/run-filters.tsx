// What the list of runs is narrowed by. All of it stands in the address.

import { type RefObject, useEffect, useRef, useState } from "react";
import type { Status } from "../../../src/core/facts.ts";
import { useKeys } from "../part/keys.ts";
import { goWith } from "../route.ts";

const STATUSES: readonly Status[] = [
  "running",
  "waiting",
  "completed",
  "budget_exhausted",
  "failed",
  "cancelled",
];

const TIMES: Readonly<Record<string, string>> = {
  "": "any time",
  "1h": "the last hour",
  "24h": "the last day",
  "7d": "the last 7 days",
  "30d": "the last 30 days",
};

/** Parameters of the address that the server is asked with as they are. */
const SENT = ["text", "status", "pack", "reason", "since", "until", "where"] as const;

/** The address's part that chooses runs, as the server's query. */
export function filterOf(query: URLSearchParams, limit: number): string {
  const sent = new URLSearchParams({ limit: String(limit) });
  for (const name of SENT) {
    const value = query.get(name);
    if (value !== null && value !== "") sent.set(name, value);
  }
  if (query.get("agents") !== "all") sent.set("parent", "");
  return sent.toString();
}

export const isFiltered = (query: URLSearchParams): boolean => SENT.some((name) => query.has(name));

interface FiltersProps {
  readonly query: URLSearchParams;
  /** What is wrong with the expression. */
  readonly problem: string | undefined;
}

export function RunFilters({ query, problem }: FiltersProps) {
  const search = useRef<HTMLInputElement>(null);
  useKeys({ "/": () => search.current?.focus() });
  const chosen = (query.get("status") ?? "").split(",").filter((one) => one !== "");
  const toggle = (status: string): void => {
    const next = chosen.includes(status) ? chosen.filter((one) => one !== status) : [...chosen, status];
    goWith({ status: next.join(",") });
  };
  return (
    <div className="filters">
      <Field query={query} name="text" label="Search runs" hint="run, pack, state or reason" field={search} />
      <div className="segments" role="group" aria-label="Status">
        {STATUSES.map((status) => (
          <button
            key={status}
            type="button"
            aria-pressed={chosen.includes(status)}
            onClick={() => toggle(status)}
          >
            {status.replace("_", " ")}
          </button>
        ))}
      </div>
      <label className="check">
        <input
          type="checkbox"
          checked={query.get("agents") === "all"}
          onChange={(event) => goWith({ agents: event.target.checked ? "all" : undefined })}
        />
        agents' runs
      </label>
      <div className="filters-more">
        <Field query={query} name="pack" label="Pack" hint="pack" />
        <Field query={query} name="reason" label="Reason" hint="reason" />
        <TimeChoice query={query} />
        <Field
          query={query}
          name="where"
          label="Expression"
          hint="visits>10 and status=budget_exhausted"
          problem={problem}
        />
      </div>
      {problem !== undefined && (
        <p className="problem where-problem" id="where-problem" role="alert">
          {problem}
        </p>
      )}
    </div>
  );
}

function TimeChoice({ query }: { readonly query: URLSearchParams }) {
  const since = query.get("since") ?? "";
  const times = Object.hasOwn(TIMES, since) ? TIMES : { ...TIMES, [since]: `since ${since}` };
  return (
    <select
      aria-label="Changed in"
      value={since}
      onChange={(event) => goWith({ since: event.target.value, until: undefined })}
    >
      {Object.entries(times).map(([value, text]) => (
        <option key={value} value={value}>
          {text}
        </option>
      ))}
    </select>
  );
}

interface FieldProps {
  readonly query: URLSearchParams;
  readonly name: (typeof SENT)[number];
  readonly label: string;
  readonly hint: string;
  readonly field?: RefObject<HTMLInputElement | null>;
  readonly problem?: string | undefined;
}

/** The address follows what is written a moment later, and the field follows the address. */
function Field({ query, name, label, hint, field, problem }: FieldProps) {
  const given = query.get(name) ?? "";
  const [text, setText] = useState(given);
  const told = useRef(given);
  useEffect(() => {
    if (given === told.current) return;
    told.current = given;
    setText(given);
  }, [given]);
  useEffect(() => {
    const timer = setTimeout(() => {
      if (text === told.current) return;
      told.current = text;
      goWith({ [name]: text }, { replace: true });
    }, 200);
    return () => clearTimeout(timer);
  }, [text, name]);
  return (
    <input
      ref={field}
      type="search"
      className={`filter-${name}`}
      aria-label={label}
      aria-invalid={problem === undefined ? undefined : true}
      aria-describedby={problem === undefined ? undefined : "where-problem"}
      placeholder={hint}
      value={text}
      spellCheck={false}
      autoCapitalize="off"
      onChange={(event) => setText(event.target.value)}
    />
  );
}
