// A provider's wire on a local port: gives scripted answers in the protocol of chat completions, then none.

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Json, JsonObject } from "../../src/base/json.ts";

export interface ProviderWire {
  readonly url: string;
  readonly bodies: JsonObject[];
  close(): void;
}

export async function providerWire(answers: readonly Json[]): Promise<ProviderWire> {
  const bodies: JsonObject[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      bodies.push(JSON.parse(Buffer.concat(chunks).toString("utf8")) as JsonObject);
      const answer = answers[bodies.length - 1];
      if (answer === undefined) return void response.writeHead(503).end("{}");
      const call = {
        id: "c",
        type: "function",
        function: { name: "answer", arguments: JSON.stringify(answer) },
      };
      const message = { role: "assistant", content: null, tool_calls: [call] };
      response.writeHead(200, { "content-type": "application/json" });
      response.end(
        JSON.stringify({
          id: "x",
          object: "chat.completion",
          created: 1,
          model: "m",
          choices: [{ index: 0, message, finish_reason: "tool_calls" }],
          usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
        }),
      );
      return undefined;
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/v1`, bodies, close: () => void server.close() };
}
