import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { type Measured, type Subject, benchPath, measure } from "./measure.ts";

/** The program of one checkout, as its launcher starts it: the bundle, or the source where there is none. */
export interface Program {
  root: string;
  /** What its launcher runs, and what it tells Node besides. */
  script: string;
  nodeOptions: readonly string[];
  /** What its launcher sets in the environment where nobody else did. */
  environment: Readonly<Record<string, string>>;
  /** The commit that is checked out, with a + where files differ from it. */
  commit: string;
}

/** Has the launcher make the bundle, so that no measured start does. */
export function programIn(root: string): Program {
  execFileSync(join(root, "bin/crm-sync"), ["--version"], { stdio: ["ignore", "ignore", "inherit"] });
  const stamp = join(root, "dist/current");
  const script = existsSync(stamp) ? join(root, "dist", readFileSync(stamp, "utf8").trim(), "main.cjs") : "";
  const launcher = readFileSync(join(root, "bin/crm-sync"), "utf8");
  return {
    root,
    script: existsSync(script) ? script : join(root, "src/main.ts"),
    nodeOptions: launchedWith(launcher),
    environment: launchedIn(launcher),
    commit: commitOf(root),
  };
}

/** The options of Node that a launcher starts the program with. */
export function launchedWith(launcher: string): string[] {
  const line = /^ *exec (?:"\$\w+"|node) (?<options>.*)"\$(?:program|root\/src\/main\.ts)" "\$@"$/mu;
  const words = line.exec(launcher)?.groups?.["options"];
  if (words === undefined) throw new Error("the launcher does not say how it starts the program");
  return words.split(" ").filter((word) => word !== "");
}

/** What a launcher sets in the environment of the program where nobody else did. */
export function launchedIn(launcher: string): Record<string, string> {
  const set = launcher.matchAll(/^export (?<name>\w+)="\$\{\k<name>:-(?<value>\w+)\}"$/gmu);
  return Object.fromEntries([...set].map(({ groups = {} }) => [groups["name"] ?? "", groups["value"] ?? ""]));
}

/** The program that this bench belongs to. */
export function ownProgram(): Program {
  return programIn(benchPath("..").replace(/\/$/u, ""));
}

function commitOf(root: string): string {
  const git = (...words: string[]): string =>
    execFileSync("git", ["-C", root, ...words], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();
  try {
    const changed = git("status", "--porcelain", "--untracked-files=no", "--", "src", "migrations", "jobs");
    return `${git("rev-parse", "--short=12", "HEAD")}${changed === "" ? "" : "+"}`;
  } catch {
    return "unknown";
  }
}

/** Runs a command of the program to its end, as its user would, and gives what it says with `--json`. */
export async function crmSync<Result>(
  program: Program,
  configuration: string,
  command: readonly string[],
  schema: z.ZodType<Result>,
  measured: Pick<Subject, "nodeOptions" | "environment" | "exit"> = {},
): Promise<Measured<Result>> {
  const args = ["--config", configuration, "--json", ...command];
  const { script, nodeOptions, environment } = program;
  return await measure(
    {
      script,
      args,
      ...measured,
      nodeOptions: [...nodeOptions, ...(measured.nodeOptions ?? [])],
      environment: { ...environment, ...measured.environment },
    },
    schema,
  );
}

/** `run JOB --json` of a job that synchronises. */
export const runAnswer = z
  .object({
    exit: z.literal(0),
    balance: z.object({
      streams: z.array(z.object({ stream: z.string(), extracted: z.int(), unchanged: z.int() })),
      operations: z.object({ done: z.int() }),
    }),
  })
  .transform(({ balance }) => ({
    records: balance.streams.reduce((sum, { extracted }) => sum + extracted, 0),
    unchanged: balance.streams.reduce((sum, { unchanged }) => sum + unchanged, 0),
    done: balance.operations.done,
  }));

/** `run verify --json`. */
export const verifyAnswer = z
  .object({
    exit: z.literal(0),
    customers: z.int(),
    failed: z.literal(0),
    findings: z.object({ counts: z.record(z.string(), z.literal(0)) }),
  })
  .transform(({ customers }) => ({ records: customers, unchanged: 0, done: 0 }));
