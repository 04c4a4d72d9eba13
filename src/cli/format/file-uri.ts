// File names as the URI references of SARIF: relative ones stay relative, so a report made in a checkout can
// be shown against the repository; absolute ones become file URIs.

import { isAbsolute, sep } from "node:path";
import { pathToFileURL } from "node:url";

export function fileUri(file: string): string {
  const name = file.toWellFormed();
  if (isAbsolute(name)) return pathToFileURL(name).href;
  const path = name.replaceAll(sep, "/").replace(/^\.\//, "");
  // A colon is encoded too: a first segment with one would read as a scheme.
  return path.split("/").map(encodeURIComponent).join("/");
}
