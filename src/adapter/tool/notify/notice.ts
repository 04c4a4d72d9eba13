// A notice as it is sent: signed and shaped as Standard Webhooks 1.0 says, or as a message of Slack.

import { createHmac } from "node:crypto";
import { isoTime } from "../../../base/iso-time.ts";
import type { Json } from "../../../base/json.ts";
import type { CallContext } from "../../../engine/ports.ts";
import { ToolProblem } from "../tool-problem.ts";

export interface Notice {
  readonly text: string;
  readonly title?: string;
  readonly data?: Json;
}

type Place = Pick<CallContext, "run" | "step" | "state">;

/** The same text for every attempt. */
export function webhookBody(notice: Notice, { run, step, state }: Place, at: number): string {
  return JSON.stringify({
    type: "run.notice",
    timestamp: isoTime(at),
    data: { run, step, state, ...notice },
  });
}

const PREFIX = "whsec_";

export interface Signing {
  readonly id: string;
  readonly body: string;
  readonly at: number;
  readonly secret: string | undefined;
  readonly secretEnv: string;
}

export function webhookHeaders({
  id,
  body,
  at,
  secret,
  secretEnv,
}: Signing): Readonly<Record<string, string>> {
  const text = secret?.trim() ?? "";
  const key = Buffer.from(text.slice(PREFIX.length), "base64");
  if (!text.startsWith(PREFIX) || key.length < 24 || key.length > 64)
    throw new ToolProblem(
      "not_configured",
      `the variable \`${secretEnv}\` is not set to a secret (whsec_ and 24 to 64 bytes in base64)`,
    );
  const timestamp = String(Math.floor(at / 1000));
  const signature = createHmac("sha256", key).update(`${id}.${timestamp}.${body}`).digest("base64");
  return { "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": `v1,${signature}` };
}

/** What a model wrote is shown as it is: it mentions nobody and links to nothing. */
export function slackBody({ text, title, data }: Notice, { run, state }: Place): string {
  const lines = [
    ...(title === undefined ? [] : [`*${plain(title)}*`]),
    plain(text),
    ...(data === undefined ? [] : [`\`\`\`${plain(JSON.stringify(data, null, 2))}\`\`\``]),
    `_run ${plain(run)}, ${plain(state)}_`,
  ];
  return JSON.stringify({ text: lines.join("\n"), unfurl_links: false, unfurl_media: false });
}

const plain = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
