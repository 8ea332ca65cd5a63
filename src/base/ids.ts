import { randomBytes } from "node:crypto";

/** Passed in, so that a seeded run repeats exactly. */
export interface Randomness {
  /** `length` bytes as lower-case hex, twice as many characters. */
  hex(length: number): string;
  /** In [0, 1). */
  fraction(): number;
}

/** Bytes requested from the system at once: small requests cost more. */
const drawnAtOnce = 4096;
let drawn = Buffer.alloc(0);
let used = 0;

export const systemRandomness: Randomness = {
  hex: (length) => {
    if (length > drawnAtOnce) return randomBytes(length).toString("hex");
    if (used + length > drawn.length) {
      drawn = randomBytes(drawnAtOnce);
      used = 0;
    }
    used += length;
    return drawn.toString("hex", used - length, used);
  },
  fraction: () => Math.random(),
};

/** Ids sort in the order of creation, also within one millisecond. */
export interface Ids {
  next(prefix: string): string;
}

/** Sorts after the newest id even if the clock was set back. */
export function sortedAfter(id: string, newest: string | undefined): string {
  if (newest === undefined || id > newest) return id;
  const start = newest.indexOf("_") + 1;
  const time = Number.parseInt(newest.slice(start, start + timeLength), 36);
  if (Number.isNaN(time)) return id;
  return `${newest.slice(0, start)}${(time + 1).toString(36).padStart(timeLength, "0")}${id.slice(start + timeLength)}`;
}

const timeLength = 9;

/**
 * `op_0mb3k2x9v-0001-7f3a9c` without the dashes: time in base 36, a counter, a random tail. Sorts in order even if the
 * clock goes back. Not ULID or UUIDv7: ledgers already have ids of this form, and `sortedAfter` reads their time.
 */
export function createIds(now: () => number, random: Randomness): Ids {
  let last = 0;
  let count = 0;
  return {
    next(prefix) {
      const time = now();
      if (time > last) {
        last = time;
        count = 0;
      } else {
        count += 1;
      }
      return (
        `${prefix}_${last.toString(36).padStart(timeLength, "0")}` +
        `${count.toString(36).padStart(4, "0")}${random.hex(3)}`
      );
    },
  };
}
