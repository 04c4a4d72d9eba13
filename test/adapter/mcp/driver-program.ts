// A process that has an MCP server of its own in the middle of a call; a test kills it.

import { bench, context, OWN_PROGRAM, program } from "./bench.ts";

const [log = ""] = process.argv.slice(2);
const on = bench();
await on.one("hang", program(OWN_PROGRAM, log)).call({}, context());
