// What a run works with, from its settings: models, tools and its workspace. Opened when first needed, closed
// together.

import { dirname } from "node:path";
import { RemoteAgents } from "../adapter/a2a/remote-agents.ts";
import { McpServers } from "../adapter/mcp/mcp-servers.ts";
import { type ModelSetting, readModelSetting } from "../adapter/model/model-setting.ts";
import { type OpenedModel, openModel } from "../adapter/model/open-model.ts";
import { readPrices } from "../adapter/model/prices.ts";
import { noTools } from "../adapter/script/scripted.ts";
import { type BoundTool, type Surroundings, toolPort } from "../adapter/tool/bound-tool.ts";
import type { OptionProblem } from "../adapter/tool/option-reader.ts";
import { deepEqual, type Json, put } from "../base/json.ts";
import type { HostTool, HostTools } from "../core/facts.ts";
import { isListed } from "../core/offered-tools.ts";
import type { Program } from "../core/program.ts";
import { makeFolder } from "../engine/make-folder.ts";
import { type Clock, Fault, type ModelPort, type ToolPort } from "../engine/ports.ts";
import { BoundTools } from "./bind-tools.ts";
import { workspaceFolder } from "./run-files.ts";
import type { RunSettings } from "./run-settings.ts";
import { keepToolPins, readToolPins, type ToolPins } from "./tool-pins.ts";

export interface WorldOptions {
  readonly clock: Clock;
  readonly env: (name: string) => string | undefined;
  /** Where runs get a folder of their own when the settings name none. */
  readonly workRoot: string;
  readonly warn: (line: string) => void;
  /** Takes secrets out of what others say before it is shown or kept. */
  readonly clean: <T>(value: T) => T;
}

/** What is decided about tools when a run starts, and then pinned. */
export interface ToolTerms {
  readonly host: HostTools;
  readonly gated: readonly string[];
  /** Tools that prompts list and nobody stands behind. */
  readonly unbound: readonly string[];
}

export class World implements AsyncDisposable {
  readonly problems: readonly OptionProblem[];
  readonly model: ModelPort;
  readonly tools: ToolPort;
  readonly #settings: RunSettings;
  readonly #options: WorldOptions;
  readonly #bound: BoundTools;
  /** The pins in force when it was opened. */
  readonly #pinned: ToolPins;
  readonly #servers: McpServers;
  readonly #agents: RemoteAgents;
  readonly #modelsByKey: ReadonlyMap<string, ModelSetting>;
  readonly #opened = new Map<string, Promise<OpenedModel>>();

  constructor(settings: RunSettings, options: WorldOptions) {
    const problems: OptionProblem[] = [];
    this.#settings = settings;
    this.#options = options;
    const { warn } = options;
    const { mcp, a2a } = readToolPins(settings.folder);
    this.#servers = new McpServers({ warn, pinned: mcp });
    this.#agents = new RemoteAgents({ warn, pinned: a2a });
    this.#pinned = this.#pins();
    const remotes = { servers: this.#servers, agents: this.#agents };
    this.#bound = new BoundTools(settings.tools, surroundings(settings, options), remotes);
    this.#modelsByKey = modelSettings(settings, problems);
    readPrices(settings.prices, ["prices"], problems);
    this.problems = [...problems, ...this.#bound.problems];
    this.tools = toolPort(this.#bound, noTools);
    this.model = {
      call: async (request, context) => (await this.#open(request.provider)).port.call(request, context),
    };
  }

  /**
   * Opens the models a program asks, so that a missing key is known before anything starts. Those without a
   * known price, whose calls count as free.
   */
  async checkModels(program: Program): Promise<readonly string[]> {
    const keys = new Set(Object.values(program.prompts).map(({ provider }) => provider));
    const unpriced = new Set<string>();
    for (const key of keys) {
      const { model, isPriced } = await this.#open(key).catch((error: unknown) => this.#throwClean(error));
      if (!isPriced) unpriced.add(model);
    }
    return [...unpriced];
  }

  async toolTerms(program: Program): Promise<ToolTerms> {
    const listed = [...new Set(Object.values(program.prompts).flatMap(({ tools }) => tools))];
    const isHosts = (name: string) =>
      !Object.hasOwn(program.tools, name) && listed.some((one) => isListed(one, name));
    const listing = this.#bound.all(AbortSignal.timeout(LIST_MS), isHosts);
    const all = await listing.catch((error: unknown) => this.#throwClean(error));
    const host: Record<string, HostTool> = {};
    for (const [name, { definition }] of all)
      if (definition !== undefined && isHosts(name)) put(host, name, definition);
    const agents = Object.keys(program.agents?.members ?? {});
    const isBound = (one: string) => [...all.keys(), ...agents].some((name) => isListed(one, name));
    return {
      host: this.#options.clean(host),
      gated: [...all].flatMap(([name, { gated }]) => (gated === true ? [name] : [])),
      unbound: listed.filter((one) => !isBound(one)),
    };
  }

  /** What stands behind a name, as far as it is known without asking anybody. */
  bound(tool: string): BoundTool | undefined {
    return this.#bound.get(tool);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const pins = this.#pins();
    // Who has seen nothing new leaves the file as others have made it meanwhile.
    if (!deepEqual(pins as unknown as Json, this.#pinned as unknown as Json))
      keepToolPins(this.#settings.folder, pins, this.#options.warn);
    await this.#servers[Symbol.asyncDispose]();
  }

  #pins(): ToolPins {
    return { mcp: this.#servers.definitionsOf(), a2a: this.#agents.pins() };
  }

  /** A fault of a call is cleaned at the door; these are shown before there is a run. */
  #throwClean(error: unknown): never {
    if (!(error instanceof Fault)) throw error;
    const { code, message, retry } = error;
    throw new Fault(code, this.#options.clean(message), { retry, cause: error });
  }

  #open(provider: string): Promise<OpenedModel> {
    const key = this.#modelsByKey.has(provider) ? provider : "default";
    const setting = this.#modelsByKey.get(key);
    if (setting === undefined) {
      const message = "no model is bound (give --model, or `model:` in packloop.yaml, or --script)";
      return Promise.reject(new Fault("no_model", message, { retry: "never" }));
    }
    let opened = this.#opened.get(key);
    if (opened === undefined) {
      const { env, warn } = this.#options;
      opened = openModel(setting, { env, warn, prices: readPrices(this.#settings.prices, [], []) });
      this.#opened.set(key, opened);
    }
    return opened;
  }
}

/** How long servers may take to say what tools they have. */
const LIST_MS = 60_000;

function surroundings(settings: RunSettings, { clock, env, workRoot }: WorldOptions): Surroundings {
  return {
    folder: settings.folder,
    env,
    clock,
    notes: dirname(workRoot),
    async workspaceOf(run) {
      const path = workspaceFolder(settings, { workRoot, run });
      makeFolder(path);
      return path;
    },
  };
}

function modelSettings(
  { model, providers }: RunSettings,
  problems: OptionProblem[],
): ReadonlyMap<string, ModelSetting> {
  const models = new Map<string, ModelSetting>();
  const add = (key: string, value: Json, path: readonly string[]) => {
    const setting = readModelSetting(value, path, problems);
    if (setting !== undefined) models.set(key, setting);
  };
  if (model !== null) add("default", model, ["model"]);
  for (const [key, value] of Object.entries(providers)) add(key, value, ["providers", key]);
  return models;
}
