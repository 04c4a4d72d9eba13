// Answers requests about prompts, and completes what somebody is writing into one or into the address of a
// resource.

import {
  type McpServer,
  ProtocolError,
  ProtocolErrorCode,
  type ServerContext,
} from "@modelcontextprotocol/server";
import type { JsonObject } from "../../base/json.ts";
import { demandScope } from "../demand-scope.ts";
import type { Principal } from "../scope.ts";
import type { ServerParts } from "../server-parts.ts";
import { orProtocolError } from "./call-problem.ts";
import type { Catalogue } from "./catalogue.ts";
import { broughtInput, givenInput, wantedInput } from "./client-input.ts";
import type { McpCall } from "./mcp-call.ts";
import type { McpPrompt } from "./mcp-prompt.ts";

/** As many as the protocol allows. */
const COMPLETIONS_MAX = 100;

interface PromptTerms {
  readonly parts: ServerParts;
  readonly principal: Principal;
  readonly catalogue: Catalogue;
  readonly callOf: (context: ServerContext) => McpCall;
}

export function answerPrompts({ server }: McpServer, terms: PromptTerms): void {
  const { parts, principal, catalogue, callOf } = terms;
  const reading = <T>(what: () => Promise<T>): Promise<never> =>
    orProtocolError(parts, async () => {
      demandScope(principal, "runs:read");
      return (await what()) as never;
    });
  server.setRequestHandler("prompts/list", () =>
    reading(async () => ({ prompts: catalogue.prompts(parts).map(definitionOf) })),
  );
  server.setRequestHandler("prompts/get", ({ params }, context) =>
    reading(async () => {
      const prompt = promptNamed(terms, params.name);
      const call = { ...callOf(context), of: `prompt ${prompt.name}` };
      const brought = broughtInput(call, context);
      const given = brought && givenInput(brought);
      const outcome = await prompt.get(params.arguments ?? {}, { ...call, given });
      if (outcome.kind === "input") return wantedInput(call, outcome);
      return { description: prompt.description, messages: outcome.messages };
    }),
  );
  server.setRequestHandler("completion/complete", ({ params }) =>
    reading(async () => {
      const { ref, argument, context } = params;
      const known = context?.arguments ?? {};
      const values =
        ref.type === "ref/prompt"
          ? startingWith(promptNamed(terms, ref.name).valuesOf(argument.name), argument.value)
          : await catalogue.completedPart(parts, {
              ...{ template: ref.uri, name: argument.name, begun: argument.value, known },
            });
      const shown = values.slice(0, COMPLETIONS_MAX);
      return { completion: { values: shown, total: values.length, hasMore: shown.length < values.length } };
    }),
  );
}

const startingWith = (values: readonly string[], begun: string): readonly string[] =>
  values.filter((one) => one.toLowerCase().startsWith(begun.toLowerCase()));

function promptNamed({ parts, catalogue }: PromptTerms, name: string): McpPrompt {
  const found = catalogue.prompts(parts).find((one) => one.name === name);
  if (found !== undefined) return found;
  const message = `\`${name.slice(0, 100)}\` is not a prompt here (see prompts/list)`;
  throw new ProtocolError(ProtocolErrorCode.InvalidParams, message);
}

const definitionOf = (prompt: McpPrompt): JsonObject => {
  const { name, title, description, meta } = prompt;
  return {
    ...{ name, title, description, arguments: prompt.arguments.map((one) => ({ ...one })) },
    ...(meta !== undefined && { _meta: meta }),
  };
};
