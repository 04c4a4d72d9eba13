// One question to a provider's model. The libraries behind this are most of the plugin, and a turn that asks
// no model pays for none of them: the build keeps this file and its imports as a text, compiled when asked.
// Nothing but plain data may pass in and out, because its classes are not those of the rest.

import { type ModelSetting, readModelSetting } from "../adapter/model/model-setting.ts";
import { openModel } from "../adapter/model/open-model.ts";
import type { OptionProblem } from "../adapter/tool/option-reader.ts";
import type { Json } from "../base/json.ts";
import type { ModelReply } from "../core/facts.ts";
import type { ModelRequest } from "../core/request.ts";
import type { CallContext } from "../engine/ports.ts";

export interface ProviderQuestion {
  readonly setting: Json;
  readonly request: ModelRequest;
  readonly context: CallContext;
}

/** The reply, or what is wrong with the setting. */
export async function askProvider({
  setting,
  request,
  context,
}: ProviderQuestion): Promise<ModelReply | string> {
  const problems: OptionProblem[] = [];
  const read: ModelSetting | undefined = readModelSetting(setting, [], problems);
  if (read === undefined) return problems.map(({ message }) => message).join("; ");
  const { port } = await openModel(read, { env: (name) => process.env[name] });
  return await port.call(request, context);
}
