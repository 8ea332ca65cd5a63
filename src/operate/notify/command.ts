import { spawn } from "node:child_process";
import { environmentOf } from "../../http/command.ts";
import type { Send } from "./channel.ts";

/**
 * Starts a program without a shell, gives it the message on standard input and waits for exit code 0. Of the
 * environment it gets the variables that are named: the others may hold secrets.
 */
export const toCommand: Send<{
  command: readonly string[];
  environment: readonly string[];
  timeoutMs: number;
}> = async (message, { command, environment, timeoutMs }, deps) => {
  const env = environmentOf(environment, deps.environment);
  const [program = "", ...args] = command;
  const signal = AbortSignal.timeout(timeoutMs);
  await new Promise<void>((resolve, reject) => {
    const child = spawn(program, args, { stdio: ["pipe", "ignore", "ignore"], env, signal, killSignal: "SIGKILL" });
    child.on("error", (error) =>
      reject(signal.aborted ? new Error(`the command took longer than ${timeoutMs} ms`) : error),
    );
    child.on("exit", (code, ended) => {
      if (code === 0) resolve();
      else
        reject(
          new Error(code === null ? `the command was ended by ${ended}` : `the command ended with exit code ${code}`),
        );
    });
    // A program that does not read its input is told by its exit code, not by a broken pipe.
    child.stdin.on("error", () => {});
    child.stdin.end(`${JSON.stringify(message)}\n`);
  });
  return {};
};
