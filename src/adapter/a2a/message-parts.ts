// Parts of messages and artifacts as JSON for a journal: texts and data as they are, files described and
// never copied.

import { hash } from "node:crypto";
import type { Artifact, Message, Part } from "@a2a-js/sdk";
import { type Json, type JsonObject, put } from "../../base/json.ts";
import { cut } from "../mcp/tool-result.ts";

const PARTS_MAX = 200;
const NAME_BYTES = 1024;

export const textOf = (parts: readonly Part[]): string =>
  parts
    .flatMap(({ content }) => (content?.$case === "text" ? [content.value] : []))
    .join("\n")
    .trim();

/** What stands beside the text; undefined when there is nothing. */
export function dataOf(parts: readonly Part[]): Json | undefined {
  const others = parts.filter(({ content }) => content?.$case !== "text").slice(0, PARTS_MAX);
  const values = others.map(valueOf);
  return values.length > 1 ? values : values[0];
}

/** By name, or by id where the name is taken or missing. One part is a value, several are a list. */
export function artifactsOf(artifacts: readonly Artifact[]): JsonObject {
  const found: Record<string, Json> = {};
  for (const { name, artifactId, parts } of artifacts.slice(0, PARTS_MAX)) {
    const key = name === "" || Object.hasOwn(found, name) ? artifactId : name;
    const values = parts.slice(0, PARTS_MAX).map(valueOf);
    put(found, cut(key, NAME_BYTES), values.length === 1 ? (values[0] ?? null) : values);
  }
  return found;
}

export const messageText = (message: Message | undefined): string => textOf(message?.parts ?? []);

function valueOf({ content, filename, mediaType }: Part): Json {
  const named = {
    ...(filename !== "" && { name: cut(filename, NAME_BYTES) }),
    ...(mediaType !== "" && { mime_type: cut(mediaType, NAME_BYTES) }),
  };
  switch (content?.$case) {
    case "text":
      return content.value;
    case "data":
      return (content.value ?? null) as Json;
    case "url":
      return { url: cut(content.value, NAME_BYTES), ...named };
    case "raw": {
      const bytes = Buffer.from(content.value);
      return { bytes: bytes.length, sha256: hash("sha256", bytes, "hex"), ...named };
    }
    default:
      return null;
  }
}
