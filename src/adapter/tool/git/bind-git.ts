// The built-in tool `git`: commit everything in the run's workspace, and look at what is committed.

import { realpath } from "node:fs/promises";
import type { JsonObject } from "../../../base/json.ts";
import type { BoundTool, Surroundings } from "../bound-tool.ts";
import { argumentReader, type Spellings } from "../call-arguments.ts";
import { inRunOrder, inWorkspaceTurn } from "../fs/in-turn.ts";
import { operationOption } from "../operation-option.ts";
import type { OptionReader } from "../option-reader.ts";
import { answerOf, ToolProblem } from "../tool-problem.ts";
import { commitAll } from "./commit.ts";
import { diff, log, show, status } from "./look.ts";
import { type Identity, Repository } from "./repository.ts";

const LOOKS = { diff, show, log, status } as const;
type OperationName = "commit" | keyof typeof LOOKS;

export function bindGit(reader: OptionReader, around: Surroundings): BoundTool {
  const op = operationOption<OperationName>(reader, ["commit", "diff", "show", "log", "status"]);
  const identity = readIdentity(reader, around);
  const makes = (reader.flag("init") ?? true) && op === "commit";
  const resultBytes = reader.number("max_result_bytes", { least: 4096, most: 5 * 1024 * 1024 }) ?? 256 * 1024;
  const argumentsOf = argumentReader(reader, SPELLINGS[op]);
  return {
    tier: op === "commit" ? "write" : "read",
    // A commit that was made is found again by its trailers.
    safe: true,
    definition: DEFINITIONS[op],
    call: (given, context) =>
      inRunOrder(context.run, () =>
        answerOf(async () => {
          const { run, step, signal, state } = context;
          const args = argumentsOf(given);
          const workspace = await realpath(await around.workspaceOf(run));
          const place = { workspace, identity, env: around.env, now: around.clock.now(), signal };
          return inWorkspaceTurn(workspace, async () => {
            const repository =
              (await Repository.open(place)) ?? (makes ? await Repository.make(place) : undefined);
            if (repository === undefined)
              throw new ToolProblem("no_repository", "the workspace is not a git repository");
            if (op !== "commit") return LOOKS[op]({ repository, args, workspace, resultBytes });
            const message = args.text("message") ?? `${state}: step ${step}`;
            return commitAll(repository, { message, run, step });
          });
        }),
      ),
  };
}

/** By the options, else by git's own variables; the person's git settings are not asked. */
function readIdentity(reader: OptionReader, { env }: Surroundings): Identity {
  return {
    name: reader.text("name") ?? env("GIT_AUTHOR_NAME") ?? "packloop",
    email: reader.text("email") ?? env("GIT_AUTHOR_EMAIL") ?? "packloop@localhost",
  };
}

const REVISION = ["revision", "commit", "sha", "ref", "commit_sha", "hash"];
const PATH = ["file", "file_path", "filename"];

const SPELLINGS: Readonly<Record<OperationName, Spellings>> = {
  commit: { message: ["msg", "commit_message", "text", "summary", "title"] },
  diff: { from: ["base", "before", "old", "rev", "commit", "sha"], to: ["head", "after", "new"], path: PATH },
  show: { rev: REVISION, path: PATH },
  log: { rev: REVISION, path: PATH, limit: ["max_count", "max", "n", "count"] },
  status: { path: PATH },
};

const text = (description: string): JsonObject => ({ type: "string", description });

const takes = (description: string, properties: JsonObject, required: readonly string[] = []) => ({
  description,
  parameters: { type: "object", properties, required } as JsonObject,
});

const DEFINITIONS: Readonly<Record<OperationName, NonNullable<BoundTool["definition"]>>> = {
  commit: takes("Commits everything in the workspace.", { message: text("what changed and why") }, [
    "message",
  ]),
  diff: takes("Shows what changed in the workspace since a commit.", {
    from: text("commit to compare with; the last one when left out"),
    to: text("commit to compare to; the files as they are when left out"),
    path: text("only this file or folder"),
  }),
  show: takes("Shows a commit, or a file as it was in it.", {
    rev: text("commit; the last one when left out"),
    path: text("file to show"),
  }),
  log: takes("Lists commits, the newest first.", {
    limit: { type: "integer", minimum: 1, description: "how many" },
    path: text("only commits that changed this file or folder"),
  }),
  status: takes("Lists files of the workspace that are not committed.", {
    path: text("only below this folder"),
  }),
};
