/** Choices that repeat: the same seed gives the same sample, byte for byte. */
export interface Dice {
  /** A whole number from 0 to `limit` - 1. */
  below(limit: number): number;
  /** One of a list that is not empty. */
  pick<T>(list: readonly T[]): T;
  /** True in this share of all throws. */
  chance(share: number): boolean;
}

/** Mulberry32: small, good enough for a sample, the same on every machine. */
export function createDice(seed: number): Dice {
  let state = seed >>> 0;
  const fraction = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  const below = (limit: number): number => Math.floor(fraction() * limit);
  return {
    below,
    chance: (share) => fraction() < share,
    pick(list) {
      const chosen = list[below(list.length)];
      if (chosen === undefined) throw new RangeError("nothing to pick from");
      return chosen;
    },
  };
}
