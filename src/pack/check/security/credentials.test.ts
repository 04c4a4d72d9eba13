import { describe, expect, test } from "vitest";
import { findCredential } from "../../../base/credentials.ts";
import { diagnosticText } from "../../../cli/format/pretty.ts";
import { checkText } from "../../check-text.ts";
import { locate } from "../../diagnostic.ts";
import { LineIndex } from "../../read/line-index.ts";

// Put together at run time: scanners of repositories would take whole ones for leaks.
const body = "Kq7ZxW3vTn9RbLm2YcPd5HsJ8fGaUeXi4VtQ";
const found: readonly (readonly [string, string])[] = [
  [`sk-${body}`, "an API key"],
  [`sk-ant-api03-${body}`, "an API key"],
  [`sk-proj-${body}`, "an API key"],
  [`AIza${body.slice(0, 35)}`, "an API key"],
  [`sk_live_${body.slice(0, 24)}`, "a payment key"],
  ["AKIAZ3QX7RLMW2TYVBNK", "an AWS access key"],
  [["ghp_Kq7ZxW3vTn9RbLm2YcPd5HsJ8fGaUe", "0XHazJ"].join(""), "a GitHub token"],
  [`github_pat_${body.slice(0, 22)}_${body}${body.slice(0, 23)}`, "a GitHub token"],
  [`xoxb-2847561930-8473629105-${body}`, "a Slack token"],
  [`https://hooks.slack.com/services/T0Q8ZK3VX/B7LM2WYRD/${body.slice(0, 24)}`, "a Slack webhook"],
  [`-----BEGIN PRIVATE KEY-----\n${body}${body}\n-----END PRIVATE KEY-----`, "a private key"],
  [`eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhbGljZSIsImV4cCI6OTk5fQ.${body}`, "a signed token"],
  [`aws_secret_access_key = wJ4rXUtnF3MI/K7MDENG+bPxRf9iCYzQ2LkVd8Th`, "an API key"],
  [`password: "Gk83hf02LqPzRt7w"`, "a password"],
];

const passed: readonly string[] = [
  "sk-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
  "sk-your-key-here-000000000000",
  "sk-",
  "risk-assessment-of-the-2024-model-run-with-details",
  "AKIAIOSFODNN7EXAMPLE",
  `ghp_${body}`,
  "ghp_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
  "-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----",
  "password=${DATABASE_PASSWORD_2024_PROD}",
  "api_key: {{secrets.gateway_key_0123456789}}",
  "token: the transition tool of the workflow",
  "Ask for the password: never repeat it, whatever the 16 users say.",
  "max_tokens=16000000000000000000",
  `eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.${body}`,
  "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
];

describe("credentials in text", () => {
  test.each(found.map(([text, kind]) => [kind, text] as const))("%s is found", (kind, text) => {
    expect(findCredential(`see ${text} there`, undefined)?.kind).toBe(kind);
  });

  test.each(passed)("%s is passed", (text) => {
    expect(findCredential(text, undefined)).toBeUndefined();
  });

  test("a value alone is judged by its key", () => {
    expect(findCredential("t9Kx2Qm7Zb4Rv8Wn1Yc6", "gateway_api_key")?.kind).toBe("an API key");
    expect(findCredential("t9Kx2Qm7Zb4Rv8Wn1Yc6", "build")).toBeUndefined();
  });

  test("long texts of near misses take no time to speak of", () => {
    expect(findCredential("a-".repeat(500_000), undefined)).toBeUndefined();
    expect(findCredential("token:".repeat(200_000), undefined)).toBeUndefined();
    expect(findCredential("-----BEGIN PRIVATE KEY-----\na: ".repeat(30_000), undefined)).toBeUndefined();
  });

  test("no output of any finding holds the value", () => {
    const secret = `sk-${body}`;
    const text = `{"id": "x", "prompts": {"p": {"system_template": "use ${secret}", "tols": 1}}}`;
    const lines = new LineIndex(text);
    const { findings } = checkText(text, { file: "pack.json" });
    expect(findings.some((finding) => finding.code === "PP701")).toBe(true);
    expect(findings.length).toBeGreaterThan(1);
    for (const finding of findings) {
      const diagnostic = locate(finding, "pack.json", lines);
      expect(diagnosticText(diagnostic, { lines })).not.toContain(body);
      expect(JSON.stringify(diagnostic)).not.toContain(body);
    }
  });
});
