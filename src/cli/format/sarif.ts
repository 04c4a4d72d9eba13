// SARIF 2.1.0, for code scanning. Columns count code points, which `columnKind` says.

import type { Diagnostic, Edit, Fix } from "../../pack/diagnostic.ts";
import type { LineIndex } from "../../pack/read/line-index.ts";
import type { CheckReport, FileReport, Format } from "./check-report.ts";
import { fileUri } from "./file-uri.ts";
import { fingerprints } from "./fingerprint.ts";
import { jsonText } from "./json-text.ts";
import { levels, ruleDescriptors, ruleIndex } from "./sarif-rules.ts";
import { sentence, sentences } from "./wording.ts";

const SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

export const sarif: Format = (report, { version }) => {
  const driver = { name: "packloop", version, semanticVersion: version, rules: ruleDescriptors };
  const run = { tool: { driver }, columnKind: "unicodeCodePoints", results: resultsOf(report) };
  return `${jsonText({ $schema: SCHEMA, version: "2.1.0", runs: [run] }, 2)}\n`;
};

function resultsOf(report: CheckReport) {
  const prints = fingerprints(report.files.flatMap((file) => file.diagnostics));
  const results = report.files.flatMap((file) => file.diagnostics.map((one) => resultOf(one, file)));
  return results.map((result, index) => ({
    ...result,
    partialFingerprints: { "packloop/v1": prints[index] },
  }));
}

function resultOf(diagnostic: Diagnostic, { lines }: FileReport) {
  const { code, severity, file, pointer, line, column, endLine, endColumn, fix } = diagnostic;
  const region = { startLine: line, startColumn: column, endLine, endColumn };
  return {
    ruleId: code,
    ruleIndex: ruleIndex(code),
    level: levels[severity],
    message: { text: plainText(sentences(diagnostic)) },
    locations: [
      {
        physicalLocation: { artifactLocation: { uri: fileUri(file) }, region },
        ...(pointer !== "" && { logicalLocations: [{ fullyQualifiedName: pointer }] }),
      },
    ],
    ...relatedOf(diagnostic),
    ...(fix !== null && { fixes: [fixOf(fix, file, lines)] }),
  };
}

/** A finding with two related places or more shows a path: the witness, leg by leg. */
function relatedOf({ related }: Diagnostic) {
  if (related.length === 0) return {};
  const places = related.map(({ file, line, column, message }) => ({
    physicalLocation: {
      artifactLocation: { uri: fileUri(file) },
      region: { startLine: line, startColumn: column },
    },
    message: { text: plainText(sentence(message)) },
  }));
  const relatedLocations = places.map((place, index) => ({ id: index + 1, ...place }));
  if (places.length === 1) return { relatedLocations };
  const threadFlows = [{ locations: places.map((location) => ({ location })) }];
  return { relatedLocations, codeFlows: [{ threadFlows }] };
}

function fixOf({ applicability, title, edits }: Fix, file: string, lines: LineIndex) {
  return {
    description: { text: plainText(sentence(title)) },
    artifactChanges: [
      {
        artifactLocation: { uri: fileUri(file) },
        replacements: edits.map((edit) => replacementOf(edit, lines)),
      },
    ],
    properties: { applicability },
  };
}

function replacementOf({ start, end, text }: Edit, lines: LineIndex) {
  const from = lines.position(start);
  const to = lines.position(end);
  const deletedRegion = {
    startLine: from.line,
    startColumn: from.column,
    endLine: to.line,
    endColumn: to.column,
  };
  return { deletedRegion, ...(text !== "" && { insertedContent: { text } }) };
}

/** SARIF reads `[text](target)` in a message as a link; names from a pack must not make one. */
function plainText(text: string): string {
  return text.replaceAll("](", "\\](");
}
