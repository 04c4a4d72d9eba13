// A process of a design that was not taken: every ask is a job of graphile-worker, added by the transaction that
// writes the turn. Turns that wait at a moment are written, and their jobs added, in one transaction, as packloop
// commits its turns. Started with the database's address and the number of jobs at once; tells its count when
// asked.

import { run } from "graphile-worker";
import { Pool } from "pg";

const [url, , runs] = process.argv.slice(2);
const pool = new Pool({ connectionString: url, max: 6 });
let steps = 0;
let waiting = [];
let isWriting = false;
const facts = "what a turn holds in the loop that is measured, ".padEnd(450, "facts and more facts; ");

const WRITE = `WITH t AS (SELECT * FROM unnest($1::bigint[], $2::int[]) AS t(run, turn)), up AS (
    UPDATE bench_head h SET turn = t.turn FROM t WHERE h.run = t.run AND h.turn = t.turn - 1
    RETURNING h.run, h.turn
  ), put AS (INSERT INTO bench_turn SELECT run, turn, $3 FROM up)
  SELECT count(*) FROM up`;
const ADD = `SELECT count(*) FROM graphile_worker.add_jobs(ARRAY(
  SELECT ROW('ask', json_build_object('run', run, 'turn', turn + 1), NULL, NULL, NULL, run || '/' || turn, NULL, NULL)
    ::graphile_worker.job_spec FROM unnest($1::bigint[], $2::int[]) AS t(run, turn)))`;

function written(turn) {
  return new Promise((resolve, reject) => {
    waiting.push({ turn, resolve, reject });
    if (!isWriting) void writeAll();
  });
}

async function writeAll() {
  isWriting = true;
  await Promise.resolve();
  while (waiting.length > 0) {
    const group = waiting.splice(0, 256);
    const values = [group.map(({ turn }) => turn.run), group.map(({ turn }) => turn.turn)];
    const client = await pool.connect();
    try {
      await client.query("BEGIN");
      await client.query({ name: "write", text: WRITE, values: [...values, facts] });
      await client.query({ name: "add", text: ADD, values });
      await client.query("COMMIT");
      for (const { resolve } of group) resolve();
    } catch (error) {
      for (const { reject } of group) reject(error);
    } finally {
      client.release();
    }
  }
  isWriting = false;
}

const concurrency = Number(runs);
await run({
  connectionString: url,
  concurrency,
  maxPoolSize: concurrency + 2,
  noHandleSignals: true,
  logger: undefined,
  preset: {
    worker: {
      localQueue: {
        size: concurrency * 2,
        refetchDelay: { durationMs: 10, threshold: 0, maxAbortThreshold: 10_000 },
      },
      completeJobBatchDelay: 0,
      failJobBatchDelay: 0,
      connectionString: url,
      concurrentJobs: concurrency,
    },
  },
  taskList: {
    ask: async (turn) => {
      await written(turn);
      steps++;
    },
  },
});
process.on("message", () => process.send(steps));
process.send("ready");
