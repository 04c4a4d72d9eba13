// Turns the rows of data/members.csv into customers.json in the run's workspace, as a mapping says: for each field of
// the target the column it comes `from`, what it is taken `as` (text, integer, date or email), and `values` to replace.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const AS = {
  text: (value) => value,
  integer: (value) => (/^-?\d+$/.test(value.trim()) ? Number(value) : value),
  date: (value) => value.trim().replace(/^(\d\d)\.(\d\d)\.(\d{4})$/, "$3-$2-$1"),
  email: (value) => value.trim().toLowerCase(),
};

const { args, workspace } = JSON.parse(readFileSync(0, "utf8"));
process.stdout.write(`${JSON.stringify(transform(args.mapping))}\n`);

function transform(mapping) {
  const [header, ...lines] = readFileSync(new URL("../data/members.csv", import.meta.url), "utf8")
    .trim()
    .split("\n");
  const columns = header.split(";");
  for (const [field, { from, as = "text" }] of Object.entries(mapping)) {
    if (!columns.includes(from))
      return failure(`${field}: there is no column ${from} (there are ${columns.join(", ")})`);
    if (!Object.hasOwn(AS, as))
      return failure(`${field}: ${as} is not known (there are ${Object.keys(AS).join(", ")})`);
  }
  const rows = lines.map((line) => rowOf(line.split(";"), columns, mapping));
  writeFileSync(join(workspace, "customers.json"), `${JSON.stringify(rows, null, 2)}\n`);
  return { file: "customers.json", rows: rows.length };
}

function rowOf(cells, columns, mapping) {
  const fields = Object.entries(mapping).map(([field, { from, as = "text", values = {} }]) => {
    const value = AS[as](cells[columns.indexOf(from)] ?? "");
    return [field, Object.hasOwn(values, value) ? values[value] : value];
  });
  return Object.fromEntries(fields);
}

function failure(message) {
  return { error: { code: "bad_mapping", message } };
}
