/** Numbers that repeat with the seed. */
export class Draws {
  #state: number;

  constructor(seed: number) {
    this.#state = seed * 7_919 + 13;
  }

  below(most: number): number {
    this.#state = (Math.imul(this.#state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return Math.floor((this.#state / 0x80000000) * most);
  }

  chance(share: number): boolean {
    return this.below(1_000) < share * 1_000;
  }

  one<Item>(items: readonly Item[]): Item | undefined {
    return items[this.below(items.length)];
  }
}
