/** Lets so many pieces of work run at once. The others wait, and go on in the order in which they came. */
export class Slots {
  #free: number;
  readonly #size: number;
  readonly #waiting: (() => void)[] = [];

  constructor(size: number) {
    this.#size = size;
    this.#free = size;
  }

  /** Takes a slot; a promise where one has to be waited for. Who takes one gives it back, whatever becomes of the work. */
  take(): Promise<void> | undefined {
    if (this.#free === 0) return new Promise((resolve) => this.#waiting.push(resolve));
    this.#free -= 1;
    return undefined;
  }

  give(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#free += 1;
    else next();
  }

  get taken(): number {
    return this.#size - this.#free;
  }

  get waiting(): number {
    return this.#waiting.length;
  }
}
