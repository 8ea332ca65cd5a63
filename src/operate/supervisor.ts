import { spawn } from "node:child_process";
import type { Clock } from "../base/clock.ts";
import { messageOf } from "../base/errors.ts";
import type { Logger } from "../base/logger.ts";
import type { Environment } from "../config/load.ts";

/** What runs the program as a service, such as systemd, and is told how it stands. Nothing here ever rejects. */
interface Supervisor {
  ready(status: string): void;
  stopping(): void;
  status(text: string): void;
  /** Ends the signs of life; resolves when all that was told has been handed over. */
  end(): Promise<void>;
}

/** The program that hands a datagram to the socket of the service manager: Node has no datagrams of this kind. */
const teller = "systemd-notify";
const tellerMs = 10_000;

/**
 * The service manager that started this process, by the protocol of sd_notify: `NOTIFY_SOCKET` says where it listens,
 * `WATCHDOG_USEC` that it wants signs of life. Without a socket nobody is told anything. The signs of life are given by
 * the same loop of events that does all the work, so that none comes when it hangs.
 */
export function supervisorOf(
  environment: Environment,
  own: { pid: number },
  { clock, logger }: { clock: Clock; logger: Logger },
): Supervisor {
  const socket = environment["NOTIFY_SOCKET"];
  if (socket === undefined || socket === "") return nobody;
  let last = Promise.resolve();
  let complained = false;
  // One after the other: READY must not come in before the STOPPING that was told before it.
  const tell = (...variables: string[]): void => {
    last = last.then(async () => {
      try {
        await handOver(variables, { PATH: environment["PATH"], NOTIFY_SOCKET: socket });
      } catch (error) {
        if (complained) return;
        complained = true;
        logger.warn(
          { event: "supervisor.untold", reason: messageOf(error) },
          `the service manager cannot be told how the program stands: ${teller} could not do it; install it, or use ` +
            "Type=exec without a watchdog",
        );
      }
    });
  };
  const ended = new AbortController();
  const interval = watchdogMs(environment, own.pid);
  if (interval !== undefined) void signsOfLife(() => tell("WATCHDOG=1"), interval, clock, ended.signal);
  return {
    ready: (status) => tell("READY=1", `STATUS=${oneLine(status)}`),
    stopping: () => tell("STOPPING=1", "STATUS=stopping: calls in progress come to their end"),
    status: (text) => tell(`STATUS=${oneLine(text)}`),
    async end() {
      ended.abort();
      await last;
    },
  };
}

const nobody: Supervisor = {
  ready: () => {},
  stopping: () => {},
  status: () => {},
  end: async () => {},
};

/** How often signs of life are given: twice in the time after which a process without them counts as hanging. */
function watchdogMs(environment: Environment, pid: number): number | undefined {
  const microseconds = Number(environment["WATCHDOG_USEC"]);
  const whose = environment["WATCHDOG_PID"];
  if (!(microseconds > 0) || (whose !== undefined && whose !== String(pid))) return undefined;
  return microseconds / 1_000 / 2;
}

async function signsOfLife(give: () => void, everyMs: number, clock: Clock, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    give();
    await clock.sleep(everyMs, signal).catch(() => {});
  }
}

/** A line end would begin another variable. */
function oneLine(text: string): string {
  return text.replace(/\s+/gu, " ");
}

async function handOver(variables: readonly string[], environment: NodeJS.ProcessEnv): Promise<void> {
  const signal = AbortSignal.timeout(tellerMs);
  await new Promise<void>((resolve, reject) => {
    const child = spawn(teller, variables, { stdio: "ignore", env: environment, signal, killSignal: "SIGKILL" });
    child.on("error", reject);
    child.on("exit", (code) => (code === 0 ? resolve() : reject(new Error(`${teller} ended with ${code}`))));
  });
}
