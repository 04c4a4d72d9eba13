// A link within the page: an ordinary one, save that the page is not loaded again.

import type { MouseEvent, ReactNode } from "react";
import { go } from "../route.ts";

interface LinkProps {
  readonly to: string;
  readonly className?: string;
  readonly title?: string;
  /** What it leads to, where the text alone does not say it. */
  readonly label?: string;
  readonly current?: boolean;
  readonly children: ReactNode;
}

export function Link({ to, className, title, label, current, children }: LinkProps) {
  const follow = (event: MouseEvent): void => {
    if (event.defaultPrevented || event.button !== 0) return;
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    go(to);
  };
  const href = location.protocol === "file:" ? `#${to}` : to;
  return (
    <a
      href={href}
      onClick={follow}
      className={className}
      title={title}
      aria-label={label}
      aria-current={current ? "page" : undefined}
    >
      {children}
    </a>
  );
}
