/**
 * How much of each part of the fault matrix is run: `npm test` runs what fits into minutes, `npm run test:full` the whole sizes. The same files
 * and the same checks; only the numbers differ.
 */
interface Sizes {
  /** Seeds of the simulation. */
  seeds: number;
}

const small: Sizes = { seeds: 100 };
const full: Sizes = { seeds: 300 };

export const isFull = process.env["TEST_SIZE"] === "full";
export const sizes: Sizes = isFull ? full : small;
