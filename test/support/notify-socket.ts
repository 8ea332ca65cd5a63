import { spawn, spawnSync } from "node:child_process";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { folder } from "./world/start.ts";

/** A datagram socket of a file, as a service manager listens on, held by python3: Node has none of this kind. */

const listen = `
import socket, sys
manager = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
manager.bind(sys.argv[1])
print("listening", flush=True)
while True:
    text = manager.recv(65536).decode()
    # The sender waits until this was read, and asks for it without a word of its own.
    if text and text != "BARRIER=1":
        print(text.replace("\\n", "\\t"), flush=True)
`;

const missing = ["python3", "systemd-notify"].filter((program) => spawnSync(program, ["--version"]).status !== 0);

/** Programs that are missing to listen as a service manager; undefined: none. */
export const untold: string | undefined = missing.length === 0 ? undefined : missing.join(", ");

export interface NotifySocket {
  readonly path: string;
  /** What was told so far, in its order, each with its variables. */
  readonly all: readonly string[][];
  /** Waits until a variable was told that many times (once). */
  told(variable: string, times?: number): Promise<void>;
}

/** Listens until the test is over. */
export async function notifySocket(): Promise<NotifySocket> {
  const path = join(folder(), "notify");
  const child = spawn("python3", ["-c", listen, path], { stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => void child.kill());
  const all: string[][] = [];
  const listeners = new Set<() => void>();
  let rest = "";
  let ready = (): void => {};
  const listening = new Promise<void>((resolve) => (ready = resolve));
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines)
      if (line === "listening") ready();
      else all.push(line.split("\t"));
    for (const listener of listeners) listener();
  });
  await listening;
  return {
    path,
    all,
    told: (variable, times = 1) =>
      new Promise((resolve) => {
        const look = (): void => {
          if (all.flat().filter((item) => item === variable).length < times) return;
          listeners.delete(look);
          resolve();
        };
        listeners.add(look);
        look();
      }),
  };
}
