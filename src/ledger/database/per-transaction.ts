/** A fact that a writing transaction reads once. If a part of the transaction was undone, the fact is read again. */
export class PerTransaction<Fact> {
  readonly #current: () => number | undefined;
  #kept: { transaction: number; fact: Fact } | undefined;

  constructor(current: () => number | undefined) {
    this.#current = current;
  }

  get(read: () => Fact): Fact {
    const transaction = this.#current();
    if (transaction !== undefined && this.#kept?.transaction === transaction) return this.#kept.fact;
    return this.put(read());
  }

  /** For a fact that this transaction has just written. */
  put(fact: Fact): Fact {
    const transaction = this.#current();
    this.#kept = transaction === undefined ? undefined : { transaction, fact };
    return fact;
  }
}
