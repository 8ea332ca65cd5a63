/**
 * A process of the program that is kept: it carries one command line out after the other, each in the folder and with
 * the environment that comes with it, as `src/main.ts` does for one. A command line is over when nothing of it keeps
 * the process alive.
 */
import { writeSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { main } from "../../src/cli/program.ts";
import type { StartHealth } from "../../src/app/health.ts";

/** A command line to carry out. What it says ends, on stdout and on stderr, with the mark. */
export interface Asked {
  words: readonly string[];
  folder: string;
  environment: Readonly<Record<string, string>>;
  mark: string;
}

/** How it ended. */
export interface Answered {
  code: number;
}

const startHealth: StartHealth = async (deps) => (await import("../../src/web/health.ts")).startHealthServer(deps);

/** What keeps this process alive. */
function alive(): string {
  return process.getActiveResourcesInfo().toSorted().join(" ");
}

async function carryOut({ words, folder, environment, mark }: Asked): Promise<void> {
  process.chdir(folder);
  for (const name of Object.keys(process.env)) if (!(name in environment)) delete process.env[name];
  Object.assign(process.env, environment);
  const code = await main(words, process.env, startHealth);
  while (alive() !== idle) await pause(1);
  for (const stream of [process.stdout, process.stderr]) stream.removeAllListeners("error");
  await new Promise((resolve) => process.stdout.write(mark, resolve));
  writeSync(2, mark);
  process.send?.({ code } satisfies Answered);
}

// Each application brings listeners of its own, and many are opened here.
process.setMaxListeners(0);
process.on("disconnect", () => process.exit());
process.on("message", (asked: Asked) => void carryOut(asked));
// The streams are open before anything is counted.
process.stdout.write("");
process.stderr.write("");
const idle = alive();
