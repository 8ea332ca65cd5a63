import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { measureStatements } from "./books/statements.ts";
import { checkFigures, lostRatios, measureCheck, readBaseline, writeBaseline } from "./baseline.ts";
import { measureHistory } from "./history.ts";
import { measureLatency } from "./latency.ts";
import { measureLivez } from "./livez.ts";
import { benchPath } from "./measure.ts";
import type { Measuring } from "./measuring.ts";
import { type Options, type Section, readOptions, usage } from "./options.ts";
import { grownPages, measurePageGrowth, pageGrowthFigures } from "./page-growth.ts";
import { measurePages } from "./pages.ts";
import { measureParts } from "./parts.ts";
import { notes, profileTable, targetTable, wayTable } from "./print.ts";
import { measureProfile } from "./profile.ts";
import { ownProgram, programIn } from "./program.ts";
import { type Result, emptyResult, readResult, writeResult } from "./result.ts";
import { measureLarge, measureRoad } from "./road.ts";
import { scaleFigures, scaleTable, sizeNotes } from "./scale/print.ts";
import { measureScale } from "./scale/scale.ts";
import { measureStarts } from "./starts.ts";
import { figuresOf } from "./targets.ts";

/**
 * Measures the program against the floor and against a plain script in one run, and prints figure, target and ratio.
 * Exit code 0, also where a target is not met; 1 where the measuring failed, a ratio lost more than 15 % against the
 * kept one, or a page of the check grows with the number of customers.
 */
async function main(options: Options): Promise<number> {
  const started = performance.now();
  mkdirSync(benchPath("work"), { recursive: true });
  const measuring: Measuring = {
    work: mkdtempSync(benchPath("work/run-")),
    tell: (step) => {
      const seconds = ((performance.now() - started) / 1_000).toFixed(0).padStart(4);
      process.stderr.write(`${seconds} s  ${step}\n`);
    },
    programs: { now: ownProgram(), before: options.before === undefined ? undefined : programIn(options.before) },
  };
  const result = emptyResult(measuring.programs);
  const { scale } = options;
  const keep = (): void => {
    if (options.json !== undefined) writeResult(options.json, result);
  };
  try {
    if (scale !== undefined) {
      await measureScale({ ...measuring, work: scale.work ?? measuring.work }, scale, (taken) => {
        result.scale = [...taken];
        keep();
      });
    }
    for (const section of scale === undefined ? options.only : []) {
      Object.assign(result, await measurements[section](measuring, options));
      keep();
    }
    print(result);
    return judge(result, options);
  } finally {
    rmSync(measuring.work, { recursive: true, force: true });
  }
}

const measurements: Record<Section, (measuring: Measuring, options: Options) => Promise<Partial<Result>>> = {
  check: async (measuring, { rounds = 4 }) => ({
    check: await measureCheck(measuring, rounds, readBaseline()),
    pageGrowth: await measurePageGrowth(measuring),
  }),
  road: async (measuring, { records, rounds = 3 }) => ({ rounds: await measureRoad(measuring, records, rounds) }),
  latency: async (measuring, { latencyRecords, rounds = 3 }) => ({
    latency: await measureLatency(measuring, latencyRecords, rounds),
  }),
  large: async (measuring, { largeRecords, records, rounds = 3 }) => ({
    large: await measureLarge(measuring, { records: largeRecords, floorRecords: records, rounds }),
  }),
  history: async (measuring, { history, rounds = 5 }) => ({
    history: await measureHistory(measuring, history, Math.max(5, rounds)),
  }),
  parts: async (measuring, { rounds = 5 }) => ({ parts: await measureParts(measuring, rounds) }),
  starts: async (measuring, { rounds = 20 }) => ({ starts: await measureStarts(measuring, Math.max(20, rounds)) }),
  profile: async (measuring, { profileRecords }) => ({ profile: await measureProfile(measuring, profileRecords) }),
  statements: async (measuring, { statementLines }) => ({
    statements: await measureStatements(measuring, statementLines),
  }),
  pages: async (measuring, { pagesCustomers, rounds = 15 }) => ({
    pages: await measurePages(measuring, pagesCustomers, rounds),
  }),
  livez: async (measuring, { rounds = 3 }) => ({ livez: await measureLivez(measuring, rounds) }),
};

function print(result: Result): void {
  const { commits, machine, check, pageGrowth } = result;
  const { node, cores, cpu, load } = machine;
  const busy =
    load > cores / 2
      ? ` The machine was busy with other things (load ${load.toFixed(1)} at the start): ratios are rough.`
      : "";
  const against = commits.before === undefined ? "" : `, before: ${commits.before}`;
  console.log(`Commit ${commits.now}${against}; Node ${node}, ${cores} × ${cpu}.${busy}\n`);
  const taken = { ...result, rounds: result.rounds ?? [], slow: result.latency ?? [] };
  const kept = [...(check === undefined ? [] : checkFigures(check, readBaseline())), ...pageGrowthFigures(pageGrowth)];
  const { scale = [] } = result;
  const before = commits.before === undefined ? [] : figuresOf(taken, "before");
  console.log(`${targetTable([...figuresOf(taken, "now"), ...kept, ...scaleFigures(scale)], before)}\n`);
  if (result.rounds !== undefined) console.log(`${wayTable(result.rounds)}\n`);
  if (result.profile !== undefined) console.log(`${profileTable(result.profile)}\n`);
  if (scale.length > 0) console.log(`${scaleTable(scale)}\n`);
  for (const note of [...notes(result), ...sizeNotes(scale)]) console.log(note);
}

function judge({ check, pageGrowth }: Result, options: Options): number {
  if (check === undefined) return 0;
  if (options.writeBaseline) {
    writeBaseline(check);
    return 0;
  }
  const kept = readBaseline();
  const lost = kept === undefined ? [] : lostRatios(check, kept);
  if (lost.length > 0) console.error(`\nMore than 15 % is lost against bench/baseline.json: ${lost.join(", ")}.`);
  const grown = pageGrowth === undefined ? [] : grownPages(pageGrowth);
  if (grown.length > 0)
    console.error(`\nPages take more than half as long again with forty times the customers: ${grown.join(", ")}.`);
  return lost.length + grown.length === 0 ? 0 : 1;
}

let options: Options | undefined;
try {
  options = readOptions(process.argv.slice(2));
} catch (error) {
  console.error(`${error instanceof Error ? error.message : String(error)}\n\n${usage}`);
  process.exitCode = 64;
}
if (options?.help === true) console.log(usage);
else if (options?.print !== undefined) print(readResult(options.print));
else if (options !== undefined) process.exitCode = await main(options);
