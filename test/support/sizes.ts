/**
 * How much of each part of the fault matrix is run: `npm test` runs what fits into minutes, `npm run test:full` the whole sizes. The same files
 * and the same checks; only the numbers differ.
 */
interface Sizes {
  /** Seeds of the simulation. */
  seeds: number;
  /** SIGKILLs at random moments of long runs. */
  kills: number;
  /** System calls of each kind that fail, and as many that kill; all of them where it is Infinity. */
  systemCalls: number;
}

const small: Sizes = { seeds: 100, kills: 50, systemCalls: 2 };
const full: Sizes = { seeds: 300, kills: 250, systemCalls: Infinity };

export const isFull = process.env["TEST_SIZE"] === "full";
export const sizes: Sizes = isFull ? full : small;
