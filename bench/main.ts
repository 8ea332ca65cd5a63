import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism, cpus, loadavg } from "node:os";
import { baselineFigures, writeBaseline } from "./baseline.ts";
import { measureHistory } from "./history.ts";
import { benchPath } from "./measure.ts";
import type { Options } from "./options.ts";
import { readOptions, usage } from "./options.ts";
import { measureParts } from "./parts.ts";
import { notes, targetTable, wayTable } from "./print.ts";
import { measureRoad } from "./road.ts";
import { historyFigures, partFigures, ratiosOf, roadFigures } from "./targets.ts";

/**
 * Measures the program against the floor and against a plain script in one run, and prints figure, target and ratio.
 * Exit code 0, also where a target is not met; 1 where the measuring failed or the ratio to the floor lost more than 15
 * % against the kept one.
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
    const road = await measureRoad(options, work, tell);
    const history =
      options.history === 0
        ? undefined
        : await measureHistory(options.history, Math.max(5, options.rounds), work, tell);
    const parts = await measureParts(work, Math.max(3, options.rounds), tell);
    const ratios = ratiosOf(road);
    const fetched = road.rounds.reduce(
      (sum, round) => sum + round.first.replay.fetched + round.verify.replay.fetched,
      0,
    );
    const compared = baselineFigures(ratios, options.records, fetched);
    const figures = [
      ...roadFigures(road),
      ...historyFigures(history),
      ...partFigures(parts),
      ...compared.figures,
    ].toSorted((left, right) => (left.target < right.target ? -1 : left.target > right.target ? 1 : 0));
    const busy =
      load > machine.cores / 2
        ? ` The machine was busy with other things (load ${load.toFixed(1)} ` +
          "at the start): ratios are rough, absolute figures say little."
        : "";
    console.log(
      `${options.records} customers, ${options.rounds} rounds; Node ` +
        `${machine.node}, ${machine.cores} × ${machine.cpu}.${busy}\n`,
    );
    console.log(`${targetTable(figures)}\n`);
    console.log(`${wayTable(road)}\n`);
    for (const note of notes(road, parts)) console.log(note);
    if (options.json !== undefined) {
      const document = { records: options.records, machine, figures, ratios, road, history, parts };
      writeFileSync(options.json, `${JSON.stringify(document, null, 2)}\n`);
    }
    if (options.writeBaseline) writeBaseline(ratios, options.records);
    if (compared.lost) console.error("\nThe ratio to the floor lost more than 15 % against bench/baseline.json.");
    return compared.lost && !options.writeBaseline ? 1 : 0;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
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
