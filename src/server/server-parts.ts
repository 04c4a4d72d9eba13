// What the routes work with. Put together once when the server starts.

import type { Logger } from "pino";
import type { Engine } from "../engine/engine.ts";
import type { Clock, Store } from "../engine/ports.ts";
import type { RunSettings } from "../host/run-settings.ts";
import type { RunWorlds } from "../host/run-worlds.ts";
import type { MetricRegistry } from "../telemetry/metric-registry.ts";
import type { BlobBook } from "./blob-book.ts";
import type { Feed } from "./feed.ts";
import type { Sessions } from "./sessions.ts";
import type { SideFile } from "./side-file.ts";
import type { StreamLog } from "./stream-log.ts";
import type { Tickets } from "./tickets.ts";
import type { TokenFile } from "./tokens.ts";
import type { HookBook } from "./webhook/hook-book.ts";
import type { WebhookBook } from "./webhook/webhook-book.ts";
import type { WebhookSender } from "./webhook/webhook-sender.ts";

export interface ServerParts {
  readonly engine: Engine;
  readonly store: Store;
  readonly worlds: RunWorlds;
  readonly clock: Clock;
  /** What runs that are started here work with. */
  readonly settings: RunSettings;
  readonly feed: Feed;
  /** What the server keeps for itself beside the store. */
  readonly side: SideFile;
  readonly webhooks: WebhookBook;
  readonly blobs: BlobBook;
  readonly hooks: HookBook;
  readonly sender: WebhookSender;
  /** Where every turn has its place in the order of all. */
  readonly stream: StreamLog;
  readonly tokens: TokenFile;
  readonly tickets: Tickets;
  readonly sessions: Sessions;
  /** Turns of a run, up to this one, were put into the store beside the engine. */
  readonly arrived: (run: string, turn: number) => void;
  /** Throws what keeps the store from committing. */
  readonly probe: () => Promise<void>;
  readonly metrics: MetricRegistry;
  readonly log: Logger;
  readonly version: string;
  readonly isStopping: () => boolean;
}
