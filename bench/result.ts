import { execFileSync } from "node:child_process";
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { availableParallelism, cpus, loadavg } from "node:os";
import { z } from "zod";
import { statementsOfSchema } from "./books/statements.ts";
import { checkRoundSchema } from "./check.ts";
import { historiesSchema } from "./history.ts";
import { slowRoundSchema } from "./latency.ts";
import { livezSchema } from "./livez.ts";
import { ofPrograms, type Programs } from "./measuring.ts";
import { pageGrowthSchema } from "./page-growth.ts";
import { pagesSchema } from "./pages.ts";
import { partsSchema } from "./parts.ts";
import { profilesSchema } from "./profile.ts";
import { largeSchema, roundSchema } from "./road.ts";
import { scaledSchema } from "./scale/scaled.ts";
import { startsOfSchema } from "./starts.ts";

/** Every figure of every round, as `--json` writes it. What was not measured is absent. */
export const resultSchema = z.object({
  format: z.literal(1),
  at: z.string(),
  /** Commits, with a + where files differed from it. */
  commits: ofPrograms(z.string()),
  machine: z.object({
    node: z.string(),
    cpu: z.string(),
    cores: z.int(),
    system: z.string(),
    /** Processes that wanted to run when the measuring began. */
    load: z.number(),
  }),
  check: z.array(checkRoundSchema).optional(),
  pageGrowth: pageGrowthSchema.optional(),
  rounds: z.array(roundSchema).optional(),
  latency: z.array(slowRoundSchema).optional(),
  large: largeSchema.optional(),
  history: historiesSchema.optional(),
  parts: ofPrograms(partsSchema).optional(),
  starts: startsOfSchema.optional(),
  profile: profilesSchema.optional(),
  statements: statementsOfSchema.optional(),
  pages: ofPrograms(pagesSchema).optional(),
  livez: livezSchema.optional(),
  scale: z.array(scaledSchema).optional(),
});
export type Result = z.infer<typeof resultSchema>;

/** A result in which nothing was measured yet. */
export function emptyResult({ now, before }: Programs): Result {
  return {
    format: 1,
    at: new Date().toISOString(),
    commits: before === undefined ? { now: now.commit } : { now: now.commit, before: before.commit },
    machine: {
      node: process.version,
      cpu: cpus()[0]?.model ?? "unknown",
      cores: availableParallelism(),
      system: execFileSync("uname", ["-sr"], { encoding: "utf8" }).trim(),
      load: Number((loadavg()[0] ?? 0).toFixed(2)),
    },
  };
}

export function readResult(path: string): Result {
  return resultSchema.parse(JSON.parse(readFileSync(path, "utf8")));
}

/** Writes the file at once or not at all. */
export function writeResult(path: string, result: Result): void {
  writeFileSync(`${path}.new`, `${JSON.stringify(result, rounded, 1)}\n`);
  renameSync(`${path}.new`, path);
}

/** Six digits say more than any of these figures can. */
function rounded(_: string, value: unknown): unknown {
  return typeof value === "number" && !Number.isInteger(value) ? Number(value.toPrecision(6)) : value;
}
