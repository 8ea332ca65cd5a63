/** Waits for a shared promise, but no longer than this caller wants to; the others go on waiting. */
export function abortable<T>(shared: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return shared;
  if (signal.aborted) return Promise.reject(signal.reason instanceof Error ? signal.reason : new Error("stopped"));
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason instanceof Error ? signal.reason : new Error("stopped"));
    signal.addEventListener("abort", stop, { once: true });
    shared.then(resolve, reject).finally(() => signal.removeEventListener("abort", stop));
  });
}
