import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { z } from "zod";

/** What one process cost, from its start to its end, measured from outside. */
export interface Cost {
  wallSeconds: number;
  /** User and system time of all its threads. */
  cpuSeconds: number;
  /** Largest resident size. */
  peakMegabytes: number;
}

export interface Measured<Result> extends Cost {
  /** What the program said of itself: the last line of its output. */
  result: Result;
}

const usageSchema = z.object({ cpuSeconds: z.number(), peakMegabytes: z.number() });

/** The path of a file of this folder. */
export function benchPath(name: string): string {
  return fileURLToPath(new URL(name, import.meta.url));
}

/**
 * Runs one of the measured programs with `--name value` arguments to its end. Rejects when it fails or says something
 * unexpected.
 */
export async function measure<Result>(
  script: string,
  options: Readonly<Record<string, string | number>>,
  schema: z.ZodType<Result>,
  nodeOptions: readonly string[] = [],
): Promise<Measured<Result>> {
  const values = Object.entries(options).flatMap(([name, value]) => [`--${name}`, String(value)]);
  const started = performance.now();
  const child = spawn(
    process.execPath,
    [...nodeOptions, "--import", benchPath("usage.ts"), benchPath(script), ...values],
    { stdio: ["ignore", "pipe", "inherit", "pipe"] },
  );
  const said = { output: "", usage: "" };
  child.stdout?.on("data", (chunk: Buffer) => (said.output += chunk.toString()));
  child.stdio[3]?.on("data", (chunk: Buffer) => (said.usage += chunk.toString()));
  let ended = started;
  child.once("exit", () => (ended = performance.now()));
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  });
  if (code !== 0) throw new Error(`${script} ended with exit code ${String(code)}: ${said.output.slice(-2_000)}`);
  const line = said.output.trimEnd().split("\n").at(-1) ?? "";
  return {
    wallSeconds: (ended - started) / 1_000,
    ...usageSchema.parse(JSON.parse(said.usage)),
    result: schema.parse(JSON.parse(line)),
  };
}

/** The wall time of a command in seconds; its output is dropped. Undefined where it cannot be started or fails. */
export async function timeOf(command: string, values: readonly string[]): Promise<number | undefined> {
  const started = performance.now();
  return await new Promise((resolve) => {
    const child = spawn(command, values, { stdio: "ignore" });
    child.once("error", () => resolve(undefined));
    child.once("exit", (code) => resolve(code === 0 ? (performance.now() - started) / 1_000 : undefined));
  });
}

/** The middle one of several figures; of an even number, the mean of the two in the middle. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((left, right) => left - right);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle];
  if (upper === undefined) throw new Error("there is no median of nothing");
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? upper) + upper) / 2;
}
