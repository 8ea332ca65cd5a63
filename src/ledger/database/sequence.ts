/**
 * The writes of one attempt, without a wait for each commit. After a failed piece, nothing that depends on it is
 * written. If the group runs again, only the last result of a piece counts.
 */
export class Sequence {
  #handedOver = 0;
  #failure: { place: number; error: unknown } | undefined;

  /** Work that all later work depends on. */
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

  /** Work that depends on all earlier work. */
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

  /** Throws the error of an earlier piece. A failure at this place or later is void, because its group runs again. */
  #requireUnbrokenBefore(place: number): void {
    if (this.#failure === undefined) return;
    if (this.#failure.place < place) throw this.#failure.error;
    this.#failure = undefined;
  }
}
