/**
 * How much of each part of the fault matrix is run: `npm test` runs what fits into minutes, `npm run test:full` the whole sizes. The same files
 * and the same checks; only the numbers differ.
 */
interface Sizes {
  /** Seeds of the simulation. */
  seeds: number;
  /** SIGKILLs at random moments of long runs. */
  kills: number;
  /** SIGTERMs at random moments. */
  stops: number;
  /** System calls of each kind that fail, and as many that kill; all of them where it is Infinity. */
  systemCalls: number;
  /** Pages of a ledger in which a byte is flipped. */
  flippedPages: number;
  /** Frames of a write-ahead log that is cut or damaged there. */
  tornFrames: number;
  /** Races of two programs for one ledger. */
  races: number;
  /** Runs in the middle of which the platform goes away. */
  outages: number;
  /** Positions at which the files of a source are cut. */
  cuts: number;
  /** Hostile records of each class. */
  hostile: number;
}

const small: Sizes = {
  seeds: 100,
  kills: 50,
  stops: 20,
  systemCalls: 2,
  flippedPages: 9,
  tornFrames: 30,
  races: 20,
  outages: 8,
  cuts: 40,
  hostile: 20,
};
const full: Sizes = {
  seeds: 300,
  kills: 250,
  stops: 100,
  systemCalls: Infinity,
  flippedPages: 1000,
  tornFrames: Infinity,
  races: 200,
  outages: 60,
  cuts: 500,
  hostile: 1000,
};

export const isFull = process.env["TEST_SIZE"] === "full";
export const sizes: Sizes = isFull ? full : small;
