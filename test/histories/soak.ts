import { parseArgs } from "node:util";
import { messageOf } from "../../src/base/errors.ts";
import { simulationFolder } from "../simulation/simulate.ts";
import { enabled, notEnabled } from "./edits.ts";
import { live } from "./world.ts";

/*
 * Random histories of a CRM for as many seeds as time allows: `npm run histories -- --seeds N [--from S] [--story]`.
 * Prints each seed that fails, and at the end what was run; exits 0 only where every platform held what its CRM said.
 * `--story` tells everything that happens in the first seed; `--restores any`
 * puts older copies of the ledger back, `--restores agreed` does where the platform holds what the CRM says.
 */
const { values } = parseArgs({
  options: {
    seeds: { type: "string", default: "1000" },
    from: { type: "string", default: "1" },
    story: { type: "boolean", default: false },
    restores: { type: "string" },
  },
});
const [from, count] = [Number(values.from), Number(values.seeds)];
const folder = simulationFolder();
const sums = {
  histories: 0,
  edits: 0,
  runs: 0,
  kills: 0,
  faults: 0,
  purchases: 0,
  deletions: 0,
  restores: 0,
  waiting: 0,
  failed: 0,
};
const began = performance.now();
for (let seed = from; seed < from + count; seed += 1) {
  const restores = values.restores === "any" || values.restores === "agreed" ? values.restores : undefined;
  const result = await live(seed, folder.path, enabled, { restores }).catch((error: unknown) => ({
    edits: 0,
    runs: 0,
    kills: 0,
    faults: 0,
    purchases: 0,
    deletions: 0,
    restores: 0,
    waiting: 0,
    story: [],
    wrong: [`it broke off: ${messageOf(error)}`],
  }));
  sums.histories += 1;
  for (const name of ["edits", "runs", "kills", "faults", "purchases", "deletions", "restores", "waiting"] as const)
    sums[name] += result[name];
  if (values.story && seed === from) process.stdout.write(`${result.story.join("\n")}\n`);
  if (result.wrong.length === 0) continue;
  sums.failed += 1;
  process.stdout.write(`seed ${seed}\n${result.wrong.map((text) => `  ${text}\n`).join("")}`);
}
folder.remove();
for (const text of notEnabled) process.stdout.write(`not in these histories: ${text}\n`);
const seconds = Math.round((performance.now() - began) / 1000);
process.stdout.write(`${JSON.stringify({ from, ...sums, seconds })}\n`);
process.exitCode = sums.failed === 0 ? 0 : 1;
