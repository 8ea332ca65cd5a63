import { randomBytes } from "node:crypto";

/** Source of randomness, passed in so that a seeded run repeats exactly. */
export interface Randomness {
  /** `length` random bytes as lower-case hex (twice as many characters). */
  hex(length: number): string;
  /** A number in [0, 1). */
  fraction(): number;
}

/** Random bytes that are drawn from the system at once: asking for each few of them costs more than they do. */
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

/** Makes ids that sort in the order they were made, also within one millisecond. */
export interface Ids {
  next(prefix: string): string;
}

/** An id that sorts after the newest one, also where the clock was set back since that was made. */
export function sortedAfter(id: string, newest: string | undefined): string {
  if (newest === undefined || id > newest) return id;
  const start = newest.indexOf("_") + 1;
  const time = Number.parseInt(newest.slice(start, start + timeLength), 36);
  if (Number.isNaN(time)) return id;
  return `${newest.slice(0, start)}${(time + 1).toString(36).padStart(timeLength, "0")}${id.slice(start + timeLength)}`;
}

/** Characters of the time in an id. */
const timeLength = 9;

/**
 * Ids of the form `op_0mb3k2x9v-0001-7f3a9c`: time in base 36, a counter within the millisecond, random tail.
 * A clock that goes back does not make an id that sorts before an earlier one. Not ULID or UUIDv7: those would sort
 * among the ids that are in ledgers already by another rule, and `sortedAfter` reads the time of the newest of these.
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
