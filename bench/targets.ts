import type { History } from "./history.ts";
import type { Parts } from "./parts.ts";
import type { Starts } from "./starts.ts";
import type { Passage, Road, Round } from "./road.ts";
import { lanes, middle } from "./road.ts";

/** One line of the result. */
export interface Figure {
  target: string;
  what: string;
  /** The figure in words, such as `4,367 records/s`; undefined where it could not be measured. */
  figure: string | undefined;
  wanted: string;
  /** What is compared with the target, such as `0.72 × the floor`. */
  ratio: string;
  verdict: "met" | "below" | "not measured";
}

/** The ratios that are kept and compared over time. Never absolute figures: machines differ. */
export interface Ratios {
  /** Records a second of a first run, against the floor and against p-limit with fetch. */
  firstToFloor: number;
  firstToScript: number;
  /** CPU of a first run against the floor's. */
  cpuToFloor: number;
  /** Records a second of a run without a change, against a first run. */
  unchangedToFirst: number;
}

const whole = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });
export const rate = (value: number, unit: string): string => `${whole.format(value)} ${unit}/s`;
export const times = (value: number): string => `${value.toFixed(value < 10 ? 2 : 1)} ×`;

function speedTo(road: Road, way: (round: Round) => Passage, other: (round: Round) => Passage): number {
  return middle(road, (round) => way(round).recordsPerSecond / other(round).recordsPerSecond);
}

/** Every ratio is taken within a round, then the middle of the rounds. */
export function ratiosOf(road: Road): Ratios {
  return {
    firstToFloor: speedTo(
      road,
      (round) => round.first,
      (round) => round.floor,
    ),
    firstToScript: speedTo(
      road,
      (round) => round.first,
      (round) => round.script,
    ),
    cpuToFloor: middle(road, (round) => round.first.cpuSeconds / round.floor.cpuSeconds),
    unchangedToFirst: speedTo(
      road,
      (round) => round.unchanged,
      (round) => round.first,
    ),
  };
}

/**
 * Records a second that the lanes allow at most, given how long the server really held the calls that a customer needs.
 */
export function boundOf(passage: Passage): number {
  const heldPerRecord = passage.replay.heldMs / passage.records;
  return (lanes * 1_000) / heldPerRecord;
}

function line(
  target: string,
  what: string,
  figure: string | undefined,
  wanted: string,
  ratio: string,
  met: boolean,
): Figure {
  return {
    target,
    what,
    figure,
    wanted,
    ratio,
    verdict: figure === undefined ? "not measured" : met ? "met" : "below",
  };
}

/** T1 to T4 and T6: what whole runs came to. In one piece: a list of figures from the same few ratios. */
export function roadFigures(road: Road): Figure[] {
  const ratios = ratiosOf(road);
  const first = middle(road, (round) => round.first.recordsPerSecond);
  const cpu = middle(road, (round) => round.first.cpuSeconds);
  const unchanged = middle(road, (round) => round.unchanged.recordsPerSecond);
  const unchangedCalls = Math.max(...road.rounds.map((round) => round.unchanged.replay.total));
  const verify = middle(road, (round) => round.verify.recordsPerSecond);
  const verifyCalls = middle(road, (round) => round.verify.replay.total / round.verify.records);
  const callRate = speedTo(
    road,
    (round) => round.verify,
    (round) => round.floor,
  );
  const floorCalls = middle(road, (round) => round.floor.replay.total / round.floor.records);
  const slow = road.latency;
  const toBound = slow.first.recordsPerSecond / boundOf(slow.first);
  const floorToBound = slow.floor.recordsPerSecond / boundOf(slow.floor);
  return [
    line(
      "T1",
      "first run, all safety on",
      rate(first, "records"),
      "≥ 0.60 × the floor",
      `${times(ratios.firstToFloor)} the floor`,
      ratios.firstToFloor >= 0.6,
    ),
    line(
      "T1",
      "first run, all safety on",
      rate(first, "records"),
      "≥ 2 × p-limit + fetch",
      `${times(ratios.firstToScript)} p-limit + fetch`,
      ratios.firstToScript >= 2,
    ),
    line(
      "T2",
      "CPU of a first run",
      `${cpu.toFixed(2)} s`,
      "≤ 1.6 × the floor's",
      `${times(ratios.cpuToFloor)} the floor's`,
      ratios.cpuToFloor <= 1.6,
    ),
    line(
      "T3",
      `first run at ${slow.ms} ms a call`,
      rate(slow.first.recordsPerSecond, "records"),
      "≥ 0.93 × the lanes' bound",
      `${times(toBound)} the bound (the floor: ${times(floorToBound)})`,
      toBound >= 0.93,
    ),
    line(
      "T4",
      "run without a change",
      rate(unchanged, "records"),
      "≥ 4 × the first run",
      `${times(ratios.unchangedToFirst)} the first run`,
      ratios.unchangedToFirst >= 4,
    ),
    line("T4", "calls of a run without a change", `${unchangedCalls}`, "0", "", unchangedCalls === 0),
    line(
      "T4",
      `full verify, ${verifyCalls.toFixed(0)} calls a record`,
      rate(verify, "records"),
      "≥ 5,000 records/s",
      `${times((callRate * verifyCalls) / floorCalls)} the floor's calls/s`,
      verify >= 5_000,
    ),
    ...memoryFigures(road),
  ];
}

/** T9: whether fetch was on the way of a record. */
export function fetchFigure(road: Road): Figure {
  const fetched = road.rounds.reduce((sum, round) => sum + round.first.replay.fetched + round.verify.replay.fetched, 0);
  return line("T9", "calls made by fetch() on the way of a record", String(fetched), "0", "", fetched === 0);
}

/** T4 and T8 on a ledger with a history: what is finished costs nothing. */
export function historyFigures(history: History | undefined): Figure[] {
  if (history === undefined) return [];
  const of = (what: "unchanged" | "status", target: string, name: string, most: number): Figure => {
    const { without, with: full } = history[what];
    const ratio = full.wallSeconds / without.wallSeconds;
    const cpu = full.cpuSeconds / without.cpuSeconds;
    return line(
      target,
      `${name}, ${whole.format(history.operations)} finished operations`,
      `${whole.format(full.wallSeconds * 1_000)} ms`,
      `≤ ${most} × an empty ledger`,
      `${times(ratio)} an empty ledger (CPU ${times(cpu)})`,
      ratio <= most,
    );
  };
  return [of("unchanged", "T4", "run without a change", 1.2), of("status", "T8", "what status asks", 1.5)];
}

function memoryFigures(road: Road): Figure[] {
  const [round] = road.rounds;
  const measured = road.memory ?? round;
  if (measured === undefined) return [];
  const { first, unchanged } = measured;
  const limit = first.records > 100_000 ? 300 : 260;
  const small = middle(road, (one) => one.first.peakMegabytes);
  const peak = Math.max(first.peakMegabytes, unchanged.peakMegabytes);
  const ratio =
    road.memory === undefined ? "" : `${times(peak / small)} that of ${whole.format(round?.first.records ?? 0)}`;
  const what = `peak memory at ${whole.format(first.records)} records`;
  const wanted = `≤ ${limit} MB at ${limit === 300 ? "1,000,000" : "100,000"}`;
  const figure = line("T6", what, `${whole.format(peak)} MB`, wanted, ratio, peak <= limit);
  // A smaller run that stays below the limit says nothing about the size that the limit is for.
  const tooSmall = first.records < 100_000 && peak <= limit;
  return [tooSmall ? { ...figure, verdict: "not measured" } : figure];
}

/** T5, T7 and T8: what single parts came to. */
export function partFigures(parts: Parts): Figure[] {
  const { order, chain, starts } = parts;
  const chainOf = `of ${whole.format(parts.chainEntries)}`;
  const start = (name: string, took: Starts["help"], most: number): Figure => {
    const ratio = took.middle / starts.bareNode.middle;
    const fewest = times(took.fewest / starts.bareNode.fewest);
    const figure = `${whole.format(took.middle)} ms`;
    return line(
      "T8",
      name,
      figure,
      `≤ ${most} × bare node`,
      `${times(ratio)} bare node (fewest: ${fewest})`,
      ratio <= most,
    );
  };
  return [
    line(
      "T5",
      "an order of 3 products to hashed bytes",
      `${order.plain.toFixed(0)} µs`,
      "≤ 80 µs",
      `${times(order.plain / 80)} the target`,
      order.plain <= 80,
    ),
    line(
      "T7",
      `audit chain ${chainOf} entries verified`,
      rate(chain.verifiedPerSecond, "entries"),
      "≥ 150,000 entries/s",
      `${times(chain.verifiedPerSecond / 150_000)} the target`,
      chain.verifiedPerSecond >= 150_000,
    ),
    start("crm-sync --help", starts.help, 1.5),
    start("crm-sync status, a small ledger", starts.status, 3),
  ];
}
