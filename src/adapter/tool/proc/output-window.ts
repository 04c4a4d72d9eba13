// The beginning and the end of a stream whose middle may be of any length.

export class OutputWindow {
  readonly #head: Buffer[] = [];
  #headRoom: number;
  #tail: Buffer[] = [];
  #tailBytes = 0;
  readonly #tailMax: number;

  /** A quarter for the beginning: what matters of a long output is mostly at its end. */
  constructor(bytes: number) {
    this.#headRoom = Math.floor(bytes / 4);
    this.#tailMax = bytes - this.#headRoom;
  }

  leftOut = 0;

  add(chunk: Buffer): void {
    const head = chunk.subarray(0, this.#headRoom);
    if (head.length > 0) this.#head.push(head);
    this.#headRoom -= head.length;
    const rest = chunk.subarray(head.length);
    if (rest.length === 0) return;
    this.#tail.push(rest);
    this.#tailBytes += rest.length;
    while (this.#tailBytes > this.#tailMax) this.#drop(this.#tailBytes - this.#tailMax);
  }

  text(): string {
    const head = Buffer.concat(this.#head);
    const tail = Buffer.concat(this.#tail);
    if (this.leftOut === 0) return Buffer.concat([head, tail]).toString("utf8");
    // Characters that the cut went through are left out with the rest.
    const before = head.toString("utf8").replace(/\uFFFD$/, "");
    const after = tail.toString("utf8").replace(/^\uFFFD{1,3}/, "");
    return `${before}\n[… ${this.leftOut} bytes left out …]\n${after}`;
  }

  #drop(bytes: number): void {
    const first = this.#tail[0] as Buffer;
    const dropped = Math.min(bytes, first.length);
    if (dropped === first.length) this.#tail.shift();
    else this.#tail[0] = first.subarray(dropped);
    this.#tailBytes -= dropped;
    this.leftOut += dropped;
  }
}
