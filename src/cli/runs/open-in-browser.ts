// Opens an address in the browser of whoever sits here, where there is one.

import { spawn } from "node:child_process";

const PROGRAMS: Readonly<Record<string, readonly [string, ...string[]]>> = {
  darwin: ["open"],
  win32: ["cmd", "/c", "start", ""],
};

/** A machine without a browser is no error: the address was printed. */
export function openInBrowser(url: string): void {
  const [program, ...args] = PROGRAMS[process.platform] ?? ["xdg-open"];
  const child = spawn(program, [...args, url], { stdio: "ignore", detached: true });
  child.on("error", () => undefined);
  child.unref();
}
