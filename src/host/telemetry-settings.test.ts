import { describe, expect, test } from "vitest";
import type { JsonObject } from "../base/json.ts";
import { readRunSettings } from "./run-settings.ts";
import { type TelemetrySettings, telemetryEnv, unsetVariables } from "./telemetry-settings.ts";

const read = (telemetry: JsonObject) => {
  const { settings, problems } = readRunSettings({ telemetry }, ".");
  return {
    telemetry: settings.telemetry,
    problems: problems.map(({ path, message }) => `${path.join(".")}: ${message}`),
  };
};

describe("the section telemetry", () => {
  test("names a collector, its headers by variables, what may leave, and the service", () => {
    const given = {
      endpoint: "https://otel.example/otlp",
      headers: { "X-Api-Key_env": "OTEL_KEY" },
      content: true,
      service_name: "tides",
    };
    expect(read(given)).toEqual({
      telemetry: {
        endpoint: "https://otel.example/otlp",
        headers: { "x-api-key": "OTEL_KEY" },
        content: true,
        serviceName: "tides",
      },
      problems: [],
    });
  });

  test.each<[JsonObject, string]>([
    [{ endpont: "http://a" }, "telemetry.endpont: unknown key `endpont` (did you mean `endpoint`?)"],
    [
      { endpoint: "otel:4318" },
      "telemetry.endpoint: `otel:4318` is not an address (write `http://127.0.0.1:4318`)",
    ],
    [{ endpoint: 4318 }, "telemetry.endpoint: `endpoint` is a text"],
    [
      { endpoint: "http://me:pw@a" },
      "telemetry.endpoint: the address carries credentials (name their variable under `headers`, as `authorization_env`)",
    ],
    [
      { headers: { authorization: "Bearer x" } },
      "telemetry.headers.authorization: headers are not written down (write `authorization_env` and the name of a variable)",
    ],
    [{ headers: { "a b_env": "X" } }, "telemetry.headers.a b_env: `a b` cannot be sent as a header"],
    [{ headers: { a_env: 1 } }, "telemetry.headers.a_env: `a_env` is a text"],
    [{ headers: "x" }, "telemetry.headers: `headers` is a mapping"],
    [{ content: "yes" }, "telemetry.content: `content` is true or false"],
    [{ service_name: " " }, "telemetry.service_name: `service_name` is empty"],
  ])("%j is a mistake", (given, problem) => {
    expect(read(given).problems).toEqual([problem]);
  });

  test("that is no mapping is a mistake", () => {
    expect(readRunSettings({ telemetry: true }, ".").problems).toEqual([
      { path: ["telemetry"], message: "`telemetry` is a mapping" },
    ]);
  });
});

describe("the environment with the settings in it", () => {
  const settings: TelemetrySettings = {
    endpoint: "http://file",
    headers: { authorization: "TOKEN", "x-team": "TEAM" },
    content: true,
    serviceName: "file",
  };
  const env = { TOKEN: "Bearer a,b=c" };

  test("has a variable for each, and headers as the SDK reads them", () => {
    expect(telemetryEnv(settings, env)).toEqual({
      ...env,
      OTEL_EXPORTER_OTLP_ENDPOINT: "http://file",
      OTEL_EXPORTER_OTLP_HEADERS: "authorization=Bearer%20a%2Cb%3Dc",
      OTEL_SERVICE_NAME: "file",
      PACKLOOP_OTEL_CONTENT: "1",
    });
    expect(unsetVariables(settings, env)).toEqual(["TEAM"]);
  });

  test("keeps what was set in it", () => {
    const set = {
      ...env,
      OTEL_EXPORTER_OTLP_ENDPOINT: "http://env",
      OTEL_EXPORTER_OTLP_HEADERS: "a=b",
      OTEL_SERVICE_NAME: "env",
      PACKLOOP_OTEL_CONTENT: "0",
    };
    expect(telemetryEnv(settings, set)).toEqual(set);
  });

  test("has no headers of the file for a collector that is not the file's", () => {
    const elsewhere = { ...env, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "http://env/v1/traces" };
    const { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_EXPORTER_OTLP_HEADERS: headers } = telemetryEnv(
      settings,
      elsewhere,
    );
    expect([endpoint, headers]).toEqual([undefined, undefined]);
    expect(unsetVariables(settings, elsewhere)).toEqual([]);
  });

  test("has them where the file names no collector of its own", () => {
    const { endpoint: _endpoint, ...rest } = settings;
    const elsewhere = { ...env, OTEL_EXPORTER_OTLP_ENDPOINT: "http://env" };
    expect(telemetryEnv(rest, elsewhere)).toMatchObject({
      OTEL_EXPORTER_OTLP_HEADERS: "authorization=Bearer%20a%2Cb%3Dc",
    });
  });

  test("has the name that resource attributes give the service", () => {
    const named = { OTEL_RESOURCE_ATTRIBUTES: "a=b,service.name=env" };
    expect(telemetryEnv(settings, named)).not.toHaveProperty("OTEL_SERVICE_NAME");
  });
});
