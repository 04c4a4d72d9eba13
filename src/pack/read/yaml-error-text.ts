// Our words for what the YAML parser reports, by its error code.

import type { Words } from "./limits.ts";

const texts: Readonly<Record<string, Words>> = {
  ALIAS_PROPS: {
    message: "an alias has an anchor or a tag of its own",
    why: "an alias only repeats a value",
    help: "remove the anchor or tag",
  },
  BAD_ALIAS: {
    message: "this is not an alias",
    why: "`*` begins an alias, which needs a name",
    help: "quote the text, or name an anchor",
  },
  BAD_COLLECTION_TYPE: {
    message: "the tag does not fit the value",
    why: "it names another kind of collection",
    help: "remove the tag",
  },
  BAD_DIRECTIVE: {
    message: "this directive is not understood",
    why: "lines that begin with `%` are for the YAML parser",
    help: "remove the line, or quote the text",
  },
  BAD_DQ_ESCAPE: {
    message: "this backslash escape is not known",
    why: "double-quoted text takes JSON's escapes",
    help: "double the backslash, or use single quotes",
  },
  BAD_INDENT: {
    message: "this line is indented differently from its neighbours",
    why: "all entries of one mapping or list start in the same column",
    help: "align it with the entry above",
  },
  BAD_SCALAR_START: {
    message: "a plain text cannot begin with this character",
    why: "it has a meaning in YAML",
    help: "put the text in quotes",
  },
  BLOCK_AS_IMPLICIT_KEY: {
    message: "a mapping begins inside the line of another",
    why: "`a: b: c` has two colons and one value",
    help: "quote the value, or put it on a line of its own",
  },
  BLOCK_IN_FLOW: {
    message: "an indented block stands inside brackets",
    why: "between `{}` or `[]` everything is written with brackets and commas",
    help: "write it with brackets, or drop the outer ones",
  },
  COMMENT_SPACE: {
    message: "a comment touches the text before it",
    why: "`#` begins a comment only after a space",
    help: "add a space before `#`",
  },
  IMPOSSIBLE: {
    message: "this cannot be read as YAML",
    why: "the text before it leaves nothing it could belong to",
    help: "check quotes and indentation above",
  },
  KEY_OVER_1024_CHARS: {
    message: "the key is longer than 1024 characters",
    why: "YAML limits keys written before a colon",
    help: "shorten the key",
  },
  MISSING_CHAR: {
    message: "a closing character is missing",
    why: "a bracket, quote or comma that was begun is not finished",
    help: "close it",
  },
  MULTILINE_IMPLICIT_KEY: {
    message: "a key spans several lines",
    why: "a key and its colon stand on one line",
    help: "quote it, or check the indentation",
  },
  MULTIPLE_ANCHORS: { message: "a value has two anchors", why: "one is enough", help: "remove one" },
  MULTIPLE_DOCS: {
    message: "the file holds more than one document",
    why: "a pack is one document",
    help: "remove the `---` line, or split the file",
  },
  MULTIPLE_TAGS: { message: "a value has two tags", why: "a pack is JSON data", help: "remove the tags" },
  TAB_AS_INDENT: {
    message: "a tab is used as indentation",
    why: "YAML indents with spaces",
    help: "use spaces",
  },
  TAG_RESOLVE_FAILED: {
    message: "the tag has no JSON meaning",
    why: "a pack is JSON data",
    help: "remove the tag, or quote the text",
  },
  UNEXPECTED_TOKEN: {
    message: "this is not expected here",
    why: "the mapping or list around it has ended, or a value already stands there",
    help: "check the indentation and the quotes",
  },
};

/** Codes the parser uses for several mistakes, told apart by what its message contains. */
const details: readonly { readonly code: string; readonly has: string; readonly text: Words }[] = [
  {
    code: "MISSING_CHAR",
    has: "followed by map values",
    text: {
      message: "a colon is missing after this key",
      why: "every line of a mapping is a key, a colon and a value",
      help: "add `:`, or indent the line if it belongs to the text above",
    },
  },
  {
    code: "MISSING_CHAR",
    has: "Missing ,",
    text: {
      message: "a comma or colon is missing between two entries",
      why: "entries between brackets are separated by commas",
      help: "add it, or quote the text",
    },
  },
  {
    code: "MISSING_CHAR",
    has: "Comments must",
    text: {
      message: "a comment touches the text before it",
      why: "`#` begins a comment only after a space",
      help: "add a space before `#`, or quote the text",
    },
  },
  {
    code: "MISSING_CHAR",
    has: "Tags and anchors",
    text: {
      message: "a tag or an anchor touches what follows it",
      why: "texts that begin with `!` or `&` have a meaning in YAML",
      help: "put the text in quotes",
    },
  },
  {
    code: "MISSING_CHAR",
    has: "space after :",
    text: {
      message: "a space is missing after `:`",
      why: "without it the colon is part of a text",
      help: "add a space",
    },
  },
  {
    code: "BAD_ALIAS",
    has: "Anchor",
    text: {
      message: "this is not an anchor",
      why: "`&` begins an anchor, which needs a name",
      help: "quote the text, or name the anchor",
    },
  },
  {
    code: "BLOCK_IN_FLOW",
    has: "Block collections",
    text: {
      message: "a comma is missing between two entries, or a block stands inside brackets",
      why: "between `{}` or `[]` everything is written with brackets and commas",
      help: "add the comma, or quote the text",
    },
  },
  {
    code: "UNEXPECTED_TOKEN",
    has: "block-seq-ind",
    text: {
      message: "a list begins on the line of its key",
      why: "items written with `-` stand on lines of their own",
      help: "move the item to the next line, or quote the text",
    },
  },
  {
    code: "BAD_INDENT",
    has: "Block scalar",
    text: {
      message: "the text of the block is not indented",
      why: "lines after `|` or `>` are indented deeper than their key",
      help: "indent it with spaces",
    },
  },
];

export function yamlErrorText(code: string, message: string): Words {
  const detail = details.find((one) => one.code === code && message.includes(one.has));
  const known = detail?.text ?? (Object.hasOwn(texts, code) ? texts[code] : undefined);
  if (known !== undefined) return known;
  const first = (message.split("\n")[0] ?? "").replaceAll("`", "'");
  return { message: `not valid YAML: ${first}`, why: "the parser stops here", help: "correct the syntax" };
}
