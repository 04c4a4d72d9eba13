// Test files to tests: everything that is wrong with any of them is found before the first one runs.

import { statSync } from "node:fs";
import { dirname, join } from "node:path";
import { readCassette } from "../../adapter/cassette/cassette.ts";
import { readScript, type Script } from "../../adapter/script/read-script.ts";
import { OptionReader } from "../../adapter/tool/option-reader.ts";
import { durationMs } from "../../adapter/tool/time/duration.ts";
import { isObject, type Json, type JsonObject, type Path } from "../../base/json.ts";
import { Fault } from "../../engine/ports.ts";
import { readBudgets } from "../../host/run-settings.ts";
import { type Document, Mistakes, readDocument } from "./document.ts";
import { readMock } from "./mock-file.ts";
import type { PackTest, PlayedModel } from "./pack-test.ts";
import { readExpectations } from "./read-expectations.ts";
import { readPeople } from "./read-people.ts";
import { isScenario, readScenario, type Scenario } from "./scenario-file.ts";

export interface ReadTestsOptions {
  /** What a Scenario file that is given by itself is played with. */
  readonly pack?: string;
  readonly mock?: string;
}

const TIMEOUT_MS = 60_000;
const noScript: Script = { states: {}, prompts: {}, steps: {}, tools: {}, events: {} };

export function readTests(
  files: readonly string[],
  options: ReadTestsOptions,
  mistakes: Mistakes,
): readonly PackTest[] {
  return files.flatMap((file) => {
    const document = readDocument(file, mistakes);
    return document === undefined ? [] : new FileReader(document, mistakes).read(options);
  });
}

/** What a test takes from its file unless it says otherwise. */
interface Defaults {
  readonly pack: string;
  readonly config: string | undefined;
  readonly script: Json | undefined;
  readonly variables: JsonObject;
  readonly approvals: readonly string[];
  readonly workspace: string | undefined;
  readonly timeout: Json | undefined;
}

class FileReader {
  readonly #document: Document;
  readonly #mistakes: Mistakes;
  readonly #problems: OptionReader["problems"] = [];

  constructor(document: Document, mistakes: Mistakes) {
    this.#document = document;
    this.#mistakes = mistakes;
  }

  read(options: ReadTestsOptions): readonly PackTest[] {
    const tests = isScenario(this.#document) ? this.#alone(options) : this.#tests();
    this.#mistakes.of(this.#document, this.#problems);
    return tests;
  }

  #tests(): readonly PackTest[] {
    const reader = new OptionReader(this.#document.value, [], this.#problems);
    const defaults: Defaults = {
      pack: reader.neededText("pack"),
      config: reader.text("config"),
      script: reader.any("script"),
      variables: reader.object("variables") ?? {},
      approvals: reader.texts("approvals") ?? [],
      workspace: reader.text("workspace"),
      timeout: reader.any("timeout"),
    };
    const list = reader.any("tests");
    reader.end();
    if (!Array.isArray(list) || list.length === 0) {
      reader.wrongWhole("`tests` is a list with at least one test");
      return [];
    }
    const names = new Set<string>();
    return (list as readonly Json[]).flatMap((item, index) => {
      const at = ["tests", index];
      const test = isObject(item)
        ? this.#test(new OptionReader(item, at, this.#problems), at, defaults)
        : null;
      if (test === null) this.#problems.push({ path: at, message: "a test is a mapping" });
      if (test === null) return [];
      if (names.has(test.name))
        this.#problems.push({ path: [...at, "name"], message: `\`${test.name}\` is there twice` });
      names.add(test.name);
      return [test];
    });
  }

  #test(reader: OptionReader, at: Path, defaults: Defaults): PackTest {
    const name = reader.neededText("name");
    const skip = reader.text("skip");
    const scenario = this.#scenario(reader, at);
    const prompt = reader.text("prompt") ?? scenario?.prompt;
    const config = reader.text("config") ?? defaults.config;
    const model = this.#model(reader, at, { name, scenario, defaults });
    const workspace = this.#workspace(reader, defaults);
    const budgets = reader.section("budgets");
    const expect = reader.object("expect");
    const test: PackTest = {
      name,
      at,
      place: this.#document.place,
      file: this.#document.file,
      pack: this.#path(reader.text("pack") ?? defaults.pack),
      ...model,
      variables: { ...defaults.variables, ...scenario?.variables, ...reader.object("variables") },
      input: reader.text("input") ?? "",
      mode:
        reader.oneOf("mode", ["autonomous", "conversational"]) ??
        (scenario === undefined ? "autonomous" : "conversational"),
      limits: budgets === undefined ? {} : readBudgets(budgets),
      approvals: [...defaults.approvals, ...(reader.texts("approvals") ?? [])],
      people: readPeople(reader.any("people"), [...at, "people"], this.#problems),
      timeoutMs: this.#timeout(reader, defaults),
      expect: readExpectations(expect ?? {}, {
        path: [...at, "expect"],
        place: this.#document.place,
        problems: this.#problems,
      }),
      ...ofScenario(scenario),
      ...(skip !== undefined && { skip }),
      ...(config !== undefined && { config: this.#path(config) }),
      ...(prompt !== undefined && { prompt }),
      ...(workspace !== undefined && { workspace }),
    };
    reader.end();
    if (Object.keys(expect ?? {}).length === 0 && !judgesItself(scenario))
      reader.wrongWhole("a test says what it expects (`expect: { status: completed }` at least)");
    return test;
  }

  /** A Scenario file by itself: the command line says what it is played with. */
  #alone({ pack, mock }: ReadTestsOptions): readonly PackTest[] {
    const scenario = readScenario(this.#document, this.#problems);
    if (scenario === undefined) return [];
    if (pack === undefined || mock === undefined) {
      const message = "a Scenario is played with --pack FILE and --mock FILE, or by a test with `scenario:`";
      this.#problems.push({ path: [], message });
      return [];
    }
    if (!judgesItself(scenario)) this.#problems.push({ path: ["spec"], message: "it asserts nothing" });
    const played = this.#played(readDocument(mock, this.#mistakes), scenario.name);
    if (played === undefined) return [];
    return [
      {
        name: scenario.name,
        file: this.#document.file,
        at: [],
        place: this.#document.place,
        pack,
        model: played,
        script: noScript,
        variables: scenario.variables,
        input: "",
        mode: "conversational",
        limits: {},
        approvals: [],
        people: [],
        timeoutMs: TIMEOUT_MS,
        expect: { checks: [] },
        ...ofScenario(scenario),
        ...(scenario.prompt !== undefined && { prompt: scenario.prompt }),
      },
    ];
  }

  #scenario(reader: OptionReader, at: Path): Scenario | undefined {
    const file = reader.text("scenario");
    if (file === undefined) return undefined;
    const document = this.#named(file, [...at, "scenario"]);
    if (document === undefined) return undefined;
    const problems: OptionReader["problems"] = [];
    const scenario = readScenario(document, problems);
    this.#mistakes.of(document, problems);
    return scenario;
  }

  /** Exactly one thing speaks; a script beside a cassette or a mock only plays people and tools. */
  #model(
    reader: OptionReader,
    at: Path,
    { name, scenario, defaults }: { name: string; scenario: Scenario | undefined; defaults: Defaults },
  ): Pick<PackTest, "model" | "script"> {
    const own = reader.any("script");
    const script = this.#script(own ?? defaults.script, own === undefined ? ["script"] : [...at, "script"]);
    const events = reader.object("events");
    const heard = events === undefined ? {} : this.#checked({ events }, at).events;
    const whole = { ...script, events: { ...script.events, ...heard } };
    const cassette = this.#cassette(reader);
    const mock = this.#mockOption(reader, at, { name, scenario });
    const speaks = Object.keys(script.states).length + Object.keys(script.prompts).length > 0;
    const speakers = [own !== undefined && speaks, cassette !== undefined, mock !== undefined];
    if (speakers.filter(Boolean).length > 1)
      reader.wrongWhole("one of `script`, `cassette` and `mock` plays the model, not several");
    if (mock !== undefined) return { model: mock, script: whole };
    if (cassette !== undefined) return { model: { kind: "cassette", file: cassette }, script: whole };
    const isBad = this.#problems.length > 0 || this.#mistakes.lines.length > 0;
    if (!speaks && !isBad)
      reader.wrongWhole("nothing plays the model (give `script` with states, `cassette` or `mock`)");
    return { model: { kind: "script" }, script: whole };
  }

  #cassette(reader: OptionReader): string | undefined {
    const given = reader.text("cassette");
    if (given === undefined) return undefined;
    const file = this.#path(given);
    try {
      readCassette(file);
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      reader.wrong("cassette", error.message);
    }
    return file;
  }

  #workspace(reader: OptionReader, { workspace }: Defaults): string | undefined {
    const given = reader.text("workspace") ?? workspace;
    if (given === undefined) return undefined;
    const folder = this.#path(given);
    if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true)
      reader.wrong("workspace", `\`${folder}\` is not a folder`);
    return folder;
  }

  #mockOption(
    reader: OptionReader,
    at: Path,
    { name, scenario }: { name: string; scenario: Scenario | undefined },
  ): PlayedModel | undefined {
    const value = reader.any("mock");
    if (value === undefined) return undefined;
    if (typeof value === "string") return this.#played(this.#named(value, [...at, "mock"]), scenario?.name);
    if (!isObject(value)) {
      reader.wrong("mock", "`mock` is a file, or { file, scenario }");
      return undefined;
    }
    const own = new OptionReader(value, [...at, "mock"], this.#problems);
    const file = own.neededText("file");
    const wanted = own.text("scenario") ?? scenario?.name ?? name;
    own.end();
    return file === "" ? undefined : this.#played(this.#named(file, [...at, "mock", "file"]), wanted);
  }

  #played(document: Document | undefined, wanted: string | undefined): PlayedModel | undefined {
    if (document === undefined) return undefined;
    const { scenario, problems } = readMock(document, wanted);
    this.#mistakes.of(document, problems);
    return scenario && { kind: "mock", scenario };
  }

  /** A path, or the script itself. */
  #script(value: Json | undefined, path: Path): Script {
    if (value === undefined || value === null) return noScript;
    if (typeof value !== "string") return this.#checked(value, path);
    const document = this.#named(value, path);
    if (document === undefined) return noScript;
    const { script, problems } = readScript(document.value);
    this.#mistakes.of(document, problems);
    return script;
  }

  #checked(value: Json, path: Path): Script {
    const { script, problems } = readScript(value);
    for (const one of problems) this.#problems.push({ ...one, path: [...path, ...one.path] });
    return script;
  }

  #timeout(reader: OptionReader, { timeout }: Defaults): number {
    const value = reader.any("timeout") ?? timeout;
    const ms = value === undefined ? TIMEOUT_MS : durationMs(value);
    if (ms === undefined || ms === 0) reader.wrong("timeout", "`timeout` is a time like 30s or 5m");
    return ms ?? TIMEOUT_MS;
  }

  /** Another file, with the place that names it. */
  #named(path: string, at: Path): Document | undefined {
    return readDocument(this.#path(path), this.#mistakes, this.#document.place(at));
  }

  /** Paths in a file start at its folder. */
  #path(path: string): string {
    return join(dirname(this.#document.file), path);
  }
}

const judgesItself = (scenario: Scenario | undefined): boolean =>
  scenario !== undefined &&
  scenario.checks.length + scenario.turns.flatMap(({ checks }) => checks).length > 0;

function ofScenario(scenario: Scenario | undefined): Pick<PackTest, "turns" | "remarks" | "closing"> {
  const { turns = [], remarks = [], unsupported = [], checks = [] } = scenario ?? {};
  return { turns, remarks, closing: { checks, unsupported } };
}
