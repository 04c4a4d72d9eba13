// Whether anything can still happen to a run: one that has ended may owe its caller the news.

import type { RunRecord } from "../engine/ports.ts";

export const hasEnded = ({ status }: RunRecord): boolean => status !== "running" && status !== "waiting";

export const isOver = (record: RunRecord): boolean => hasEnded(record) && record.open.length === 0;
