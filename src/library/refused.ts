// A refusal as an error, for programs that call the library: nothing has changed.

import type { Refusal } from "../core/input.ts";
import { refusalText } from "../core/refusal-text.ts";

export class Refused extends Error {
  override readonly name = "Refused";
  readonly code: Refusal["code"];
  readonly refusal: Refusal;

  constructor(refusal: Refusal) {
    super(refusalText(refusal));
    this.code = refusal.code;
    this.refusal = refusal;
  }
}
