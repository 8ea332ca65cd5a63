/** What was asked for last, by its name: as much as weighs so much together, and always the last one. */
export class Recent<Value> {
  readonly #most: number;
  readonly #known = new Map<string, { value: Value; weight: number }>();
  #weight = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /** What has this name; `make` makes it, and says what it weighs, where it is not known any more. */
  get(name: string, make: () => { value: Value; weight: number }): Value {
    const known = this.#known.get(name);
    const one = known ?? make();
    if (known === undefined) this.#weight += one.weight;
    // The last one stands last.
    this.#known.delete(name);
    this.#known.set(name, one);
    for (const [other, { weight }] of this.#known) {
      if (this.#weight <= this.#most || other === name) break;
      this.#known.delete(other);
      this.#weight -= weight;
    }
    return one.value;
  }
}
