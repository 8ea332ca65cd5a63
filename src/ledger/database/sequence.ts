/**
 * What an attempt writes of one customer without waiting for each commit. The writer runs work in the order in which it
 * was handed over; after a piece that failed, nothing is written any more that counts on it.
 */
export class Sequence {
  #failure: { work: () => unknown; error: unknown } | undefined;

  /** Work that everything after it counts on. Run again with its group, it counts as it ends then. */
  leads<T>(work: () => T): () => T {
    return () => {
      if (this.#failure?.work === work) this.#failure = undefined;
      this.requireUnbroken();
      try {
        return work();
      } catch (error) {
        this.#failure = { work, error };
        throw error;
      }
    };
  }

  /** Throws what the failed piece threw. Called inside the writer's transaction. */
  requireUnbroken(): void {
    if (this.#failure !== undefined) throw this.#failure.error;
  }
}
