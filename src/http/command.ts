import { execFile } from "node:child_process";
import { commandOf, SecretFailure } from "./secrets.ts";

const mostBytes = 65_536;
/** Longest time for a command that prints a secret. */
const secretMs = 15_000;

/** What every program needs: where others are, and its own files. */
const always = ["PATH", "HOME"];

type Variables = Readonly<Record<string, string | undefined>>;

/** What a program that we start gets of our environment: the variables that are named. Others may hold secrets. */
export function environmentOf(names: readonly string[], environment: Variables): Variables {
  return Object.fromEntries([...always, ...names].map((name) => [name, environment[name]]));
}

/**
 * The secret that `command:PROGRAM` prints; undefined for another reference. It is run each time: what it prints may be
 * another one by then. Rejects with SecretFailure.
 */
export function commandSecret(reference: string, env: Variables): Promise<string> | undefined {
  const command = commandOf(reference);
  if (command.length === 0) return undefined;
  return outputOf(command, secretMs, env).then((output) => {
    const secret = output.replace(/\r?\n$/u, "");
    if (secret === "") throw new SecretFailure("command", "printed nothing", command[0]);
    return secret;
  });
}

/**
 * Runs a program for a token or a secret and gives what it prints: without a shell, with this environment alone. It is
 * ended if it takes too long or prints too much.
 * Rejects with SecretFailure, whose text names the program and its exit code and nothing that it printed.
 */
export function outputOf(command: readonly string[], timeoutMs: number, env: Variables): Promise<string> {
  const [program = "", ...parameters] = command;
  return new Promise((resolve, reject) => {
    const options = { env, timeout: timeoutMs, maxBuffer: mostBytes, killSignal: "SIGKILL" as const };
    try {
      execFile(program, parameters, options, (error, output) => {
        if (error === null) resolve(output);
        else reject(new SecretFailure("command", stateOf(error, timeoutMs), program));
      });
    } catch {
      reject(new SecretFailure("command", "cannot be started", program));
    }
  });
}

function stateOf(error: { code?: unknown; killed?: unknown; signal?: unknown }, timeoutMs: number): string {
  const { code, killed, signal } = error;
  if (code === "ERR_CHILD_PROCESS_STDIO_MAXBUFFER") return `printed more than ${mostBytes} bytes`;
  if (typeof code === "number") return `ended with exit code ${code}`;
  if (typeof code === "string") return `cannot be started (${code})`;
  if (killed === true) return `did not end within ${timeoutMs} ms`;
  return `was ended by ${String(signal)}`;
}
