// What a program may give as its model: a model of the AI SDK, a script, or a port of its own.

import { type AiModel, languageModel } from "../adapter/model/language-model.ts";
import { readScript } from "../adapter/script/read-script.ts";
import { scriptedModel } from "../adapter/script/scripted.ts";
import type { JsonObject } from "../base/json.ts";
import { Fault, type ModelPort } from "../engine/ports.ts";
import { systemClock } from "../engine/system-clock.ts";

export type AnyModel = ModelPort | AiModel | { readonly script: JsonObject };

export function modelPortOf(model: AnyModel | Readonly<Record<string, AnyModel>>): ModelPort {
  if (isModel(model)) return portOf(model);
  const ports = new Map(Object.entries(model).map(([key, one]) => [key, portOf(one)]));
  return {
    call(request, context) {
      const port = ports.get(request.provider) ?? ports.get("default");
      if (port !== undefined) return port.call(request, context);
      const known = [...ports.keys()].join(", ");
      const message = `no model for provider \`${request.provider}\` (given: ${known}; give one as \`default\`)`;
      return Promise.reject(new Fault("no_model", message, { retry: "never" }));
    },
  };
}

const isModel = (model: AnyModel | Readonly<Record<string, AnyModel>>): model is AnyModel =>
  typeof (model as ModelPort).call === "function" || "specificationVersion" in model || "script" in model;

function portOf(model: AnyModel): ModelPort {
  if ("specificationVersion" in model) return languageModel(model);
  if ("call" in model) return model;
  const { script, problems } = readScript(model.script);
  if (problems.length > 0) throw new TypeError(problems.map(({ message }) => message).join("; "));
  return scriptedModel(script, systemClock());
}
