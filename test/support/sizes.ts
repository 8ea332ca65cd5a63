/**
 * How much of the fault matrix is run. `npm test` tries one sample of each row of it, `npm run test:faults` what fits
 * into twelve minutes, and `npm run test:full` the whole sizes. The same files and the same checks; only the
 * numbers differ.
 */
type Level = "sample" | "faults" | "full";

interface Sizes {
  /** Seeds of the simulation. */
  seeds: number;
  /** Random histories of a CRM. */
  histories: number;
  /** Months of Northwind. */
  months: number;
  /** SIGKILLs at random moments of long runs. */
  kills: number;
  /** Cells of the matrix of kills, and of that of failing reads. */
  cells: number;
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
  /** Histories of a schedule under a clock that jumps 25 times. */
  clocks: number;
  /** Configurations with a mistake. */
  mistakes: number;
  /** Sources that move while they are read. */
  motions: number;
  /** Histories of a real source of each kind, with its readings. */
  readings: number;
  /** Random moments of runs at which a backup is made, put back and run with. */
  backups: number;
  /** Hostile requests to the pages. */
  requests: number;
}

const faults: Sizes = {
  seeds: 20,
  histories: 5,
  months: 1,
  kills: 20,
  cells: 100,
  stops: 3,
  systemCalls: 1,
  flippedPages: 5,
  tornFrames: 12,
  races: 6,
  outages: 2,
  cuts: 12,
  hostile: 12,
  clocks: 400,
  mistakes: 600,
  motions: 10,
  readings: 4,
  backups: 6,
  requests: 500,
};
const sample: Sizes = {
  ...faults,
  seeds: 5,
  histories: 2,
  outages: 1,
  hostile: 1,
  clocks: 40,
  mistakes: 60,
  readings: 2,
};
const full: Sizes = {
  seeds: 300,
  histories: 20_000,
  months: 24,
  kills: 250,
  cells: Infinity,
  stops: 100,
  systemCalls: Infinity,
  flippedPages: 1000,
  tornFrames: Infinity,
  races: 200,
  outages: 60,
  cuts: 500,
  hostile: 1000,
  clocks: 400,
  mistakes: 600,
  motions: 20_000,
  readings: 3_400,
  backups: 200,
  requests: 10_000,
};

const levels: Record<Level, Sizes> = { sample, faults, full };

function isLevel(name: string | undefined): name is Level {
  return name !== undefined && Object.hasOwn(levels, name);
}

const asked = process.env["TEST_SIZE"];
const level: Level = isLevel(asked) ? asked : "sample";

export const isFull = level === "full";
export const isSample = level === "sample";
export const sizes: Sizes = levels[level];

/** All cases of a table for a release; else so many of them, spread over it. */
export function spread<Case>(cases: readonly Case[], count: number): Case[] {
  if (isFull || cases.length <= count) return [...cases];
  return cases.filter(
    (_, index) => Math.floor((index * count) / cases.length) !== Math.floor(((index - 1) * count) / cases.length),
  );
}

/** So many cases of a table in `npm test`; else all of them. */
export function sampled<Case>(cases: readonly Case[], count = 1): Case[] {
  return isSample ? spread(cases, count) : [...cases];
}
