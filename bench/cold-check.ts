// P7: `packloop check` cold on a 20-state pack over a bare Node, and on packs of 1 MB.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Figure } from "./figure.ts";
import { medians } from "./measure.ts";
import { samplePack } from "./sample-pack.ts";

const bin = fileURLToPath(new URL("../bin/packloop", import.meta.url));

export function coldCheck(folder: string): readonly Figure[] {
  const check = (name: string, size: { states: number; templateLength: number; json: boolean }) => {
    const file = join(folder, `${name}.pack.${size.json ? "json" : "yaml"}`);
    writeFileSync(file, samplePack(size));
    return { name, command: [process.execPath, bin, "check", file] };
  };
  const times = medians(
    [
      { name: "bare", command: [process.execPath, "-e", "0"] },
      check("small", { states: 20, templateLength: 200, json: false }),
      check("yaml", { states: 2000, templateLength: 180, json: false }),
      check("json", { states: 2000, templateLength: 180, json: true }),
    ],
    9,
  );
  const ms = (name: string) => times.get(name) as number;
  const figure = (what: string, value: number, max: number): Figure => {
    return { id: "P7", what, value, unit: "ms", bar: { max } };
  };
  return [
    figure("check of 20 states over a bare Node", ms("small") - ms("bare"), 120),
    figure("check of 1 MB of YAML", ms("yaml"), 1_000),
    figure("check of 1 MB of JSON", ms("json"), 1_000),
  ];
}
