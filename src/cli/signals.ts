import type { Output } from "./output.ts";

/** The signals of this process, as long as it listens to them. */
export interface Signals {
  /** From now on SIGHUP calls this and stops nothing. */
  onHangUp: (listener: () => void) => void;
  end: () => void;
}

/** Signals that stop the program in order: the first aborts `stop`, another ends the process at once. */
export function listenForSignals(stop: AbortController, output: Output): Signals {
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
  let hungUp: (() => void) | undefined;
  const onSignal = (signal: NodeJS.Signals): void => {
    if (signal === "SIGHUP" && hungUp !== undefined) {
      hungUp();
      return;
    }
    // A terminal that closes may tell twice: by the system and by the shell.
    if (stop.signal.aborted && signal === "SIGHUP") return;
    if (stop.signal.aborted) process.exit(signal === "SIGINT" ? 130 : 143);
    output.note(`\n${signal}: calls in progress are finished, then it stops; once more ends it at once`);
    stop.abort(new Error("stopped"));
  };
  for (const signal of signals) process.on(signal, onSignal);
  return {
    onHangUp: (listener) => void (hungUp = listener),
    end() {
      for (const signal of signals) process.off(signal, onSignal);
    },
  };
}

/**
 * Nobody reads what is printed any more: a pipe whose reader has gone (EPIPE), a terminal that was closed (EIO). The
 * command comes to its end all the same, so that its exit code says what is true and no run is cut off.
 */
export function outliveReaders(): void {
  const onError = (error: NodeJS.ErrnoException): void => {
    if (error.code !== "EIO" && error.code !== "EPIPE") throw error;
  };
  process.stdout.on("error", onError);
  process.stderr.on("error", onError);
}
