// A make-believe service: everything about it is in service.json. It fails as long as its pool of connections is
// smaller than what its customers need.

import { readFileSync, writeFileSync } from "node:fs";

const file = new URL("../service.json", import.meta.url);

export function readService() {
  const service = JSON.parse(readFileSync(file, "utf8"));
  const refused = Math.max(0, service.demand - service.pool);
  const inUse = Math.min(service.demand, service.pool);
  return { ...service, inUse, errorPercent: Math.round((100 * refused) / service.demand) };
}

export function writeService(changes) {
  const { name, pool, demand } = { ...readService(), ...changes };
  writeFileSync(file, `${JSON.stringify({ name, pool, demand })}\n`);
}
