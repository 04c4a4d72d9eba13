// The time a call has. It ends the call when the time is over or when the caller gives it up; every sign of
// life starts the time again.

export class Deadline {
  isOver = false;
  readonly #controller = new AbortController();
  readonly #outer: AbortSignal;
  readonly #timer: NodeJS.Timeout;
  readonly #forward = (): void => this.#controller.abort(this.#outer.reason);

  constructor(outer: AbortSignal, ms: number) {
    this.#outer = outer;
    this.#timer = setTimeout(() => {
      this.isOver = true;
      this.#controller.abort(new DOMException("the call took too long", "TimeoutError"));
    }, ms);
    if (outer.aborted) this.#forward();
    else outer.addEventListener("abort", this.#forward, { once: true });
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  again(): void {
    this.#timer.refresh();
  }

  end(): void {
    clearTimeout(this.#timer);
    this.#outer.removeEventListener("abort", this.#forward);
  }

  /** What the call gives, or an error as soon as its time is over: not every model heeds its signal. */
  async bound<T>(work: PromiseLike<T>): Promise<T> {
    const { signal } = this.#controller;
    let give: () => void = () => {};
    const ended = new Promise<never>((_, reject) => {
      give = () => reject(signal.reason as Error);
      if (signal.aborted) give();
      else signal.addEventListener("abort", give, { once: true });
    });
    try {
      return await Promise.race([work, ended]);
    } finally {
      signal.removeEventListener("abort", give);
    }
  }
}
