// Starts the incident again: node service/ops/break.mjs

import { writeService } from "./service.mjs";

writeService({ pool: 40 });
