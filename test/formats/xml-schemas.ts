// What readers of our XML formats accept: for each element its attributes, as patterns, and its children.

import type { XmlElement } from "./parse-xml.ts";

interface ElementRule {
  readonly attributes: Readonly<Record<string, RegExp>>;
  readonly children: readonly string[];
  readonly text?: true;
}

type XmlSchema = Readonly<Record<string, ElementRule>>;

const COUNT = /^\d+$/;
const POSITION = /^[1-9]\d*$/;
const ANY = /^/;

export const junitSchema: XmlSchema = {
  testsuites: {
    attributes: { name: ANY, tests: COUNT, failures: COUNT, errors: COUNT },
    children: ["testsuite"],
  },
  testsuite: {
    attributes: { name: ANY, tests: COUNT, failures: COUNT, errors: COUNT, skipped: COUNT },
    children: ["testcase"],
  },
  testcase: { attributes: { name: ANY, classname: ANY }, children: ["failure", "system-out"] },
  failure: { attributes: { type: /^(error|warning)$/, message: ANY }, children: [], text: true },
  "system-out": { attributes: {}, children: [], text: true },
};

export const checkstyleSchema: XmlSchema = {
  checkstyle: { attributes: { version: /^\d+\.\d+$/ }, children: ["file"] },
  file: { attributes: { name: ANY }, children: ["error"] },
  error: {
    attributes: {
      line: POSITION,
      column: POSITION,
      severity: /^(error|warning|info|ignore)$/,
      message: ANY,
      source: /^packloop\.PP\d{3}$/,
    },
    children: [],
  },
};

/** What the schema does not allow; empty when the element is valid. The root must be the schema's first. */
export function xmlProblems(root: XmlElement, schema: XmlSchema): readonly string[] {
  const expected = Object.keys(schema)[0];
  if (root.name !== expected) return [`root is <${root.name}>`];
  return elementProblems(root, schema);
}

function elementProblems(element: XmlElement, schema: XmlSchema): readonly string[] {
  const rule = schema[element.name];
  if (rule === undefined) return [`unknown element <${element.name}>`];
  const found: string[] = [];
  for (const [name, pattern] of Object.entries(rule.attributes)) {
    const value = element.attributes.get(name);
    if (value === undefined || !pattern.test(value)) found.push(`<${element.name}> has ${name}="${value}"`);
  }
  for (const name of element.attributes.keys()) {
    if (!Object.hasOwn(rule.attributes, name)) found.push(`<${element.name}> may not have ${name}`);
  }
  if (rule.text !== true && element.text.trim() !== "") found.push(`<${element.name}> may not have text`);
  for (const child of element.children) {
    if (!rule.children.includes(child.name)) found.push(`<${element.name}> may not have <${child.name}>`);
    found.push(...elementProblems(child, schema));
  }
  return found;
}
