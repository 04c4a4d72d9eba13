// What the routes work with. Put together once when the server starts.

import type { Logger } from "pino";
import type { Engine } from "../engine/engine.ts";
import type { Clock, Store } from "../engine/ports.ts";
import type { RunSettings } from "../host/run-settings.ts";
import type { RunWorlds } from "../host/run-worlds.ts";
import type { Feed } from "./feed.ts";
import type { SideFile } from "./side-file.ts";
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
  readonly sender: WebhookSender;
  readonly log: Logger;
  readonly version: string;
  readonly isStopping: () => boolean;
}
