// Where tokens are kept: the file given, else one beside the store.

import { dirname, join } from "node:path";
import { localStorePath } from "./open-store.ts";

export const tokenFileOf = (flags: { readonly tokenFile?: string; readonly store?: string }): string =>
  flags.tokenFile ?? join(dirname(localStorePath(flags.store)), "tokens.json");
