import type { Output } from "./output.ts";

/**
 * Signals that stop the program in order: the first aborts `stop`, another ends the process at once. Gives what takes
 * the listeners away.
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

/** What happens where nobody reads what is printed any more; `exit` is the exit code so far. */
export function endWithItsReader(stop: AbortSignal, exit: () => number): void {
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    // Nobody reads a terminal that was closed (EIO), nor what a stopped run says at its end: it still comes to its end
    // in order.
    if (error.code === "EIO" || (error.code === "EPIPE" && stop.aborted)) return;
    if (error.code === "EPIPE") process.exit(exit());
    throw error;
  });
  process.stderr.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EIO" && error.code !== "EPIPE") throw error;
  });
}
