import { readService, writeService } from "./service.mjs";

const size = Number(process.argv[2]);
if (!Number.isInteger(size) || size < 1 || size > 200) {
  process.stderr.write("the size of a pool is a whole number from 1 to 200\n");
  process.exit(1);
}
const before = readService().pool;
writeService({ pool: size });
process.stdout.write(`${JSON.stringify({ before, after: size })}\n`);
