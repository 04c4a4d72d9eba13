// One file's text to the packs it holds: a YAML or JSON pack, or Kubernetes manifests with packs in
// ConfigMaps. Every position in the result is an offset into the file's text, also for embedded packs.

import type { Path } from "../../base/json.ts";
import type { Finding } from "../diagnostic.ts";
import { moveNode, moveSpan, outerOffsets } from "./embedded-text.ts";
import { limits, syntaxFinding, tooLarge } from "./limits.ts";
import { parseJson } from "./parse-json.ts";
import { parseYaml } from "./parse-yaml.ts";
import { type Entry, entryAt, type Node, nodeAt, type Span } from "./tree.ts";

export interface PackSource {
  readonly root: Node;
  /** The ConfigMap key the pack was found under; empty for a pack that is the file itself. */
  readonly embeddedAs: string;
  /** Text edits are possible: false inside a quoted scalar of a manifest. */
  readonly editable: boolean;
}

export interface SourceFile {
  readonly packs: readonly PackSource[];
  readonly findings: readonly Finding[];
}

export function readSource(text: string, file: string): SourceFile {
  const parsed = parse(text, file);
  if (!parsed.ok) return { packs: [], findings: [inside(parsed.finding, text)] };
  const { packs, findings } = packsOf(parsed.documents, text);
  return { packs, findings: findings.map((finding) => inside(finding, text)) };
}

type ParsedText =
  | { readonly ok: true; readonly documents: readonly Node[] }
  | { readonly ok: false; readonly finding: Finding };

/** Documents of a text; at least one. */
function parse(text: string, file: string): ParsedText {
  const refused = refuseText(text);
  if (refused !== undefined) return { ok: false, finding: refused };
  if (isJson(text, file)) {
    const parsed = parseJson(text);
    return parsed.ok ? { ok: true, documents: [parsed.root] } : parsed;
  }
  const { documents, findings } = parseYaml(text);
  const finding = findings[0] ?? (documents.length === 0 ? empty() : undefined);
  return finding === undefined ? { ok: true, documents } : { ok: false, finding };
}

function refuseText(text: string): Finding | undefined {
  const bytes = sizeOf(text);
  if (bytes > limits.sizeBytes) return tooLarge("file is", bytes, { start: 0, end: 0 });
  const nul = text.indexOf("\u0000");
  if (nul === -1) return undefined;
  const why = "it contains a zero byte; a pack is text";
  const span = { start: nul, end: nul + 1 };
  return syntaxFinding("the file is binary", why, "give a YAML or JSON file", span);
}

/** In UTF-8. A text that is too large anyway is not counted out. */
function sizeOf(text: string): number {
  if (text.length > limits.sizeBytes || text.length * 3 <= limits.sizeBytes) return text.length;
  let bytes = text.length;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit > 0x7f) bytes += unit < 0x800 || (unit >= 0xd800 && unit <= 0xdfff) ? 1 : 2;
  }
  return bytes;
}

/** By name; without one that says it, by the first character. */
function isJson(text: string, file: string): boolean {
  if (/\.json$/i.test(file)) return true;
  if (/\.ya?ml$/i.test(file)) return false;
  return /^\ufeff?\s*[{[]/.test(text);
}

function packsOf(documents: readonly Node[], text: string): SourceFile {
  const packs: PackSource[] = [];
  const findings: Finding[] = [];
  const plain: Node[] = [];
  const maps: Node[] = [];
  let foreign: { kind: string; node: Node } | undefined;
  for (const document of documents.flatMap(unlist)) {
    const kind = manifestKind(document);
    if (kind === undefined) plain.push(document);
    else if (kind === "ConfigMap") maps.push(document);
    else foreign ??= { kind, node: document };
  }
  if (plain.length > 1) findings.push(secondDocument(plain[1] as Node));
  else if (plain[0] !== undefined) packs.push({ root: plain[0], embeddedAs: "", editable: true });
  readConfigMaps(maps, text, { packs, findings });
  if (packs.length === 0 && findings.length === 0) findings.push(noPack(foreign, documents[0] as Node));
  return { packs, findings };
}

function manifestKind(document: Node): string | undefined {
  const api = nodeAt(document, ["apiVersion"]);
  const kind = nodeAt(document, ["kind"]);
  if (api?.kind !== "scalar" || kind?.kind !== "scalar") return undefined;
  return String(kind.value);
}

function unlist(document: Node): readonly Node[] {
  const kind = manifestKind(document);
  if (kind !== "List" && kind !== "ConfigMapList") return [document];
  const items = nodeAt(document, ["items"]);
  return items?.kind === "list" ? items.items : [];
}

interface Found {
  readonly packs: PackSource[];
  readonly findings: Finding[];
}

function readConfigMaps(maps: readonly Node[], text: string, found: Found): void {
  // An alias can repeat a large block under many keys; together they may not be larger than a file.
  let bytes = 0;
  for (const map of maps) {
    const data = nodeAt(map, ["data"]);
    if (data?.kind !== "map") continue;
    for (const entry of data.entries) {
      if (entry.value.kind !== "scalar" || typeof entry.value.value !== "string") continue;
      if (!mayBePack(entry.key, entry.value.value)) continue;
      bytes += sizeOf(entry.value.value);
      if (bytes > limits.sizeBytes) {
        found.findings.push(tooLarge("the packs in this file are together", bytes, entry.keySpan));
        return;
      }
      readEntry(entry, entry.value.value, text, found);
    }
  }
}

/** A manifest inside a manifest is not looked into: it is no pack, and nesting would have no end. */
function readEntry(entry: Entry, value: string, text: string, found: Found): void {
  const scalar = entry.value;
  if (scalar.kind !== "scalar") return;
  const toOuter = outerOffsets(scalar, text);
  const parsed = parse(value, entry.key);
  if (!parsed.ok) {
    found.findings.push(placed(parsed.finding, (span) => moveSpan(span, toOuter)));
    return;
  }
  const [root, second] = parsed.documents.map((document) => moveNode(document, toOuter)) as [Node, Node?];
  const kind = manifestKind(root);
  if (second !== undefined) found.findings.push(secondDocument(second));
  else if (kind !== undefined) found.findings.push(noPack({ kind, node: root }, root));
  else found.packs.push({ root, embeddedAs: entry.key, editable: scalar.style === "literal" });
}

/** Other things live in ConfigMaps too; what neither is named nor looks like a pack is left alone. */
function mayBePack(key: string, text: string): boolean {
  if (/(^|[.-])(prompt)?pack\.(json|ya?ml)$/i.test(key)) return true;
  return (
    /\.(json|ya?ml)$/i.test(key) &&
    /["']?template_engine["']?\s*:/.test(text) &&
    /["']?prompts["']?\s*:/.test(text)
  );
}

function empty(): Finding {
  return syntaxFinding("the file is empty", "a pack is one mapping", "write a pack", { start: 0, end: 0 });
}

function secondDocument(node: Node): Finding {
  const span = { start: node.span.start, end: node.span.start + 1 };
  return syntaxFinding(
    "the file holds more than one document",
    "a pack is one document",
    "split the file",
    span,
  );
}

function noPack(foreign: { kind: string; node: Node } | undefined, first: Node): Finding {
  const path: Path = foreign === undefined ? [] : ["kind"];
  const node = foreign?.node ?? first;
  const span = entryAt(node, path)?.value.span ?? { start: node.span.start, end: node.span.start + 1 };
  const message =
    foreign === undefined ? "no pack in this manifest" : `a \`${foreign.kind}\` manifest is not a pack`;
  const why = "packs are plain files, or data entries of a ConfigMap such as `pack.json`";
  return { ...syntaxFinding(message, why, "give the compiled pack", span), code: "PP101", path };
}

/** Parsers may point behind the last character. */
function inside(finding: Finding, text: string): Finding {
  return placed(finding, (span) => {
    const start = Math.max(0, Math.min(span.start, text.length));
    return { start, end: Math.max(start, Math.min(span.end, text.length)) };
  });
}

function placed(finding: Finding, place: (span: Span) => Span): Finding {
  const related = finding.related.map((one) => ({ ...one, span: place(one.span) }));
  return { ...finding, span: place(finding.span), related };
}
