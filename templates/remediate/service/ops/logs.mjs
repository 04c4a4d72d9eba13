import { readService } from "./service.mjs";

const { name, errorPercent } = readService();
process.stdout.write(`14:00 ${name} release 118 started\n`);
if (errorPercent > 0) {
  for (const minute of ["05", "06", "07"])
    process.stdout.write(`14:${minute} ${name} timeout while acquiring a connection\n`);
}
