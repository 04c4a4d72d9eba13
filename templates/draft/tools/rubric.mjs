// Holds the draft against criteria a machine can judge. One JSON object comes in on stdin with the call and the run's
// workspace, one goes out on stdout. Put your own criteria here.

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

const WORDS_MAX = 120;
const SENTENCE_MAX = 22;

const criteria = [
  ["says first what to do", (text) => headingsIn(text)[0] === "What to do"],
  ["names who is responsible", (text) => /\b(team|officer|desk)\b/i.test(text)],
  [`has at most ${WORDS_MAX} words`, (text) => wordsIn(text) <= WORDS_MAX],
  [
    `has no sentence of more than ${SENTENCE_MAX} words`,
    (text) => sentencesIn(text).every((sentence) => wordsIn(sentence) <= SENTENCE_MAX),
  ],
  [
    "gives a time for every step",
    (text) => stepsIn(text).length > 0 && stepsIn(text).every((step) => /\b(minutes?|hours?)\b/.test(step)),
  ],
];

const { workspace } = JSON.parse(readFileSync(0, "utf8"));
const file = join(workspace, "draft.md");
const text = existsSync(file) ? readFileSync(file, "utf8") : "";
const judged = criteria.map(([name, holds]) => ({ criterion: name, met: holds(text) }));
const met = judged.filter((one) => one.met).length;
process.stdout.write(`${JSON.stringify({ met, of: judged.length, criteria: judged })}\n`);

/** Below the title. */
function headingsIn(whole) {
  return [...whole.matchAll(/^## (.+)$/gm)].map(([, heading]) => heading.trim());
}

function wordsIn(part) {
  return part.match(/[\p{L}\d']+/gu)?.length ?? 0;
}

function sentencesIn(whole) {
  return whole.split(/[.!?]\s|\n/);
}

function stepsIn(whole) {
  return whole.split("\n").filter((line) => /^\d+\./.test(line));
}
