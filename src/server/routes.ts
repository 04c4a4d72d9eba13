// Every route of the server.

import type { Route } from "./route.ts";
import { aboutRoutes } from "./routes/about.ts";
import { blobRoutes } from "./routes/blobs.ts";
import { commitRoutes } from "./routes/commits.ts";
import { compareRoutes } from "./routes/compare.ts";
import { forkRoutes } from "./routes/fork.ts";
import { historyRoutes } from "./routes/history.ts";
import { hookRoutes } from "./routes/hooks.ts";
import { importRoutes } from "./routes/import.ts";
import { metricsRoutes } from "./routes/metrics.ts";
import { packRoutes } from "./routes/packs.ts";
import { peopleRoutes } from "./routes/people.ts";
import { runRoutes } from "./routes/runs.ts";
import { sessionRoutes } from "./routes/session.ts";
import { snapshotRoutes } from "./routes/snapshot.ts";
import { stepRoutes } from "./routes/steps.ts";
import { streamRoutes } from "./routes/streams.ts";
import { tokenRoutes } from "./routes/tokens.ts";
import { webhookRoutes } from "./routes/webhooks.ts";

export function allRoutes(): readonly Route[] {
  const routes = [
    ...importRoutes,
    ...runRoutes,
    ...historyRoutes,
    ...snapshotRoutes,
    ...stepRoutes,
    ...blobRoutes,
    ...commitRoutes,
    ...compareRoutes,
    ...forkRoutes,
    ...peopleRoutes,
    ...streamRoutes,
    ...packRoutes,
    ...webhookRoutes,
    ...hookRoutes,
    ...tokenRoutes,
    ...sessionRoutes,
    ...metricsRoutes,
  ];
  return [...routes, ...aboutRoutes(routes)];
}
