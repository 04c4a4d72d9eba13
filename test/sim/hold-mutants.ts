// Planted bugs about runs that somebody holds and lets go.

import type { Mutant } from "./mutants.ts";

export const holdMutants: readonly Mutant[] = [
  {
    name: "a held run asks: a call that is about to leave does not wait",
    file: "engine/held-runs.ts",
    from: "        if (this.#closed || signal.aborted) return false;\n",
    to: "        if (id !== '') break;\n",
  },
  {
    name: "a call that is to be sent leaves a held run",
    file: "core/decide.ts",
    from: '  if (run.held !== undefined) return ignored("the run is held");\n',
    to: "",
  },
  {
    name: "a run that is let go stays silent",
    file: "engine/dispatcher.ts",
    from: "        this.#letGo(id, run);\n",
    to: "",
  },
  {
    name: "calls that waited for a held run are never made",
    file: "engine/held-runs.ts",
    from: "      this.#waiting.delete(id);\n",
    to: "",
  },
  {
    name: "a fork forgets that it is held",
    file: "core/apply.ts",
    from: "  draft.digest = fact.digest;\n",
    to: "  draft.digest = fact.digest;\n  delete draft.held;\n",
  },
  {
    name: "an end leaves a run held",
    file: "core/apply.ts",
    from: "      draft.scheduled = null;\n      delete draft.held;\n",
    to: "      draft.scheduled = null;\n",
  },
  {
    name: "the time in which a run is held is active time",
    file: "core/run.ts",
    from: "  run.held === undefined && hasOwnWork(run);",
    to: "  hasOwnWork(run);",
  },
  {
    name: "a message is taken while a model is to be asked",
    file: "core/decide.ts",
    from: "  if (hasOwnWork(run) || !listens",
    to: "  if ((run.held === undefined && hasOwnWork(run)) || !listens",
  },
];
