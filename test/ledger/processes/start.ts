import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { onTestFinished } from "vitest";

/** A process of this folder, its lines as they come, and its end by SIGKILL. */
export interface Started {
  child: ChildProcess;
  lines: string[];
  /** Resolves once this many lines are there, or the process has ended. */
  until(lines: number): Promise<void>;
  kill(): Promise<void>;
}

export function start(name: string, ...parameters: string[]): Started {
  const child = spawn(process.execPath, [join(import.meta.dirname, name), ...parameters], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const lines: string[] = [];
  const waiting: { count: number; resolve: () => void }[] = [];
  let ended = false;
  const wake = (): void => {
    for (const one of waiting.filter((item) => ended || lines.length >= item.count)) one.resolve();
  };
  const input = createInterface({ input: child.stdout });
  input.on("line", (line) => {
    lines.push(line);
    wake();
  });
  const closed = once(input, "close").then(() => {
    ended = true;
    wake();
  });
  const kill = async (): Promise<void> => {
    if (child.exitCode === null && child.signalCode === null) child.kill("SIGKILL");
    await closed;
  };
  onTestFinished(kill);
  return {
    child,
    lines,
    until: async (count) =>
      await new Promise((resolve) => {
        waiting.push({ count, resolve });
        wake();
      }),
    kill,
  };
}
