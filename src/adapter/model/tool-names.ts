// Names of tools on the wire. Packs may call a tool anything; providers take letters, digits, `_` and `-`.

import { hash } from "node:crypto";

const FIT = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/;

/** The name itself where providers take it, else a spelling that no other tool has. */
export function wireName(name: string): string {
  if (FIT.test(name)) return name;
  const plain = name.replace(/[^A-Za-z0-9_-]/g, "_").slice(0, 50);
  return `t_${plain}_${hash("sha256", name, "hex").slice(0, 8)}`;
}

/** The tool a name on the wire stands for; a name nobody offered stays as it is. */
export function toolNamed(wire: string, offered: readonly { readonly name: string }[]): string {
  return offered.find(({ name }) => wireName(name) === wire)?.name ?? wire;
}
