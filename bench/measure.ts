import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { z } from "zod";

export const costSchema = z.object({
  wallSeconds: z.number(),
  /** User and system time of all its threads. */
  cpuSeconds: z.number(),
  /** Largest resident size. */
  peakMegabytes: z.number(),
});

/** What one process cost, from its start to its end, measured from outside. */
export type Cost = z.infer<typeof costSchema>;

export type Measured<Result> = Cost & {
  /** What the program said of itself: the last line of its output. */
  result: Result;
};

const usageSchema = costSchema.omit({ wallSeconds: true });

/** The path of a file of this folder. */
export function benchPath(name: string): string {
  return fileURLToPath(new URL(name, import.meta.url));
}

/** A process to measure: what it is told, and what Node is told besides. */
export interface Subject {
  script: string;
  args: readonly string[];
  nodeOptions?: readonly string[];
  environment?: Readonly<Record<string, string>>;
  /** The exit code that it is to end with; 0 where it is left out. */
  exit?: number;
}

/** Runs a process to its end. Rejects when it fails, or when its last line is not what `schema` wants. */
export async function measure<Result>(subject: Subject, schema: z.ZodType<Result>): Promise<Measured<Result>> {
  const { script, args, nodeOptions = [], environment = {}, exit = 0 } = subject;
  const started = performance.now();
  const child = spawn(process.execPath, [...nodeOptions, "--require", benchPath("usage.cjs"), script, ...args], {
    stdio: ["ignore", "pipe", "inherit", "pipe"],
    env: { ...process.env, ...environment },
  });
  const said = { output: "", usage: "" };
  child.stdout?.on("data", (chunk: Buffer) => (said.output += chunk.toString()));
  child.stdio[3]?.on("data", (chunk: Buffer) => (said.usage += chunk.toString()));
  let ended = started;
  child.once("exit", () => (ended = performance.now()));
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  });
  const words = `${script} ${args.join(" ")}`;
  if (code !== exit) throw new Error(`${words} ended with exit code ${String(code)}: ${said.output.slice(-2_000)}`);
  const line = said.output.trimEnd().split("\n").at(-1) ?? "";
  return {
    wallSeconds: (ended - started) / 1_000,
    ...usageSchema.parse(JSON.parse(said.usage)),
    result: schema.parse(JSON.parse(line)),
  };
}

/** `--name value` for each of them. */
export function words(options: Readonly<Record<string, string | number>>): string[] {
  return Object.entries(options).flatMap(([name, value]) => [`--${name}`, String(value)]);
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
