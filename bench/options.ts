import { parseArgs } from "node:util";

/** What a benchmark run measures. */
export interface Options {
  /** Customers of the first run, the unchanged run and the verify run. */
  records: number;
  /** How often each of them is measured; the middle figure counts. */
  rounds: number;
  /** Customers of the runs at 20 ms a call. */
  latencyRecords: number;
  /** Customers of the run whose peak memory is judged; none where it is not larger than `records`. */
  memoryRecords: number;
  /** Finished operations of the ledger that is compared with an empty one; none at 0. */
  history: number;
  /** File that takes the figures as JSON. */
  json: string | undefined;
  /** Keep this run's ratios as the ones that later runs are compared with. */
  writeBaseline: boolean;
  /** Only the ratios that are kept are measured and compared. */
  check: boolean;
  help: boolean;
}

/** From this many customers on, each run is measured once. */
const largeRun = 100_000;

const flags =
  "[--records N] [--rounds N] [--latency-records N] [--memory-records N] " +
  "[--history N] [--check] [--json FILE] [--write-baseline]";

export const usage = `node bench/main.ts ${flags}

  --records N           customers of a run (10000; 1000000 takes long)
  --rounds N            measurements of each run, the middle one counts (3; 1 from ${largeRun} customers on)
  --latency-records N   customers of the runs at 20 ms a call (2000)
  --memory-records N    customers of the run whose memory is judged (100000; 0 leaves it out)
  --history N           finished operations of the ledger that is compared with an empty one (1000000; 0 leaves it out)
  --check               only the ratios that bench/baseline.json keeps, as every change is compared with it (5 rounds)
  --json FILE           the figures as JSON
  --write-baseline      keep the ratios of this run in bench/baseline.json`;

/** Reads the command line. Throws an Error with the reason for what it does not understand. */
export function readOptions(args: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      records: { type: "string", default: "10000" },
      rounds: { type: "string" },
      "latency-records": { type: "string", default: "2000" },
      "memory-records": { type: "string", default: "100000" },
      history: { type: "string", default: "1000000" },
      json: { type: "string" },
      "write-baseline": { type: "boolean", default: false },
      check: { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  });
  const records = whole(values.records, "records", 1);
  return {
    records,
    rounds: values.rounds === undefined ? defaultRounds(records, values.check) : whole(values.rounds, "rounds", 1),
    latencyRecords: whole(values["latency-records"], "latency-records", 1),
    memoryRecords: whole(values["memory-records"], "memory-records", 0),
    history: whole(values.history, "history", 0),
    json: values.json,
    writeBaseline: values["write-baseline"],
    check: values.check,
    help: values.help,
  };
}

function defaultRounds(records: number, check: boolean): number {
  if (check) return 5;
  return records >= largeRun ? 1 : 3;
}

function whole(text: string, name: string, least: number): number {
  const value = Number(text);
  if (Number.isInteger(value) && value >= least) return value;
  throw new Error(`--${name} must be a whole number from ${least}, not ${text}`);
}
