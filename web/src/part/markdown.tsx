// Markdown that others wrote. It becomes elements of a short list and never HTML: what the list does not have
// is shown as text. Nothing is loaded for it, and links say where they lead.

import { createElement, Fragment, type ReactNode, useEffect, useState } from "react";
import { visible } from "./format.ts";
import type { MarkdownNode } from "./markdown-tree.ts";

/** Longer texts, and texts with deeper nesting, are shown as they are. */
const LENGTH_MAX = 100_000;
const DEPTH_MAX = 50;

export function Markdown({ text }: { readonly text: string }) {
  const [tree, setTree] = useState<{ readonly text: string; readonly root: MarkdownNode }>();
  useEffect(() => {
    if (text.length > LENGTH_MAX || isDeep(text)) return undefined;
    let isCurrent = true;
    const parse = async (): Promise<void> => {
      const root = (await import("./markdown-tree.ts")).treeOf(text);
      if (isCurrent) setTree({ text, root });
    };
    // Where the parser cannot be had the text stays as it is.
    parse().catch(() => undefined);
    return () => {
      isCurrent = false;
    };
  }, [text]);
  if (tree?.text !== text) return <div className="markdown plain-text">{visible(text)}</div>;
  return <div className="markdown">{shown(tree.root, 0)}</div>;
}

/** Marks of nesting alone can make a parser slow. */
const isDeep = (text: string): boolean => /(?:[>*_[\]`]\s?){200}/.test(text);

const all = (nodes: readonly MarkdownNode[], depth: number): ReactNode =>
  nodes.map((node, index) => <Fragment key={index}>{shown(node, depth + 1)}</Fragment>);

function shown(node: MarkdownNode, depth: number): ReactNode {
  if (depth > DEPTH_MAX) return "…";
  switch (node.type) {
    case "root":
      return all(node.children, depth);
    case "text":
      return visible(node.value);
    case "paragraph":
      return <p>{all(node.children, depth)}</p>;
    case "heading":
      // The page has its own headings above these.
      return createElement("p", { className: `md-heading h${node.depth}` }, all(node.children, depth));
    case "strong":
      return <strong>{all(node.children, depth)}</strong>;
    case "emphasis":
      return <em>{all(node.children, depth)}</em>;
    case "delete":
      return <s>{all(node.children, depth)}</s>;
    case "inlineCode":
      return <code>{visible(node.value)}</code>;
    case "code":
      return (
        <pre className="text" tabIndex={0}>
          {visible(node.value)}
        </pre>
      );
    case "blockquote":
      return <blockquote>{all(node.children, depth)}</blockquote>;
    case "list":
      return createElement(node.ordered === true ? "ol" : "ul", {}, all(node.children, depth));
    case "listItem":
      return <li>{all(node.children, depth)}</li>;
    case "thematicBreak":
      return <hr />;
    case "break":
      return <br />;
    case "link":
      return <OutLink url={node.url}>{all(node.children, depth)}</OutLink>;
    case "image":
      return <span className="faint">[image: {visible(node.alt ?? node.url)}]</span>;
    case "html":
      return <span>{visible(node.value)}</span>;
    case "table":
      return tableOf(node, depth);
    default:
      return "children" in node ? all(node.children, depth) : null;
  }
}

function tableOf(node: Extract<MarkdownNode, { type: "table" }>, depth: number): ReactNode {
  const [head, ...rows] = node.children;
  return (
    <table className="plain">
      <thead>
        <tr>
          {head?.children.map((cell, index) => (
            <th key={index} scope="col">
              {all(cell.children, depth)}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row, nth) => (
          <tr key={nth}>
            {row.children.map((cell, index) => (
              <td key={index}>{all(cell.children, depth)}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function OutLink({ url, children }: { readonly url: string; readonly children: ReactNode }) {
  const target = URL.parse(url);
  if (target === null || !["http:", "https:"].includes(target.protocol))
    return (
      <span>
        {children} <span className="faint">({visible(url)})</span>
      </span>
    );
  return (
    <a href={target.href} target="_blank" rel="noopener noreferrer">
      {children} <span className="faint">({target.host})</span>
    </a>
  );
}
