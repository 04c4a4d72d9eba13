// A reader of the XML our formats write, strict about what XML 1.0 calls well-formed: balanced tags, quoted
// and unrepeated attributes, no bare `<` or `&`, no `]]>` in text, no forbidden character. Throws at a fault.

export interface XmlElement {
  readonly name: string;
  readonly attributes: ReadonlyMap<string, string>;
  readonly children: readonly XmlElement[];
  /** Direct text, references resolved. */
  readonly text: string;
}

const HEADER = '<?xml version="1.0" encoding="UTF-8"?>\n';
const TOKEN = /<(\/?)([A-Za-z][\w.-]*)((?:\s+[A-Za-z][\w.-]*="[^"<]*")*)\s*(\/?)>|[^<]+/y;

interface OpenElement {
  name: string;
  attributes: ReadonlyMap<string, string>;
  children: OpenElement[];
  text: string;
}

export function parseXml(source: string): XmlElement {
  if (!source.isWellFormed()) throw new Error("unpaired surrogate");
  if (/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u.test(source))
    throw new Error("forbidden character");
  if (!source.startsWith(HEADER)) throw new Error("no XML declaration");
  const top: OpenElement = { name: "", attributes: new Map(), children: [], text: "" };
  const open = [top];
  TOKEN.lastIndex = HEADER.length;
  while (TOKEN.lastIndex < source.length) {
    const at = TOKEN.lastIndex;
    const match = TOKEN.exec(source);
    if (match === null) throw new Error(`not well-formed at ${at}: ${source.slice(at, at + 40)}`);
    take(match, open);
  }
  const [root] = top.children;
  if (open.length !== 1 || root === undefined || top.children.length !== 1)
    throw new Error("not one closed root");
  if (top.text.trim() !== "") throw new Error("text outside the root");
  return root;
}

function take(match: RegExpExecArray, open: OpenElement[]): void {
  const parent = open.at(-1) as OpenElement;
  const [whole, closing, name, attributes, empty] = match;
  if (name === undefined) {
    if (whole.includes("]]>")) throw new Error("]]> in text");
    parent.text += resolved(whole);
  } else if (closing === "/") {
    if (open.length === 1 || parent.name !== name) throw new Error(`</${name}> closes <${parent.name}>`);
    open.pop();
  } else {
    const element = { name, attributes: attributesOf(attributes ?? ""), children: [], text: "" };
    parent.children.push(element);
    if (empty !== "/") open.push(element);
  }
}

function attributesOf(source: string): ReadonlyMap<string, string> {
  const attributes = new Map<string, string>();
  for (const [, name, value] of source.matchAll(/([A-Za-z][\w.-]*)="([^"]*)"/g)) {
    if (attributes.has(name as string)) throw new Error(`attribute ${name} occurs twice`);
    // A reader turns white space in an attribute into spaces; only references survive.
    attributes.set(name as string, resolved((value as string).replace(/[\t\r\n]/g, " ")));
  }
  return attributes;
}

const entities = new Map([
  ["lt", "<"],
  ["gt", ">"],
  ["amp", "&"],
  ["quot", '"'],
  ["apos", "'"],
]);

function resolved(text: string): string {
  return text.replace(/&([^;&]*;?)/g, (_, reference: string) => {
    const code = /^#(\d+);$/.exec(reference);
    const character =
      code === null ? entities.get(reference.slice(0, -1)) : String.fromCodePoint(Number(code[1]));
    if (character === undefined || !reference.endsWith(";")) throw new Error(`bad reference &${reference}`);
    return character;
  });
}
