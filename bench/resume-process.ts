// The process that `resume.ts` kills: takes up a run, says how many milliseconds its first new step took from
// opening the store on, and goes on until it is killed.

import { openSqliteStore } from "../src/store/sqlite/sqlite-store.ts";
import { LoopModel, resumedLoop } from "./loop.ts";

const [path = "", run = ""] = process.argv.slice(2);
const start = performance.now();
const model = new LoopModel();
let told = false;
const endless = model.steps(run, Number.POSITIVE_INFINITY);
const engine = resumedLoop(await openSqliteStore(path), model, () => {
  if (!told) process.stdout.write(`${performance.now() - start}\n`);
  told = true;
});
await engine.resume(run);
await endless;
