import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism, cpus, loadavg } from "node:os";
import { checkFigures, lostRatios, measureCheck, readBaseline, writeBaseline } from "./baseline.ts";
import type { History } from "./history.ts";
import { measureHistory } from "./history.ts";
import { benchPath } from "./measure.ts";
import type { Options } from "./options.ts";
import { readOptions, usage } from "./options.ts";
import type { Parts } from "./parts.ts";
import { measureParts } from "./parts.ts";
import { notes, targetTable, wayTable } from "./print.ts";
import type { Road } from "./road.ts";
import { measureRoad } from "./road.ts";
import type { Figure, Ratios } from "./targets.ts";
import { fetchFigure, historyFigures, partFigures, ratiosOf, roadFigures } from "./targets.ts";

/**
 * Measures the program against the floor and against a plain script in one run, and prints figure, target and ratio.
 * Exit code 0, also where a target is not met; 1 where the measuring failed or a ratio lost more than 15 % against the
 * kept one.
 */
async function main(options: Options): Promise<number> {
  const started = performance.now();
  const tell = (step: string): void => {
    const seconds = ((performance.now() - started) / 1_000).toFixed(0).padStart(4);
    process.stderr.write(`${seconds} s  ${step}\n`);
  };
  const load = loadavg()[0] ?? 0;
  const machine = { node: process.version, cpu: cpus()[0]?.model ?? "unknown", cores: availableParallelism(), load };

  // Beside the program, on a real disk: a file system in memory would make durability look free.
  mkdirSync(benchPath("work"), { recursive: true });
  const work = mkdtempSync(benchPath("work/run-"));
  try {
    const kept = readBaseline();
    const check = await measureCheck(options.rounds, kept, work, tell);
    const lost = kept === undefined ? [] : lostRatios(check, kept);
    const whole = options.check ? undefined : await measureWhole(options, work, tell);
    const figures = [...(whole?.figures ?? []), ...checkFigures(check, kept)].toSorted((left, right) =>
      left.target < right.target ? -1 : left.target > right.target ? 1 : 0,
    );
    const busy =
      load > machine.cores / 2
        ? ` The machine was busy with other things (load ${load.toFixed(1)} ` +
          "at the start): ratios are rough, absolute figures say little."
        : "";
    const { node, cores, cpu } = machine;
    const of = options.check ? "" : `${options.records} customers, ${options.rounds} rounds; `;
    console.log(`${of}${check.first.length} rounds of the check; Node ${node}, ${cores} × ${cpu}.${busy}\n`);
    console.log(`${targetTable(figures)}\n`);
    if (whole !== undefined) {
      console.log(`${wayTable(whole.road)}\n`);
      for (const note of notes(whole.road, whole.parts)) console.log(note);
    }
    if (options.json !== undefined) {
      const document = { records: options.records, machine, check, ...whole, figures };
      writeFileSync(options.json, `${JSON.stringify(document, null, 2)}\n`);
    }
    if (options.writeBaseline) writeBaseline(check);
    if (lost.length > 0) console.error(`\nMore than 15 % is lost against bench/baseline.json: ${lost.join(", ")}.`);
    return lost.length > 0 && !options.writeBaseline ? 1 : 0;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

interface Whole {
  road: Road;
  history: History | undefined;
  parts: Parts;
  ratios: Ratios;
  figures: Figure[];
}

/** Everything but the check. */
async function measureWhole(options: Options, work: string, tell: (step: string) => void): Promise<Whole> {
  const road = await measureRoad(options, work, tell);
  const history =
    options.history === 0 ? undefined : await measureHistory(options.history, Math.max(5, options.rounds), work, tell);
  const parts = await measureParts(work, Math.max(3, options.rounds), tell);
  const figures = [...roadFigures(road), ...historyFigures(history), ...partFigures(parts), fetchFigure(road)];
  return { road, history, parts, ratios: ratiosOf(road), figures };
}

let options: Options | undefined;
try {
  options = readOptions(process.argv.slice(2));
} catch (error) {
  console.error(`${error instanceof Error ? error.message : String(error)}\n\n${usage}`);
  process.exitCode = 64;
}
if (options?.help === true) console.log(usage);
else if (options !== undefined) process.exitCode = await main(options);
