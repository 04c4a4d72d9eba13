// Text inside XML 1.0, as attribute value or content. What the standard forbids becomes U+FFFD; line ends and
// tabs are written as references, because a reader would turn them into spaces in an attribute.

export const XML_HEADER = '<?xml version="1.0" encoding="UTF-8"?>';

export function xmlText(text: string): string {
  return text.replace(FORBIDDEN, "\ufffd").replace(MARKUP, (found) => references[found] as string);
}

/** ` name="value"` for each; the order is that of the object. */
export function xmlAttributes(attributes: Readonly<Record<string, string | number>>): string {
  let text = "";
  for (const [name, value] of Object.entries(attributes)) text += ` ${name}="${xmlText(String(value))}"`;
  return text;
}

// All but the characters of XML 1.0 §2.2; halves of surrogate pairs are among the forbidden.
const FORBIDDEN = /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu;
const MARKUP = /[<>&"'\t\r\n]/g;
const references: Readonly<Record<string, string>> = {
  "<": "&lt;",
  ">": "&gt;",
  "&": "&amp;",
  '"': "&quot;",
  "'": "&apos;",
  "\t": "&#9;",
  "\r": "&#13;",
  "\n": "&#10;",
};
