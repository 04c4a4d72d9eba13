// What the run has used of what it may, at the turn that is looked at.

import { lazy, Suspense } from "react";
import type { Summary } from "../../../src/core/summary.ts";
import { Loading } from "../part/notices.tsx";
import { goWith } from "../route.ts";
import { GAUGES, type Gauge, readGauge } from "./budget-gauges.ts";
import type { RunView } from "./use-run.ts";

const BudgetDetails = lazy(async () => ({ default: (await import("./budget-details.tsx")).BudgetDetails }));

export function BudgetStrip({ view, summary }: { readonly view: RunView; readonly summary: Summary }) {
  const shown = view.moment.value?.summary ?? summary;
  const isOpen = view.query.get("budgets") === "open";
  return (
    <section className="budget-strip" aria-label="Budgets">
      <dl className="budgets">
        {GAUGES.map((gauge) => (
          <Reading key={gauge.name} gauge={gauge} summary={shown} />
        ))}
      </dl>
      <button
        type="button"
        className="button quiet"
        aria-expanded={isOpen}
        onClick={() => goWith({ budgets: isOpen ? undefined : "open" }, { replace: true })}
      >
        {isOpen ? "Less" : "More"}
        <span className="unseen"> about budgets</span>
      </button>
      {isOpen && (
        <Suspense fallback={<Loading lines={3} label="Loading budgets" />}>
          <BudgetDetails view={view} summary={shown} />
        </Suspense>
      )}
    </section>
  );
}

function Reading({ gauge, summary }: { readonly gauge: Gauge; readonly summary: Summary }) {
  const { own, agents, limit, share, isEnd } = readGauge(gauge, summary);
  const isNear = share !== undefined && share >= 0.8;
  return (
    <div className={isEnd ? "budget ended" : isNear ? "budget near" : "budget"}>
      <dt>{gauge.name}</dt>
      <dd className="numbers">
        {gauge.show(own + agents)}
        {limit !== undefined && <span className="faint"> / {gauge.show(limit)}</span>}
        {isEnd && <span className="block small">ended the run</span>}
      </dd>
      <span className="meter" aria-hidden="true">
        {share !== undefined && <span ref={(element) => widen(element, share)} />}
      </span>
    </div>
  );
}

const widen = (element: HTMLElement | null, share: number): void => {
  if (element !== null) element.style.width = `${(share * 100).toFixed(1)}%`;
};
