// A program that is an MCP server over its standard streams. Its tools crash, hang, tell the environment and
// count, each on a word; what must outlive the process goes into the file named by the first argument.

import { appendFileSync } from "node:fs";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { newWorld, ownServer, text } from "./own-server.ts";

const [log = "", generation = "serve"] = process.argv.slice(2);
const note = (line: string): void => {
  if (log !== "") appendFileSync(log, `${line}\n`);
};

const world = newWorld({
  pid: () => text(String(process.pid)),
  env: ({ args }) => text(process.env[String(args["name"])] ?? "unset"),
  crash: () => {
    note("crash");
    process.stderr.write(`out of luck with ${process.env["OWN_TOKEN"] ?? "nothing"}\n`);
    process.exit(7);
  },
  hang: async ({ signal }) => {
    note("hang");
    await new Promise((resolve) => signal.addEventListener("abort", resolve));
    note("cancelled");
    return text("late");
  },
});

note(`start ${process.pid}`);
if (generation === "older") {
  const { StdioServerTransport } = await import("@modelcontextprotocol/server/stdio");
  await ownServer(world).connect(new StdioServerTransport());
} else serveStdio(() => ownServer(world));
