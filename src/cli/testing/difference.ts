// What came out other than a test expects it.

export interface Difference {
  /** `FILE:LINE:COLUMN` of what was expected. */
  readonly place: string;
  /** `unsupported`: nothing was judged, so nothing may be taken for good. */
  readonly kind: "different" | "unsupported";
  readonly what: string;
  readonly expected: string;
  readonly actual: string;
  /** The row of the trace where it shows. */
  readonly row?: number;
}
