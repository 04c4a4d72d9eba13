// What stands where there is nothing to show: nothing yet, nothing at all, or something went wrong.

import type { ReactNode } from "react";
import { ApiError, UNREACHABLE } from "../api.ts";

interface EmptyProps {
  readonly title: string;
  /** It stands for the whole screen. */
  readonly isScreen?: boolean;
  readonly children?: ReactNode;
}

export function Empty({ title, children, isScreen = false }: EmptyProps) {
  const Title = isScreen ? "h1" : "p";
  return (
    <div className="notice">
      <Title className="notice-title">{title}</Title>
      {children !== undefined && <div className="notice-text">{children}</div>}
    </div>
  );
}

interface FailedProps {
  readonly error: Error;
  readonly isScreen?: boolean;
  readonly again?: () => void;
}

export function Failed({ error, again, isScreen = false }: FailedProps) {
  const Title = isScreen ? "h1" : "p";
  const isLost = error instanceof ApiError && error.code === UNREACHABLE;
  return (
    <div className="notice failed" role="alert">
      <Title className="notice-title">{isLost ? "No connection" : "This did not work"}</Title>
      <p className="notice-text">{error.message}</p>
      {again !== undefined && (
        <button type="button" className="button" onClick={again}>
          Try again
        </button>
      )}
    </div>
  );
}

/** Grey lines in the shape of what is coming. */
export function Loading({
  lines = 4,
  label = "Loading",
}: {
  readonly lines?: number;
  readonly label?: string;
}) {
  return (
    <div className="loading" role="status" aria-label={label}>
      {Array.from({ length: lines }, (_, index) => (
        <span key={index} className="bone" />
      ))}
    </div>
  );
}
