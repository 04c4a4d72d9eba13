// The version in package.json, which stands above both the sources and the build.

import { readFileSync } from "node:fs";

export function packageVersion(): string {
  return (JSON.parse(readFileSync(packageFile("package.json"), "utf8")) as { version: string }).version;
}

/** A file of the package: two levels up from src/cli and one up from the bundled dist. */
export function packageFile(name: string): URL {
  const bundled = !import.meta.url.endsWith(".ts");
  return new URL(`${bundled ? ".." : "../.."}/${name}`, import.meta.url);
}
