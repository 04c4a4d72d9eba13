// What a check of `packloop doctor` says: one line, a remedy where there is something to do.

export interface Checked {
  readonly name: string;
  readonly status: "ok" | "warn" | "fail";
  readonly found: string;
  /** One line for each of several things found. */
  readonly details?: readonly string[];
  /** What to do; never missing when it is not ok. */
  readonly remedy?: string;
}

export interface Trouble {
  readonly found: string;
  readonly remedy: string;
  readonly details?: readonly string[];
}

export const ok = (name: string, found: string): Checked => ({ name, status: "ok", found });
export const warn = (name: string, trouble: Trouble): Checked => ({ name, status: "warn", ...trouble });
export const fail = (name: string, trouble: Trouble): Checked => ({ name, status: "fail", ...trouble });

/** Figures as people read them: `0.8 ms`, `14 ms`. */
export const msText = (ms: number): string => `${ms < 10 ? ms.toFixed(1) : Math.round(ms)} ms`;

/** In decimal units: `412 MB`, `3.1 GB`. */
export function sizeText(bytes: number): string {
  if (bytes >= 1e9) return `${(bytes / 1e9).toFixed(1)} GB`;
  return bytes >= 1e6 ? `${Math.floor(bytes / 1e6)} MB` : `${Math.ceil(bytes / 1e3)} KB`;
}
