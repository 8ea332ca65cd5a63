/** Limits how many tasks run at once. Others wait in order. */
export class Slots {
  #free: number;
  readonly #size: number;
  readonly #waiting: (() => void)[] = [];

  constructor(size: number) {
    this.#size = size;
    this.#free = size;
  }

  /** A promise if the caller must wait. Every taken slot must be given back. */
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
