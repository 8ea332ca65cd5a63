import { parseArgs } from "node:util";
import { simulate, simulationFolder } from "./simulate.ts";

const { values } = parseArgs({
  options: {
    seeds: { type: "string", default: "100" },
    from: { type: "string", default: "1" },
    story: { type: "boolean", default: false },
  },
});
const folder = simulationFolder();
const from = Number(values.from);
let bad = 0;
const sum = { kills: 0, faults: 0, settled: 0, runs: 0 };
const started = performance.now();
try {
  for (let seed = from; seed < from + Number(values.seeds); seed += 1) {
    try {
      const result = await simulate(seed, folder.path, { story: values.story });
      if (values.story) process.stdout.write(`${result.story.join("\n")}\n`);
      sum.kills += result.kills;
      sum.faults += result.faults;
      sum.settled += result.settled;
      sum.runs += result.runs;
      const all = [
        ...result.twice.map((text) => `TWICE ${text}`),
        ...result.lost.map((text) => `LOST ${text}`),
        ...result.wrong.map((text) => `WRONG ${text}`),
      ];
      if (all.length > 0) {
        bad += 1;
        process.stdout.write(`seed ${seed}:\n  ${all.join("\n  ")}\n`);
      }
    } catch (error) {
      bad += 1;
      process.stdout.write(`seed ${seed}: ${error instanceof Error ? error.stack : String(error)}\n`);
    }
  }
} finally {
  folder.remove();
}
process.stdout.write(
  `bad ${bad}; ${JSON.stringify(sum)} ${((performance.now() - started) / Number(values.seeds)).toFixed(0)} ms a seed\n`,
);
