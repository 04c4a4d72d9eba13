// The built-in tool `notify`: tells a person or another system something, by a signed webhook or by Slack.
// Who cannot be reached is told later: the call waits, over restarts, until it was heard or the time is up.

import { get, type Json, type JsonObject } from "../../../base/json.ts";
import { utf8Length } from "../../../base/utf8.ts";
import { type CallContext, Fault, type Later } from "../../../engine/ports.ts";
import { faultOfStatus } from "../../net/answer-fault.ts";
import { guardedRequest } from "../../net/guarded-request.ts";
import { hostOf, placeOf } from "../../net/net-rules.ts";
import type { BoundTool, Surroundings } from "../bound-tool.ts";
import { argumentReader, type CallArguments } from "../call-arguments.ts";
import { operationOption } from "../operation-option.ts";
import type { OptionReader } from "../option-reader.ts";
import { durationMs } from "../time/duration.ts";
import { answerOf, ToolProblem } from "../tool-problem.ts";
import { type Notice, slackBody, webhookBody, webhookHeaders } from "./notice.ts";

type Way = "webhook" | "slack";

interface NotifyOptions {
  readonly way: Way;
  /** The address, or the variable that holds it: those of Slack are secret. */
  readonly url: string | undefined;
  readonly urlEnv: string | undefined;
  readonly secretEnv: string | undefined;
  readonly timeoutMs: number;
  readonly giveUpMs: number;
}

const BODY_BYTES_MAX = 20_000;
const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/** Before the second attempt, the third, and so on; the last one from then on. */
const PAUSES_MS = [5 * SECOND, MINUTE, 5 * MINUTE, 30 * MINUTE, 2 * HOUR] as const;
const GIVE_UP_MOST_MS = 7 * 24 * HOUR;

export function bindNotify(reader: OptionReader, around: Surroundings): BoundTool {
  const options = readOptions(reader);
  const argumentsOf = argumentReader(reader, SPELLINGS);
  return {
    tier: "egress",
    // A webhook has the same id whenever it is sent, so that its receiver can tell. Slack cannot.
    safe: options.way === "webhook",
    definition: DEFINITION,
    call: (args, context) => answerOf(() => tell(noticeIn(argumentsOf(args)), { options, around, context })),
  };
}

function readOptions(reader: OptionReader): NotifyOptions {
  const way = operationOption<Way>(reader, ["webhook", "slack"]);
  const [url, urlEnv] = [reader.text("url"), reader.text("url_env")];
  if ((url === undefined) === (urlEnv === undefined))
    reader.wrongWhole("it needs an address: one of `url` and `url_env`");
  if (url !== undefined && way === "slack")
    reader.wrong("url", "an address of Slack is a secret (name its variable in `url_env`)");
  else if (url !== undefined && !isAddress(url))
    reader.wrong("url", `\`${url}\` is not an http or https address without a password`);
  const secretEnv = way === "webhook" ? reader.neededText("secret_env") : undefined;
  const giveUp = reader.any("give_up");
  const giveUpMs = giveUp === undefined ? HOUR : (durationMs(giveUp) ?? -1);
  if (giveUpMs < 0 || giveUpMs > GIVE_UP_MOST_MS)
    reader.wrong("give_up", "`give_up` is a number of seconds, or a text such as 12h, up to seven days");
  const timeoutMs = (reader.number("timeout_sec", { least: 0.1, most: 120 }) ?? 20) * SECOND;
  return { way, url, urlEnv, secretEnv, timeoutMs, giveUpMs };
}

function isAddress(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && ["http:", "https:"].includes(url.protocol) && url.username + url.password === "";
}

const SPELLINGS = {
  text: ["message", "body", "content", "summary"],
  title: ["subject", "headline"],
  data: ["details", "payload", "fields"],
};

const DEFINITION: { readonly description: string; readonly parameters: JsonObject } = {
  description: "Tells people or another system something.",
  parameters: {
    type: "object",
    properties: {
      text: { type: "string", description: "what to tell" },
      title: { type: "string", description: "what it is about, in a few words" },
      data: { description: "more of it, for programs" },
    },
    required: ["text"],
  },
};

function noticeIn(args: CallArguments): Notice {
  const [title, data] = [args.text("title"), args.any("data")];
  return {
    text: args.neededText("text"),
    ...(title !== undefined && { title }),
    ...(data !== undefined && { data }),
  };
}

interface Call {
  readonly options: NotifyOptions;
  readonly around: Surroundings;
  readonly context: CallContext;
}

async function tell(notice: Notice, call: Call): Promise<Json | Later> {
  const { options, around, context } = call;
  const url = addressOf(call);
  const { way, secretEnv = "" } = options;
  const at = around.clock.now();
  const since = Number(get(context.handle ?? null, "since") ?? at);
  const body = way === "slack" ? slackBody(notice, context) : webhookBody(notice, context, since);
  if (utf8Length(body) > BODY_BYTES_MAX)
    throw new ToolProblem("too_large", `a notice has at most ${BODY_BYTES_MAX} bytes (say less)`);
  const signed =
    way === "slack"
      ? {}
      : webhookHeaders({ id: context.key, body, at, secret: around.env(secretEnv), secretEnv });
  try {
    await send(url, { ...call, body, headers: { ...signed, ...context.trace?.headers } });
    return { sent: true, id: context.key, attempts: triesOf(call) + 1 };
  } catch (error) {
    context.signal.throwIfAborted();
    if (!(error instanceof Fault) || error.retry === "never") throw error;
    // Whether Slack has shown it is unknown: somebody has to say (S46).
    if (error.retry === "unknown" && way === "slack") throw error;
    return again(call, error, since);
  }
}

const triesOf = ({ context }: Call): number => Number(get(context.handle ?? null, "tries") ?? 0);

/** `since` is when the first attempt was begun; what is sent stays the same from then on. */
function again(call: Call, fault: Fault, since: number): Later {
  const now = call.around.clock.now();
  const tries = triesOf(call);
  const pause = PAUSES_MS[Math.min(tries, PAUSES_MS.length - 1)] ?? HOUR;
  const until = now + Math.max(pause, fault.afterMs ?? 0);
  if (until - since > call.options.giveUpMs)
    throw new ToolProblem("unreachable", `${fault.message} (tried ${tries + 1} times, see \`give_up\`)`);
  return { deferred: true, until, handle: { since, tries: tries + 1 } };
}

function addressOf({ options: { url, urlEnv = "" }, around }: Call): URL {
  const text = url ?? around.env(urlEnv)?.trim() ?? "";
  if (isAddress(text)) return new URL(text);
  const what = url === undefined ? `the variable \`${urlEnv}\`` : "`url`";
  throw new ToolProblem("not_configured", `${what} is not set to an http or https address`);
}

interface Sending extends Call {
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

async function send(url: URL, { options, around, context, body, headers }: Sending): Promise<void> {
  const { timeoutMs } = options;
  const response = await guardedRequest({
    ...{ url: url.href, method: "POST", body, timeoutMs, idleMs: timeoutMs, signal: context.signal },
    headers: { "content-type": "application/json", "user-agent": "packloop", ...headers },
    // Whoever configures it chose the host. A notice that is sent elsewhere has not arrived.
    rules: { allowPrivate: [placeOf(url)] },
    stays: true,
  });
  if (!response.ok) throw new ToolProblem(response.code, response.message);
  response.body.destroy();
  const { status } = response;
  const fault = faultOfStatus({ ...response, host: hostOf(url) }, around.clock.now());
  if (fault !== undefined) throw fault;
  if (status < 200 || status >= 300)
    throw new ToolProblem(`http_${status}`, `\`${hostOf(url)}\` did not take it: status ${status}`);
}
