import type { Output } from "./output.ts";

/**
 * Signals that stop the program in order: the first aborts `stop`, another ends the process at once. Returns what ends
 * the listening.
 */
export function listenForSignals(stop: AbortController, output: Output): () => void {
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
  const onSignal = (signal: NodeJS.Signals): void => {
    // A terminal that closes may tell twice: by the system and by the shell.
    if (stop.signal.aborted && signal === "SIGHUP") return;
    if (stop.signal.aborted) process.exit(signal === "SIGINT" ? 130 : 143);
    output.note(`\n${signal}: calls in progress are finished, then it stops; once more ends it at once`);
    stop.abort(new Error("stopped"));
  };
  for (const signal of signals) process.on(signal, onSignal);
  return () => {
    for (const signal of signals) process.off(signal, onSignal);
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
