/**
 * Whoever wants to know of what happens, such as metrics. Each is told of everything; one that fails keeps neither what
 * is observed from going on nor the others from being told.
 */
export class Observers<Seen> {
  readonly #failed: (error: unknown) => void;
  readonly #listeners = new Set<(seen: Seen) => void>();

  /** `failed` is told of what a listener threw. */
  constructor(failed: (error: unknown) => void) {
    this.#failed = failed;
  }

  /** Tells `listener` of everything from now on, until what this returns is called. */
  subscribe(listener: (seen: Seen) => void): () => void {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
    };
  }

  tell(seen: Seen): void {
    for (const listener of this.#listeners) {
      try {
        listener(seen);
      } catch (error) {
        this.#failed(error);
      }
    }
  }
}
