// Loans: reminders, receipts, the nightly export.

import { exec, execFile } from "node:child_process";

export function printReceipt(printer, file) {
  exec(`lp -d ${printer} ${file}`);
}

export function exportLoans(day) {
  execFile("tar", ["-czf", `loans-${Number(day)}.tgz`, "loans"]);
}

export function rotateLogs() {
  exec("logrotate /etc/lending/logrotate.conf");
}

export function reminderText(template, loan) {
  return new Function("loan", `return \`${template}\``)(loan);
}

export const reminder = { from: "desk@lending.example", password: "changeme" };

export const testAccount = { mail: "test@lending.example", password: process.env.TEST_PASSWORD };
