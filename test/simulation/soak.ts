import { availableParallelism } from "node:os";
import { parseArgs } from "node:util";
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";
import { z } from "zod";
import { messageOf } from "../../src/base/errors.ts";
import { faultsOf, simulate, simulationFolder } from "./simulate.ts";

/*
 * The simulation for as many seeds as time allows: `npm run soak -- --seeds N [--from S] [--workers N] [--story]`.
 * Prints each seed that fails, and at the end what was run; exits 0 only where nothing was done twice, nothing was lost
 * and nothing else was wrong. Every hundredth seed is run a second time, and has to go exactly as before. `--story`
 * tells everything that happens in the first seed.
 */

const share = z.strictObject({ from: z.int(), to: z.int(), step: z.int() });
const report = z.strictObject({
  seed: z.int(),
  kills: z.int(),
  faults: z.int(),
  settled: z.int(),
  runs: z.int(),
  twice: z.int(),
  lost: z.int(),
  takenUnmeant: z.int(),
  silent: z.int(),
  problems: z.array(z.string()),
});
type Report = z.infer<typeof report>;

/** Every so many seeds are run twice. */
const repeatedSeeds = 100;

async function runSeed(seed: number, folder: string): Promise<Report> {
  try {
    const result = await simulate(seed, folder);
    const problems = faultsOf(result);
    if (seed % repeatedSeeds === 0 && (await simulate(seed, folder)).trace !== result.trace)
      problems.push("wrong: it goes another way the second time");
    const { kills, faults, settled, runs } = result;
    const [twice, lost] = [result.twice.length, result.lost.length];
    const [takenUnmeant, silent] = [result.takenUnmeant.length, result.silent.length];
    return { seed, kills, faults, settled, runs, twice, lost, takenUnmeant, silent, problems };
  } catch (error) {
    const problem = `wrong: ${error instanceof Error ? (error.stack ?? error.message) : messageOf(error)}`;
    const none = { kills: 0, faults: 0, settled: 0, runs: 0, twice: 0, lost: 0, takenUnmeant: 0, silent: 0 };
    return { seed, ...none, problems: [problem] };
  }
}

async function work(): Promise<void> {
  const { from, to, step } = share.parse(workerData);
  const folder = simulationFolder();
  try {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a port of a worker has no origin
    for (let seed = from; seed < to; seed += step) parentPort?.postMessage(await runSeed(seed, folder.path));
  } finally {
    folder.remove();
  }
}

function wholeNumber(name: string, text: string): number {
  if (/^\d{1,9}$/u.test(text)) return Number(text);
  throw new Error(`--${name} ${text}: a whole number is expected`);
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      seeds: { type: "string", default: "1000" },
      from: { type: "string", default: "1" },
      workers: { type: "string", default: String(availableParallelism()) },
      story: { type: "boolean", default: false },
    },
  });
  const from = wholeNumber("from", values.from);
  const to = from + wholeNumber("seeds", values.seeds);
  if (values.story) {
    const folder = simulationFolder();
    try {
      const result = await simulate(from, folder.path, { story: true });
      process.stdout.write(`${[...result.story, ...faultsOf(result)].join("\n")}\n`);
    } finally {
      folder.remove();
    }
    return;
  }
  const step = Math.min(wholeNumber("workers", values.workers), to - from);
  const sum = { seeds: 0, failed: 0, kills: 0, faults: 0, settled: 0, twice: 0, lost: 0, takenUnmeant: 0, silent: 0 };
  const began = performance.now();
  const hear = (message: unknown): void => {
    const { seed, problems, ...counts } = report.parse(message);
    sum.seeds += 1;
    sum.kills += counts.kills;
    sum.faults += counts.faults;
    sum.settled += counts.settled;
    sum.twice += counts.twice;
    sum.lost += counts.lost;
    sum.takenUnmeant += counts.takenUnmeant;
    sum.silent += counts.silent;
    if (problems.length > 0) {
      sum.failed += 1;
      process.stdout.write(
        `seed ${seed} fails (again with: npm run soak -- --from ${seed} --story)\n  ${problems.join("\n  ")}\n`,
      );
    }
    if (sum.seeds % 500 === 0)
      process.stderr.write(`${sum.seeds} of ${to - from} seeds, ${Math.round((performance.now() - began) / 1000)} s\n`);
  };
  await Promise.all(
    Array.from({ length: step }, (_, index) => {
      const worker = new Worker(new URL(import.meta.url), { workerData: { from: from + index, to, step } });
      worker.on("message", hear);
      return new Promise<void>((resolve, reject) => {
        worker.on("error", reject);
        worker.on("exit", () => resolve());
      });
    }),
  );
  const others = sum.failed > 0 ? `, ${sum.failed} seeds failed` : "";
  process.stdout.write(
    `${sum.seeds} seeds, ${sum.kills} kills, ${sum.faults} faults, ${sum.settled} settled, ${sum.twice} twice, ${sum.lost} lost, ${sum.takenUnmeant} taken unmeant, ${sum.silent} silent${others}\n`,
  );
  process.exitCode = sum.failed === 0 && sum.seeds === to - from ? 0 : 1;
}

await (isMainThread ? main() : work());
