// What config.yaml says, checked and with defaults filled in.

import { isIP } from "node:net";
import { resolve } from "node:path";
import { get, isObject, type Json, type JsonObject } from "../../base/json.ts";
import { isScope, type Token } from "./scopes.ts";
import { type Findings, noFindings, Section } from "./section.ts";

export interface GatewayConfig {
  readonly service: ServiceConfig;
  readonly statePath: string;
  readonly context: "isolated" | "accumulate";
  readonly pluginRoots: readonly string[];
  readonly api: ApiConfig;
  readonly plugins: ReadonlyMap<string, PluginEntry>;
}

export interface ServiceConfig {
  readonly name: string;
  readonly tickMs: number;
  readonly logLevel: "info" | "debug" | "warn" | "error";
  readonly logFormat: "json" | "text";
  readonly dedupeTtlMs: number;
  readonly jobLogRetentionMs: number;
  readonly workspaceRetentionMs: number;
  /** Plugins are held to the rules of the newer protocol. */
  readonly isStrict: boolean;
}

export interface ApiConfig {
  readonly enabled: boolean;
  readonly host: string;
  readonly port: number;
  readonly tokens: readonly Token[];
  readonly syncMax: number;
  readonly syncTimeoutMs: number;
}

export interface PluginEntry {
  readonly enabled: boolean;
  readonly schedules: readonly Schedule[];
  readonly config: JsonObject;
  readonly attemptsMax: number;
  readonly backoffMs: number;
  readonly timeoutsMs: ReadonlyMap<string, number>;
  readonly outstandingPollsMax: number;
  /** Undefined: the plugin gets the whole environment. */
  readonly passEnv: readonly string[] | undefined;
  readonly noSelfTrigger: boolean;
}

export interface Schedule {
  readonly id: string;
  readonly everyMs: number;
  readonly jitterMs: number;
  readonly command: string;
  readonly payload: JsonObject;
}

/** The agent: it never triggers itself, whatever the configuration says. */
const AGENT = "agentic-loop";

/** `value` has its variables filled in; `folder` is what relative paths are relative to. */
export function readConfig(value: Json, folder: string, findings: Findings): GatewayConfig {
  const top = new Section(value, "", findings);
  const service = readService(top.section("service"));
  const config: GatewayConfig = {
    service,
    statePath: readStatePath(top, folder),
    context: readContext(top.section("router")),
    pluginRoots: readRoots(top).map((root) => resolve(folder, root)),
    api: readApi(top.section("api")),
    plugins: readPlugins(top.section("plugins")),
  };
  refuse(top);
  for (const read of ["include", "pipelines"]) top.get(read);
  top.done();
  return config;
}

function readService(service: Section): ServiceConfig {
  const tickMs = service.duration("tick_interval", "60s");
  if (tickMs < 1_000) service.wrong("tick_interval", "is below 1s");
  if (service.count("max_workers", { fallback: 1, least: 0 }) !== 1)
    service.warn("max_workers", "means 1: one job runs at a time");
  const read: ServiceConfig = {
    name: service.text("name", "packloop"),
    tickMs: Math.max(tickMs, 1_000),
    logLevel: service.choice("log_level", ["info", "debug", "warn", "error"]),
    logFormat: service.choice("log_format", ["json", "text"]),
    dedupeTtlMs: service.duration("dedupe_ttl", "24h"),
    jobLogRetentionMs: service.duration("job_log_retention", "30d"),
    workspaceRetentionMs: service.duration("workspace_retention", "7d"),
    isStrict: service.choice("plugin_protocol", ["lenient", "strict"]) === "strict",
  };
  service.flag("strict_mode", false);
  service.done();
  return read;
}

function readStatePath(top: Section, folder: string): string {
  const state = top.section("state");
  const database = top.section("database");
  const paths = [state.text("path", undefined), database.text("path", undefined)];
  if (paths[0] !== undefined && paths[1] !== undefined)
    top.wrong("database.path", "is another name of `state.path` (keep one of them)");
  for (const section of [state, database]) section.done();
  return resolve(folder, paths[0] ?? paths[1] ?? "./data/state.db");
}

function readContext(router: Section): GatewayConfig["context"] {
  const mode = router.choice("context", ["isolated", "accumulate"]);
  router.done();
  return mode;
}

function readRoots(top: Section): readonly string[] {
  const folder = top.text("plugins_dir", undefined);
  const roots = top.texts("plugin_roots");
  if (folder !== undefined && roots.length > 0)
    top.wrong("plugins_dir", "and `plugin_roots` say the same (keep one of them)");
  if (roots.length > 0) return roots;
  return [folder ?? "./plugins"];
}

/** Keys that other gateways read and never obey, or that we do not support: silence would be a lie. */
function refuse(top: Section): void {
  if (top.list("routes").length > 0)
    top.wrong("routes", "is never run by any gateway (write `pipelines` instead)");
  const webhooks = top.section("webhooks");
  if (webhooks.list("endpoints").length > 0) webhooks.wrong("endpoints", "is not supported");
  webhooks.done();
}

function readApi(api: Section): ApiConfig {
  const auth = api.section("auth");
  const key = auth.text("api_key", undefined);
  const tokens = [
    ...(key === undefined ? [] : [{ token: key, scopes: ["*"], forPlugin: undefined }]),
    ...auth.sections("tokens").map(readToken),
  ];
  auth.done();
  const listen = api.text("listen", "127.0.0.1:8080");
  const [, host = "", port = ""] = /^(?:\[([^\]]*)\]|([^:]*)):(\d{1,5})$/.exec(listen)
    ? [listen, listen.slice(0, listen.lastIndexOf(":")), listen.slice(listen.lastIndexOf(":") + 1)]
    : [];
  if (port === "" || Number(port) > 65_535) api.wrong("listen", "is not an address and a port");
  const read: ApiConfig = {
    enabled: api.flag("enabled", false),
    host: host.replace(/^\[|\]$/g, "") || "0.0.0.0",
    port: Number(port),
    tokens,
    syncMax: api.count("max_concurrent_sync", { fallback: 10, least: 0 }),
    syncTimeoutMs: api.duration("max_sync_timeout", "5m"),
  };
  if (read.enabled && tokens.length === 0 && port !== "" && !isLoopback(read.host))
    api.wrong("listen", "is open to other machines and there is no token (add `api.auth.tokens`)");
  api.done();
  return read;
}

function readToken(entry: Section): Token {
  const scopes = entry.texts("scopes");
  for (const scope of scopes)
    if (!isScope(scope)) entry.wrong("scopes", `has \`${scope}\`, which is no scope`);
  const token = entry.text("token", "");
  if (token === "") entry.wrong("token", "is missing");
  const forPlugin = entry.text("for_plugin", undefined);
  entry.done();
  return { token, scopes, forPlugin };
}

function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || (isIP(host) === 4 && host.startsWith("127."));
}

function readPlugins(plugins: Section): ReadonlyMap<string, PluginEntry> {
  return new Map(plugins.keys().map((name) => [name, readEntry(name, plugins.section(name))]));
}

/** The entry of a plugin that the configuration does not name. */
export const defaultEntry = (name: string): PluginEntry => readEntry(name, new Section({}, "", noFindings()));

function readEntry(name: string, entry: Section): PluginEntry {
  const retry = entry.section("retry");
  const timeouts = entry.section("timeouts");
  const config = entry.get("config") ?? {};
  if (!isObject(config)) entry.wrong("config", "is not a mapping");
  for (const ignored of ["parallelism", "notify_on_complete", "circuit_breaker"])
    if (entry.has(ignored)) entry.warn(ignored, "is ignored");
  const read: PluginEntry = {
    enabled: entry.flag("enabled", true),
    schedules: readSchedules(entry),
    config: isObject(config) ? config : {},
    attemptsMax: retry.count("max_attempts", { fallback: 4, least: 1 }),
    backoffMs: retry.duration("backoff_base", "30s"),
    timeoutsMs: new Map(timeouts.keys().map((command) => [command, timeouts.duration(command, "60s")])),
    outstandingPollsMax: entry.count("max_outstanding_polls", { fallback: 1, least: 1 }),
    passEnv: entry.has("pass_env") ? entry.texts("pass_env") : undefined,
    noSelfTrigger: entry.flag("no_self_trigger", false) || name === AGENT,
  };
  if (name === AGENT) refuseSelf(entry, read.config);
  for (const section of [retry, timeouts, entry]) section.done();
  return read;
}

function refuseSelf(entry: Section, config: JsonObject): void {
  const allowed = get(config, "allowed_plugins");
  if (Array.isArray(allowed) && (allowed as readonly Json[]).includes(AGENT))
    entry.wrong("config.allowed_plugins", `has \`${AGENT}\` itself (an agent must not start agents)`);
}

const CALENDAR = ["cron", "at", "after", "days", "weekdays", "time", "timezone"];

function readSchedules(entry: Section): readonly Schedule[] {
  const one = entry.get("schedule");
  const sections = [
    ...(one === undefined ? [] : [entry.section("schedule")]),
    ...entry.sections("schedules"),
  ];
  const schedules = sections.map((section, index) => readSchedule(section, index));
  const ids = schedules.map(({ id }) => id);
  if (new Set(ids).size < ids.length) entry.wrong("schedules", "has two entries with the same `id`");
  return schedules.filter(({ everyMs }) => everyMs > 0);
}

function readSchedule(section: Section, index: number): Schedule {
  for (const key of CALENDAR) if (section.has(key)) section.wrong(key, "is not supported (write `every`)");
  if (!section.has("every")) section.wrong("every", "is missing");
  const payload = section.section("payload");
  payload.keys();
  const everyMs = section.has("every") ? section.duration("every", "60s") : 0;
  if (section.has("every") && everyMs === 0) section.wrong("every", "is no time at all (expected 30s or 5m)");
  const schedule = {
    id: section.text("id", `schedule_${index + 1}`),
    everyMs,
    jitterMs: section.has("jitter") ? section.duration("jitter", "0s") : 0,
    command: section.text("command", "poll"),
    payload: payload.value,
  };
  section.done();
  return schedule;
}
