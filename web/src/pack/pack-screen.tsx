// A pack as a run had it: its graph, what the checker says of it, the proof, and its text.

import { useMemo } from "react";
import type { Program } from "../../../src/core/program.ts";
import { ask } from "../api.ts";
import { shapeOf } from "../journal/pack-shape.ts";
import { count, shortDigest, visible } from "../part/format.ts";
import { Link } from "../part/link.tsx";
import { Failed, Loading } from "../part/notices.tsx";
import { PackGraph } from "../part/pack-graph.tsx";
import { StateTable } from "../part/state-table.tsx";
import { useAsked } from "../part/use-asked.ts";
import { goWith, usePlace } from "../route.ts";
import { type Finding, waysOf } from "./finding.ts";
import { PackSource } from "./pack-source.tsx";

interface Bound {
  readonly terminates: boolean;
  readonly visits?: number | null;
  readonly model_calls?: number | null;
  readonly tool_calls?: number | null;
  readonly witness?: readonly string[] | null;
  readonly verdict?: string;
}

interface Pack {
  readonly digest: string;
  readonly id: string;
  readonly version: string;
  readonly file: string;
  readonly source: string;
  readonly program: Program;
  readonly diagnostics: readonly Finding[];
  readonly bound: Bound;
}

export function PackScreen({ digest }: { readonly digest: string }) {
  const { value, error, again } = useAsked<Pack>(digest, () =>
    ask<Pack>(`/api/packs/${encodeURIComponent(digest)}`),
  );
  if (error !== undefined) return <Failed isScreen error={error} again={again} />;
  if (value === undefined) return <Loading lines={8} label="Loading the pack" />;
  return <Shown pack={value} />;
}

const TABS = { graph: "Graph", table: "Table", prompts: "Prompts" } as const;
type Tab = keyof typeof TABS;

function Shown({ pack }: { readonly pack: Pack }) {
  const { query } = usePlace();
  const given = query.get("tab");
  const chosen = Number(query.get("finding") ?? "-1");
  const tab: Tab = given === "table" || given === "prompts" ? given : "graph";
  const shape = useMemo(() => shapeOf(pack.program), [pack]);
  const runs = useMemo(() => drawableOf(pack), [pack]);
  const [first] = runs.keys();
  const drawn = [...runs.keys()].find((one) => pack.diagnostics.indexOf(one) === chosen) ?? first;
  return (
    <div className="screen pack-screen">
      <div className="screen-head">
        <h1>
          {visible(pack.program.name)} <span className="faint">{visible(pack.version)}</span>
        </h1>
        <span className="mono faint" title={pack.digest}>
          {shortDigest(pack.digest)}
        </span>
        <Link to={`/?pack=${encodeURIComponent(pack.id)}`}>Runs of this pack</Link>
      </div>
      <Certificate bound={pack.bound} />
      <div className="pack-columns">
        <section className="panel" aria-label="Pack">
          <h2 className="unseen">Pack</h2>
          <header className="panel-head">
            <div className="segments" role="group" aria-label="What to show">
              {(Object.keys(TABS) as Tab[]).map((one) => (
                <button
                  key={one}
                  type="button"
                  aria-pressed={one === tab}
                  onClick={() => goWith({ tab: one === "graph" ? undefined : one })}
                >
                  {TABS[one]}
                </button>
              ))}
            </div>
          </header>
          {tab === "graph" && (
            <>
              {drawn !== undefined && (
                <p className="witness small">
                  <strong>{drawn.code}</strong>: {visible(drawn.related?.[0]?.message ?? drawn.message)}
                </p>
              )}
              <PackGraph drawing={shape.drawing} path={drawn === undefined ? undefined : runs.get(drawn)} />
            </>
          )}
          {tab === "table" && <StateTable states={shape.states} />}
          {tab === "prompts" && <Prompts program={pack.program} />}
        </section>
        <section className="panel" aria-label="Text">
          <PackSource
            source={pack.source}
            findings={pack.diagnostics}
            drawable={new Set(runs.keys())}
            drawn={drawn}
            draw={(finding) => goWith({ finding: pack.diagnostics.indexOf(finding), tab: undefined })}
          />
        </section>
      </div>
    </div>
  );
}

/** Findings that are about a run, with the ways it takes. */
function drawableOf({ diagnostics, program }: Pack): ReadonlyMap<Finding, ReadonlySet<string>> {
  const all = diagnostics.map((finding) => [finding, waysOf(finding, program)] as const);
  return new Map(all.filter(([, ways]) => ways.size > 0));
}

function Certificate({ bound }: { readonly bound: Bound }) {
  const witness = bound.witness ?? [];
  const figures = [
    ["visits", bound.visits],
    ["model calls", bound.model_calls],
    ["tool calls", bound.tool_calls],
  ] as const;
  return (
    <p className={bound.terminates ? "certificate done" : "certificate fail"}>
      <strong>{bound.terminates ? "Every run ends." : "Not every run is proved to end."}</strong>{" "}
      {figures
        .filter(([, most]) => typeof most === "number")
        .map(([name, most]) => `at most ${count(most ?? 0)} ${name}`)
        .join(", ")}
      {witness.length > 0 && ` It can go round for ever: ${witness.map(visible).join(" → ")}.`}
    </p>
  );
}

function Prompts({ program }: { readonly program: Program }) {
  return (
    <div className="scroll padded" tabIndex={0} role="region" aria-label="Prompts">
      {Object.entries(program.prompts).map(([key, prompt]) => (
        <section key={key} className="block-section">
          <h3>{visible(key)}</h3>
          <p className="faint small">
            {visible(prompt.description)}{" "}
            {prompt.tools.length > 0 && `Tools: ${prompt.tools.map(visible).join(", ")}.`}
          </p>
          <pre className="text" tabIndex={0} role="region" aria-label={`Template of ${key}`}>
            {visible(prompt.systemTemplate)}
          </pre>
        </section>
      ))}
    </div>
  );
}
