// A growing list of 32-bit integers: explorations hold millions of them.

export class IntList {
  /** Valid up to `length`. Replaced when the list grows, so do not keep it across a push. */
  cells: Int32Array;
  length = 0;

  constructor(capacity = 256) {
    this.cells = new Int32Array(capacity);
  }

  push(value: number): void {
    if (this.length === this.cells.length) this.#grow();
    this.cells[this.length++] = value;
  }

  /** The values as one array, without a copy. */
  done(): Int32Array {
    return this.cells.subarray(0, this.length);
  }

  /** Fourfold: memory that is not touched yet costs nothing, memory that was outgrown stays for a while. */
  #grow(): void {
    const grown = new Int32Array(this.length * 4);
    grown.set(this.cells);
    this.cells = grown;
  }
}
