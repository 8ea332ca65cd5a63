/**
 * What an attempt writes of one customer without waiting for each commit. The writer runs work in the order in which it
 * was handed over; after a piece that failed, nothing is written any more that counts on it. Run again with its group,
 * a piece counts as it ends then, and what was handed over before it counts on nothing of it.
 */
export class Sequence {
  #handedOver = 0;
  #failure: { place: number; error: unknown } | undefined;

  /** Work that everything after it counts on. */
  leads<T>(work: () => T): () => T {
    const place = this.#next();
    return () => {
      this.#requireUnbrokenBefore(place);
      try {
        return work();
      } catch (error) {
        this.#failure = { place, error };
        throw error;
      }
    };
  }

  /** Work that counts on everything before it. */
  follows<T>(work: () => T): () => T {
    const place = this.#next();
    return () => {
      this.#requireUnbrokenBefore(place);
      return work();
    };
  }

  #next(): number {
    this.#handedOver += 1;
    return this.#handedOver;
  }

  /** Throws what a piece before this one threw. What a later one threw was undone: its group is run again. */
  #requireUnbrokenBefore(place: number): void {
    if (this.#failure === undefined) return;
    if (this.#failure.place < place) throw this.#failure.error;
    this.#failure = undefined;
  }
}
