/** A call on its way. */
interface Call {
  fail(reason: string): void;
}

/**
 * The calls of one transport that are on their way, all with the same time-out: one timer serves them all, and one
 * listener each signal, since setting and taking back either for every call costs as much as the call's own work.
 */
export class Underway {
  readonly #timeoutMs: number;
  /** In the order in which they began, in which they take too long, too: each with its end and its signal. */
  readonly #calls = new Map<Call, { endsAt: number; signal: AbortSignal | undefined }>();
  readonly #bySignal = new Map<AbortSignal, { calls: Set<Call>; stop: () => void }>();
  #timer: NodeJS.Timeout | undefined;

  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs;
  }

  add(call: Call, signal: AbortSignal | undefined): void {
    this.#calls.set(call, { endsAt: performance.now() + this.#timeoutMs, signal });
    if (this.#timer === undefined) this.#wait(this.#timeoutMs);
    if (signal !== undefined) this.#listen(signal).add(call);
  }

  delete(call: Call): void {
    const signal = this.#calls.get(call)?.signal;
    this.#calls.delete(call);
    if (signal !== undefined) this.#bySignal.get(signal)?.calls.delete(call);
  }

  /** The calls that end with a signal. */
  #listen(signal: AbortSignal): Set<Call> {
    const known = this.#bySignal.get(signal);
    if (known !== undefined) return known.calls;
    const calls = new Set<Call>();
    const stop = (): void => {
      this.#bySignal.delete(signal);
      for (const call of calls) call.fail("stopped");
    };
    signal.addEventListener("abort", stop, { once: true });
    this.#bySignal.set(signal, { calls, stop });
    return calls;
  }

  /** To signals of which no call is on its way: most have the next one at once. */
  #stopListening(): void {
    for (const [signal, { calls, stop }] of this.#bySignal) {
      if (calls.size > 0) continue;
      signal.removeEventListener("abort", stop);
      this.#bySignal.delete(signal);
    }
  }

  /** The sockets of the calls keep the process alive, not the timer. */
  #wait(ms: number): void {
    this.#timer = setTimeout(() => this.#endLate(), ms);
    this.#timer.unref();
  }

  #endLate(): void {
    const now = performance.now();
    const late = [...this.#calls].filter(([, { endsAt }]) => endsAt <= now);
    for (const [call] of late) call.fail("the call took too long");
    this.#stopListening();
    this.#timer = undefined;
    const [next] = this.#calls.values();
    if (next !== undefined) this.#wait(Math.max(1, Math.ceil(next.endsAt - now)));
  }
}
