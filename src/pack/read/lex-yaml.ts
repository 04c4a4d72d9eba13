// The smallest pieces of a YAML text, as the parser takes them, counted while they come: a text that is too
// large or too deep is refused here, before the parts of the parser that are slow or recursive see it.

import { Lexer } from "yaml";
import type { Finding } from "../diagnostic.ts";
import { limits, tooDeep, tooManyAliases, tooManyIdleTokens, tooManyNodes, tooManyTokens } from "./limits.ts";

type Lexed =
  | { readonly ok: true; readonly lexemes: readonly string[] }
  | { readonly ok: false; readonly finding: Finding };

/** Marks the lexer adds to the text: a document begins, a scalar follows, a flow collection ended early. */
const DOCUMENT = "\u0002";
const SCALAR = "\u001f";
const FLOW_ERROR = "\u0018";

export function lexYaml(text: string): Lexed {
  const lexemes: string[] = [];
  const counts = new Counts();
  let offset = 0;
  let isScalar = false;
  for (const lexeme of new Lexer().lex(text)) {
    lexemes.push(lexeme);
    const isAdded: boolean = !isScalar && (lexeme === DOCUMENT || lexeme === SCALAR || lexeme === FLOW_ERROR);
    if (isScalar) counts.scalar(lexeme);
    else counts.mark(lexeme);
    const refuse = counts.passed(lexemes.length);
    if (refuse !== undefined) {
      return { ok: false, finding: refuse({ start: offset, end: Math.min(offset + 1, text.length) }) };
    }
    isScalar = isAdded && lexeme === SCALAR;
    if (!isAdded) offset += lexeme.length;
  }
  return { ok: true, lexemes };
}

class Counts {
  #flowDepth = 0;
  /** Each `-`, `?` and `:` behind another on one line opens a level. */
  #onThisLine = 0;
  #aliases = 0;
  /** Never more than there are values: the finding that counts them must be true. */
  #values = 0;
  #isPair = false;

  scalar(lexeme: string): void {
    if (lexeme.includes("\n")) this.#onThisLine = 0;
  }

  mark(lexeme: string): void {
    switch (lexeme) {
      case "[":
      case "{":
        this.#flowDepth++;
        this.#isPair = false;
        return;
      case "]":
      case "}":
      case ",":
        if (lexeme !== ",") this.#flowDepth = Math.max(0, this.#flowDepth - 1);
        else if (!this.#isPair && this.#flowDepth > 0) this.#values++;
        this.#isPair = lexeme !== ",";
        return;
      case "-":
      case ":":
      case "?":
        if (lexeme !== "?") this.#values++;
        if (this.#flowDepth === 0) this.#onThisLine++;
        this.#isPair = true;
        return;
      case "---":
        this.#aliases = 0;
        return;
      default:
        if (lexeme.startsWith("*")) this.#aliases++;
        if (lexeme.includes("\n")) this.#onThisLine = 0;
    }
  }

  passed(lexemes: number): typeof tooDeep | undefined {
    if (this.#flowDepth > limits.depth || this.#onThisLine > limits.depth) return tooDeep;
    if (this.#aliases > limits.aliasExpansions) return tooManyAliases;
    if (this.#values > limits.nodes) return tooManyNodes;
    if (lexemes > limits.tokens) return tooManyTokens;
    if (lexemes > limits.idleTokens + 16 * this.#values) return tooManyIdleTokens;
    return undefined;
  }
}
