#!/usr/bin/env node
// A text tool without a model: two paragraphs about a text, from what can be counted in it. The file is
// written under another name first, because folders may share their files with others.

import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";

const request = requestOf(readFileSync(0, "utf8"));
if (request?.protocol !== 2) process.exit(78);
process.stdout.write(`${JSON.stringify(answer(request))}\n`);

function requestOf(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function answer({ command, event, workspace_dir: workspace, job_id: job }) {
  if (command === "health") return { status: "ok", result: "ready" };
  const { text } = event?.payload ?? {};
  if (typeof text !== "string" || text.trim() === "")
    return { status: "error", result: "no text", error: "text is missing", retry: false };
  const critique = critiqueOf(text);
  const payload = { result: critique, words: critique.split(/\s+/).length };
  if (typeof workspace === "string") payload.artifact_path = keep(resolve(workspace), { job, critique });
  return { status: "ok", result: "wrote a critique", events: [{ type: "text.completed", payload }] };
}

function critiqueOf(text) {
  const words = text.split(/\s+/).filter((word) => word !== "");
  const sentences = text.split(/(?<=[.!?])\s+/).filter((sentence) => sentence.trim() !== "");
  const longest = sentences.toSorted((a, b) => b.length - a.length)[0] ?? "";
  const average = Math.round(words.length / Math.max(1, sentences.length));
  return [
    `The page says what it has to say in ${words.length} words and ${sentences.length} sentences, ${average} words each. It keeps to its subject from the first line to the last, and nothing in it has to be read twice.`,
    `Its weakest place is the longest sentence: "${longest.trim().slice(0, 160)}". Cut in two it would carry as much, and the reader would reach the end of it without turning back.`,
  ].join("\n\n");
}

function keep(workspace, { job, critique }) {
  const path = join("artifacts", "critique.md");
  mkdirSync(join(workspace, "artifacts"), { recursive: true });
  const made = join(workspace, "artifacts", `.critique-${job}.new`);
  writeFileSync(made, `${critique}\n`);
  renameSync(made, join(workspace, path));
  return path;
}
