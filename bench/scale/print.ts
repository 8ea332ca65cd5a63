import { type Figure, count } from "../figure.ts";
import { table } from "../print.ts";
import { type Phase, phases } from "./phases.ts";
import type { PhaseTaken, Scaled } from "./scaled.ts";

const mostMegabytes = 300;
const mostExponent = 1.05;

/** What each phase cost at each size, and how its time grows from the smallest to the largest one. */
export function scaleTable(all: readonly Scaled[]): string {
  const rows = phases.flatMap((phase) => {
    const taken = all.map((size) => takenOf(size, phase));
    if (taken.every((one) => one === undefined)) return [];
    return [[phase, ...taken.map((one) => (one === undefined ? "" : costText(one))), exponentText(all, phase)]];
  });
  return table(["phase", ...all.map(({ customers }) => `${count(customers)} customers`), "exponent of growth"], rows);
}

function takenOf({ phases: taken }: Scaled, phase: Phase): PhaseTaken | undefined {
  return taken.find((one) => one.phase === phase);
}

function costText({ phase, wallSeconds, cpuSeconds, peakMegabytes, calls, ledgerBytes }: PhaseTaken): string {
  const total = Object.values(calls).reduce((sum, one) => sum + one, 0);
  const seconds = wallSeconds < 10 ? wallSeconds.toFixed(2) : count(wallSeconds);
  const ledger = `ledger ${count(ledgerBytes / 1e6)} MB`;
  if (phase === "make") return `${seconds} s; ${ledger}`;
  return `${seconds} s (CPU ${cpuSeconds.toFixed(1)}); ${count(total)} calls; ${count(peakMegabytes)} MB; ${ledger}`;
}

/** Time grows with size to this power: 1 is in proportion. Undefined where fewer than two sizes have it. */
export function exponentOf(all: readonly Scaled[], phase: Phase): number | undefined {
  const points = all.flatMap((size) => {
    const taken = takenOf(size, phase);
    return taken === undefined ? [] : [{ customers: size.customers, seconds: taken.wallSeconds }];
  });
  const [first] = points;
  const last = points.at(-1);
  if (first === undefined || last === undefined || last.customers <= first.customers) return undefined;
  return Math.log(last.seconds / first.seconds) / Math.log(last.customers / first.customers);
}

function exponentText(all: readonly Scaled[], phase: Phase): string {
  return exponentOf(all, phase)?.toFixed(2) ?? "";
}

/** T6 and the growth of time, judged at the largest size; 1,000,000 is the one that counts. */
export function scaleFigures(all: readonly Scaled[]): Figure[] {
  const largest = all.at(-1);
  if (largest === undefined) return [];
  const measured = largest.phases.filter(({ phase }) => phase !== "make");
  const peak = Math.max(...measured.map(({ peakMegabytes }) => peakMegabytes));
  const memory: Figure = {
    target: "T6",
    what: `peak memory of ${count(largest.customers)} customers, every phase`,
    figure: `${count(peak)} MB`,
    wanted: `≤ ${mostMegabytes} MB at 1,000,000`,
    verdict: peak > mostMegabytes ? "below" : largest.customers < 1_000_000 ? "not measured" : "met",
  };
  const growth = measured.flatMap(({ phase }): Figure[] => {
    const exponent = exponentOf(all, phase);
    if (exponent === undefined) return [];
    const figure = `customers to the power of ${exponent.toFixed(2)}`;
    const verdict = exponent <= mostExponent ? "met" : "below";
    return [{ target: "T6", what: `time of ${phase}`, figure, wanted: `≤ ${mostExponent}`, verdict }];
  });
  return [memory, ...growth];
}

/** How large the ledger becomes by what was done in the first run. */
export function sizeNotes(all: readonly Scaled[]): string[] {
  return all.flatMap((size) => {
    const made = takenOf(size, "make");
    const first = takenOf(size, "first");
    if (made === undefined || first === undefined) return [];
    const grown = first.ledgerBytes - made.ledgerBytes;
    return [
      `Ledger of ${count(size.customers)} customers with ${count(size.orders)} orders: ` +
        `${count(grown / size.customers)} bytes a customer, ${count(grown / first.done)} an operation; beside them ` +
        `${count(made.ledgerBytes / 1e6)} MB for ${count(size.history)} rows of history. First run: ` +
        `${count(size.customers / first.wallSeconds)} customers/s.`,
    ];
  });
}
