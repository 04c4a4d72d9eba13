// What the checker says of a pack, as the server shows it.

export interface Finding {
  readonly code: string;
  readonly severity: "error" | "warning" | "info";
  readonly message: string;
  readonly why?: string;
  readonly help?: string;
  readonly line: number;
  readonly column: number;
}
