// The gateway's log: one line for each thing, as JSON or as text for people.

import { type DestinationStream, pino } from "pino";
import type { ServiceConfig } from "./config/config.ts";
import type { GatewayLog } from "./gateway.ts";

export function gatewayLog(service: ServiceConfig, write: (line: string) => void): GatewayLog {
  const destination: DestinationStream = {
    write: (line) => write(service.logFormat === "json" ? line : asText(line)),
  };
  const base = { service: service.name };
  const formatters = { level: (level: string) => ({ level }) };
  const timestamp = pino.stdTimeFunctions.isoTime;
  return pino({ level: service.logLevel, base, timestamp, formatters }, destination);
}

function asText(line: string): string {
  const { time, level, service: _name, msg, ...rest } = JSON.parse(line) as Record<string, unknown>;
  const fields = Object.entries(rest).map(([key, value]) => ` ${key}=${JSON.stringify(value)}`);
  return `${String(time)} ${String(level).padEnd(5)} ${String(msg)}${fields.join("")}\n`;
}
