import { readService } from "./service.mjs";

const { name, pool, inUse, errorPercent } = readService();
const healthy = errorPercent === 0;
process.stdout.write(
  `${JSON.stringify({ service: name, healthy, error_percent: errorPercent, pool, in_use: inUse })}\n`,
);
