/**
 * A fact of the ledger that a writing transaction reads once: nobody else writes meanwhile. Outside of one, and after
 * some of it was undone, the fact is read again.
 */
export class PerTransaction<Fact> {
  readonly #current: () => number | undefined;
  #kept: { transaction: number; fact: Fact } | undefined;

  /** `current`: the number of the transaction in progress. */
  constructor(current: () => number | undefined) {
    this.#current = current;
  }

  get(read: () => Fact): Fact {
    const transaction = this.#current();
    if (transaction !== undefined && this.#kept?.transaction === transaction) return this.#kept.fact;
    return this.put(read());
  }

  /** This transaction has just written the fact itself. */
  put(fact: Fact): Fact {
    const transaction = this.#current();
    this.#kept = transaction === undefined ? undefined : { transaction, fact };
    return fact;
  }
}
