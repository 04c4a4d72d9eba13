// What the server has measured, for Prometheus to scrape.

import { z } from "@hono/zod-openapi";
import { PROMETHEUS_TYPE, prometheusText } from "../../telemetry/prometheus-text.ts";
import { route } from "../route.ts";

const metrics = route({
  method: "get",
  path: "/metrics",
  name: "metrics",
  tag: "server",
  summary: "Metrics in the text format of Prometheus",
  scope: "runs:read",
  answers: { 200: { description: "Every metric.", schema: z.string(), type: "text/plain" } },
  async handle(_request, server) {
    const text = prometheusText(server.metrics.families());
    return new Response(text, { status: 200, headers: { "content-type": PROMETHEUS_TYPE } });
  },
});

export const metricsRoutes = [metrics];
