/** For metrics and the like. A listener that throws stops neither the observed work nor other listeners. */
export class Observers<Seen> {
  readonly #failed: (error: unknown) => void;
  readonly #listeners = new Set<(seen: Seen) => void>();

  constructor(failed: (error: unknown) => void) {
    this.#failed = failed;
  }

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
