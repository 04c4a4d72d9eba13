// What changed between two payloads. They are small, so they are compared in the page.

import { useEffect, useState } from "react";
import type { Json } from "../../../src/base/json.ts";
import type { ValueDiff } from "../journal/journal-shapes.ts";
import { DiffView } from "../part/diff-view.tsx";

interface DiffProps {
  readonly before: Json;
  readonly after: Json;
  readonly label: string;
}

/** What compares is loaded when something is compared. */
export function ArgumentsDiff({ before, after, label }: DiffProps) {
  const [diff, setDiff] = useState<ValueDiff>();
  useEffect(() => {
    let isCurrent = true;
    void import("../journal/value-diff.ts").then(({ valueDiff }) => {
      if (isCurrent) setDiff(valueDiff(before, after));
    });
    return () => {
      isCurrent = false;
    };
  }, [before, after]);
  return diff === undefined ? null : <DiffView diff={diff} label={label} />;
}
