// packloop from its sources, as a process that a test can kill.

import { main } from "../../../src/cli/main.ts";

process.exitCode = await main(process.argv.slice(2));
