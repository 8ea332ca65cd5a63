import { parseArgs } from "node:util";
import { phases, type Phase } from "./scale/phases.ts";

/** What `npm run bench` measures, in this order. */
export const sections = [
  "check",
  "road",
  "latency",
  "large",
  "history",
  "parts",
  "starts",
  "profile",
  "statements",
  "pages",
  "livez",
] as const;
export type Section = (typeof sections)[number];

/** What a benchmark run measures. */
export interface Options {
  only: readonly Section[];
  /** A checkout of another commit that is measured side by side. */
  before: string | undefined;
  /** Customers of the first run, the run without a change and verify. */
  records: number;
  /** How often each is measured; undefined: as often as that section needs. */
  rounds: number | undefined;
  latencyRecords: number;
  largeRecords: number;
  /** Rows of history of the ledger that is compared with one without. */
  history: number;
  profileRecords: number;
  /** Order lines of the ledger that statements are made of. */
  statementLines: number;
  /** Customers of the ledger whose pages are asked for. */
  pagesCustomers: number;
  /** Only the ratios that are kept are measured and compared. */
  check: boolean;
  /** Keep this run's ratios as the ones that later runs are compared with. */
  writeBaseline: boolean;
  /** File that takes every figure of every round as JSON. */
  json: string | undefined;
  scale: { sizes: readonly number[]; phases: readonly Phase[]; work: string | undefined } | undefined;
  /** A file that an earlier run wrote: it is printed, and nothing is measured. */
  print: string | undefined;
  help: boolean;
}

export const usage = `npm run bench -- [options]

  --only A,B            of ${sections.join(", ")}
  --before DIR          a checkout of another commit, measured in the same rounds (docs/performance.md)
  --records N           customers of a run (10000)
  --rounds N            how often each is measured in turns (3; parts and history 5, the check 4, starts 20)
  --latency-records N   customers of the runs at 20 and 100 ms a call (3000; four times that for 64 lanes at 20)
  --large-records N     customers of the runs whose rows and memory count (100000)
  --history N           rows of history of the ledger that is compared with one without (100000)
  --profile-records N   customers of the profiled run (6000)
  --statement-lines N   order lines of the larger of the two ledgers that statements are made of (100000)
  --pages-customers N   customers of the ledger whose pages are asked for (100000)
  --check               only the ratios that bench/baseline.json keeps, as every change is compared with it, and that
                        no page takes longer because there are more customers
  --write-baseline      keep the ratios of this check in bench/baseline.json
  --print FILE          the tables of what an earlier run wrote; measures nothing
  --json FILE           every figure of every round as JSON, written after each section or phase

  --scale               in place of all that: customers with three orders each, beside ten rows of history for each
  --scale-customers N   the largest size (1000000); the smaller ones are 10000 and 100000
  --scale-sizes A,B     these sizes in place of them
  --scale-phases A,B    of ${phases.join(", ")}; what is left out must stand in --scale-work
  --scale-work DIR      where exports and ledgers lie, and stay (bench/work, and they go)`;

/** Reads the command line. Throws an Error with the reason for what it does not understand. */
export function readOptions(args: readonly string[]): Options {
  const text = { type: "string" } as const;
  const flag = { type: "boolean", default: false } as const;
  const { values } = parseArgs({
    args: [...args],
    options: {
      only: text,
      before: text,
      records: { ...text, default: "10000" },
      rounds: text,
      "latency-records": { ...text, default: "3000" },
      "large-records": { ...text, default: "100000" },
      history: { ...text, default: "1000000" },
      "profile-records": { ...text, default: "6000" },
      "statement-lines": { ...text, default: "100000" },
      "pages-customers": { ...text, default: "100000" },
      json: text,
      print: text,
      "write-baseline": flag,
      check: flag,
      scale: flag,
      "scale-customers": { ...text, default: "1000000" },
      "scale-sizes": text,
      "scale-phases": text,
      "scale-work": text,
      help: flag,
    },
  });
  const largest = whole(values["scale-customers"], "scale-customers");
  return {
    only: values.check ? ["check"] : some(values.only, "only", sections),
    before: values.before,
    records: whole(values.records, "records"),
    rounds: values.rounds === undefined ? undefined : whole(values.rounds, "rounds"),
    latencyRecords: whole(values["latency-records"], "latency-records"),
    largeRecords: whole(values["large-records"], "large-records"),
    history: whole(values.history, "history"),
    profileRecords: whole(values["profile-records"], "profile-records"),
    statementLines: whole(values["statement-lines"], "statement-lines"),
    pagesCustomers: whole(values["pages-customers"], "pages-customers"),
    check: values.check,
    writeBaseline: values["write-baseline"],
    json: values.json,
    scale: values.scale
      ? {
          sizes:
            values["scale-sizes"]?.split(",").map((size) => whole(size, "scale-sizes")) ??
            [10_000, 100_000, largest].filter((size, at, all) => size <= largest && all.indexOf(size) === at),
          phases: some(values["scale-phases"], "scale-phases", phases),
          work: values["scale-work"],
        }
      : undefined,
    print: values.print,
    help: values.help,
  };
}

function some<Name extends string>(list: string | undefined, name: string, all: readonly Name[]): readonly Name[] {
  if (list === undefined) return all;
  const wanted = list.split(",");
  const unknown = wanted.find((one) => !all.some((known) => known === one));
  if (unknown !== undefined) throw new Error(`--${name} takes ${all.join(", ")}, not ${unknown}`);
  return all.filter((one) => wanted.includes(one));
}

function whole(text: string, name: string): number {
  const value = Number(text);
  if (Number.isInteger(value) && value >= 1) return value;
  throw new Error(`--${name} must be a whole number from 1, not ${text}`);
}
