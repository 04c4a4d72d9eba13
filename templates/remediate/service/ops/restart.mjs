// Customers come back faster than connections do: a restart helps for a moment only.

import { readService } from "./service.mjs";

const { name, inUse } = readService();
process.stdout.write(`${JSON.stringify({ restarted: name, lost_requests: inUse })}\n`);
