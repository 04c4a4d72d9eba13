// YAML 1.2 (core schema) with positions. Limits are enforced before the recursive part of the parser runs:
// lexemes are counted as they come, then the token tree is measured without recursion.

import {
  Composer,
  type CST,
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  type ParsedNode,
  Parser,
} from "yaml";
import type { Finding } from "../diagnostic.ts";
import { lexYaml } from "./lex-yaml.ts";
import { limits, syntaxFinding, tooDeep, tooManyAliases, tooManyDocuments, tooManyNodes } from "./limits.ts";
import type { Entry, Node, ScalarNode, ScalarStyle, Span } from "./tree.ts";
import { yamlProblem } from "./yaml-problem.ts";

interface YamlStream {
  readonly documents: readonly Node[];
  readonly findings: readonly Finding[];
}

export function parseYaml(text: string): YamlStream {
  const lexed = lexYaml(text);
  if (!lexed.ok) return { documents: [], findings: [lexed.finding] };
  const tokens = tokensOf(lexed.lexemes);
  const refused = refuseTokens(tokens);
  if (refused !== undefined) return { documents: [], findings: [refused] };
  const documents: Node[] = [];
  const composer = new Composer(reading);
  for (const document of composer.compose(tokens, true, text.length)) {
    const problem = yamlProblem(document, tokens, text);
    if (problem !== undefined) return { documents, findings: [problem] };
    if (document.contents === null) continue;
    const built = new TreeBuilder(document, text).build();
    if (!built.ok) return { documents, findings: [built.finding] };
    if (isEmptyDocument(built.root)) continue;
    documents.push(built.root);
    if (documents.length > limits.documents) {
      return { documents, findings: [tooManyDocuments(firstCharacter(built.root.span))] };
    }
  }
  return { documents, findings: [] };
}

/** Tags beyond those of JSON data are refused, and keys are compared by PP103, which knows both positions. */
const reading = {
  version: "1.2",
  schema: "core",
  merge: false,
  uniqueKeys: false,
  strict: true,
  resolveKnownTags: false,
  prettyErrors: false,
} as const;

function tokensOf(lexemes: readonly string[]): readonly CST.Token[] {
  const tokens: CST.Token[] = [];
  const parser = new Parser();
  for (const lexeme of lexemes) for (const token of parser.next(lexeme)) tokens.push(token);
  for (const token of parser.end()) tokens.push(token);
  return tokens;
}

/** Measures nesting with a stack of our own; the composer recurses and must not see a deep document. */
function refuseTokens(tokens: readonly CST.Token[]): Finding | undefined {
  const stack: { token: CST.Token; depth: number }[] = [];
  const push = (token: CST.Token | null | undefined, depth: number) => {
    if (token) stack.push({ token, depth });
  };
  for (const token of tokens.toReversed()) push(token, 0);
  let nodes = 0;
  while (stack.length > 0) {
    const { token, depth } = stack.pop() as { token: CST.Token; depth: number };
    const start = "offset" in token ? token.offset : 0;
    if (depth > limits.depth) return tooDeep({ start, end: start + 1 });
    // A key for each value at most.
    if (++nodes > limits.nodes * 2 + tokens.length) return tooManyNodes({ start, end: start + 1 });
    if (token.type === "document") push(token.value, depth + 1);
    if (!("items" in token)) continue;
    for (const item of token.items.toReversed()) {
      push(item.value, depth + 1);
      push(item.key, depth + 1);
    }
  }
  return undefined;
}

type Built = { readonly ok: true; readonly root: Node } | { readonly ok: false; readonly finding: Finding };

/** Leaves the recursion with a finding; never escapes this file. */
class Stop {
  readonly finding: Finding;
  constructor(finding: Finding) {
    this.finding = finding;
  }
}

type Pair = { readonly key: ParsedNode | null; readonly value: ParsedNode | null };

/** Turns the parser's nodes into ours, expanding aliases. */
class TreeBuilder {
  readonly #document: Document.Parsed;
  readonly #text: string;
  #expansions = 0;
  #nodes = 0;

  constructor(document: Document.Parsed, text: string) {
    this.#document = document;
    this.#text = text;
  }

  build(): Built {
    try {
      return { ok: true, root: this.#node(this.#document.contents, 1, 0) };
    } catch (error) {
      if (error instanceof Stop) return { ok: false, finding: error.finding };
      throw error;
    }
  }

  #node(node: ParsedNode | null | undefined, depth: number, at: number): Node {
    if (++this.#nodes > limits.nodes) throw new Stop(tooManyNodes({ start: at, end: at }));
    if (node === null || node === undefined) return emptyScalar(at);
    const span = spanOf(node);
    if (depth > limits.depth) throw new Stop(tooDeep(firstCharacter(span)));
    if (isAlias(node)) return this.#alias(node.source, span, depth);
    if (isMap(node)) {
      const entries = node.items.map((pair) => this.#entry(pair as Pair, depth, span));
      return { kind: "map", span, flow: node.flow === true, entries };
    }
    if (isSeq(node)) {
      const items = node.items.map((item) => this.#node(item, depth + 1, span.end));
      return { kind: "list", span, flow: node.flow === true, items };
    }
    return this.#scalar(node, span);
  }

  #entry({ key, value }: Pair, depth: number, around: Span): Entry {
    const keySpan = key === null ? { start: around.start, end: around.start } : spanOf(key);
    if (key !== null && !isScalar(key)) throw new Stop(this.#notText(key, keySpan));
    const name = key === null ? "" : keyText(key);
    if (name === "<<" && styleOf(key?.type) === "plain") {
      const why = "YAML 1.2 has none, so readers disagree about what it means";
      throw new Stop(
        syntaxFinding("a merge key `<<` is not JSON data", why, "write the entries out", keySpan),
      );
    }
    return {
      key: name,
      keySpan,
      keyStyle: styleOf(key?.type),
      value: this.#node(value, depth + 1, keySpan.end),
    };
  }

  #notText(key: ParsedNode, span: Span): Finding {
    if (this.#text.startsWith("{{", span.start - 1)) {
      const brace = { start: span.start - 1, end: span.start + 1 };
      const why = "YAML reads an unquoted brace as the start of a mapping";
      return syntaxFinding(
        "a text that begins with `{{` is not quoted",
        why,
        "put the text in quotes",
        brace,
      );
    }
    const kind = isAlias(key) ? "an alias" : isMap(key) ? "a mapping" : "a list";
    return syntaxFinding(
      `a key is ${kind}`,
      "JSON keys are texts",
      "write the key as text",
      firstCharacter(span),
    );
  }

  #alias(name: string, span: Span, depth: number): Node {
    if (++this.#expansions > limits.aliasExpansions) throw new Stop(tooManyAliases(span));
    const target = this.#anchored(name, span);
    if (target !== undefined && target.range[1] <= span.start) return this.#node(target, depth, span.start);
    const [message, why] =
      target === undefined
        ? [`alias \`*${name}\` has no anchor`, "an alias repeats a value marked with & before it"]
        : [`alias \`*${name}\` stands inside the value it repeats`, "JSON data cannot contain itself"];
    throw new Stop(syntaxFinding(message, why, "write the value out", span));
  }

  /** The last definition that begins before the alias, as YAML says. */
  #anchored(name: string, span: Span): ParsedNode | undefined {
    let found: ParsedNode | undefined;
    const stack: ParsedNode[] = this.#document.contents === null ? [] : [this.#document.contents];
    while (stack.length > 0) {
      const node = stack.pop() as ParsedNode;
      if (node.range[0] >= span.start) continue;
      const isLater = found === undefined || found.range[0] <= node.range[0];
      if (!isAlias(node) && node.anchor === name && isLater) found = node;
      for (const child of childrenOf(node)) stack.push(child);
    }
    return found;
  }

  #scalar(node: ParsedNode, span: Span): ScalarNode {
    const value = isScalar(node) ? node.value : null;
    const style = isScalar(node) ? styleOf(node.type) : "plain";
    if (value === null || typeof value === "boolean" || typeof value === "string") {
      return { kind: "scalar", span, style, value };
    }
    if (typeof value === "number" && Number.isFinite(value)) return { kind: "scalar", span, style, value };
    const shown = this.#text.slice(span.start, Math.min(span.end, span.start + 20));
    const help = "quote it, or use a number JSON knows";
    throw new Stop(syntaxFinding(`\`${shown}\` has no JSON form`, "a pack is JSON data", help, span));
  }
}

function childrenOf(node: ParsedNode): readonly ParsedNode[] {
  if (isSeq(node)) return node.items.filter((item) => item !== null);
  if (!isMap(node)) return [];
  const children: ParsedNode[] = [];
  for (const { key, value } of node.items as Pair[]) {
    if (key !== null) children.push(key);
    if (value !== null) children.push(value);
  }
  return children;
}

/** As written: `012` and `null` are names like any other. */
function keyText(key: ParsedNode): string {
  if (!isScalar(key)) return "";
  return typeof key.value === "string" ? key.value : (key.source ?? String(key.value));
}

function spanOf(node: ParsedNode): Span {
  return { start: node.range[0], end: Math.max(node.range[0], node.range[1]) };
}

const firstCharacter = ({ start, end }: Span): Span => ({ start, end: Math.min(end, start + 1) });

function styleOf(type: string | null | undefined): ScalarStyle {
  switch (type) {
    case "QUOTE_SINGLE":
      return "single";
    case "QUOTE_DOUBLE":
      return "double";
    case "BLOCK_LITERAL":
      return "literal";
    case "BLOCK_FOLDED":
      return "folded";
    default:
      return "plain";
  }
}

const emptyScalar = (at: number): ScalarNode => ({
  kind: "scalar",
  span: { start: at, end: at },
  style: "plain",
  value: null,
});

const isEmptyDocument = (root: Node): boolean => root.kind === "scalar" && root.value === null;
