import type { Clock } from "../base/clock.ts";

export type CircuitState =
  | { state: "closed" }
  | { state: "open"; reason: string; probeInMs: number }
  | { state: "half-open"; reason: string };

export type Permit = { kind: "pass" } | { kind: "probe" } | { kind: "refused"; reason: string };

/** Not cockatiel or opossum: they wrap the call and read the wall clock. Here the intent follows the permit. */
export interface Circuit {
  /** A `probe` must be followed by `success`, `failure` or `release`. */
  ask(): Permit;
  refusal(): string | undefined;
  probeEnds(): Promise<void> | undefined;
  success(permit: Permit): void;
  /** No answer, 5xx, no JSON, or "500". */
  failure(permit: Permit, reason: string): void;
  /** The call says nothing about the service. */
  release(permit: Permit): void;
  /** An unlisted code for three customers within five minutes opens the circuit (A2). */
  unlistedCode(permit: Permit, code: string, customer: string): void;
  state(): CircuitState;
}

const unlistedWindowMs = 300_000;
const unlistedCustomers = 3;

export function createCircuit(options: {
  failures: number;
  openMs: number;
  clock: Clock;
  onChange?: (state: CircuitState) => void;
}): Circuit {
  const { clock, openMs } = options;
  let failuresInRow = 0;
  let opened: { reason: string; until: number; lastedMs: number } | undefined;
  let probe: { ended: Promise<void>; end: () => void } | undefined;
  const unlisted = new Map<string, number>();

  function endProbe(): void {
    probe?.end();
    probe = undefined;
  }

  function open(reason: string): void {
    const lastedMs = opened === undefined ? openMs : Math.min(opened.lastedMs * 2, openMs * 20);
    opened = { reason, until: clock.monotonic() + lastedMs, lastedMs };
    endProbe();
    options.onChange?.(state());
  }

  function close(): void {
    if (opened === undefined) return;
    opened = undefined;
    endProbe();
    unlisted.clear();
    options.onChange?.(state());
  }

  function state(): CircuitState {
    if (opened === undefined) return { state: "closed" };
    if (probe !== undefined) return { state: "half-open", reason: opened.reason };
    return { state: "open", reason: opened.reason, probeInMs: Math.max(0, opened.until - clock.monotonic()) };
  }

  function refusal(): string | undefined {
    if (opened === undefined) return undefined;
    if (probe !== undefined)
      return `the circuit is half-open, one call tries the service again after: ${opened.reason}`;
    return opened.until > clock.monotonic() ? `the circuit is open after: ${opened.reason}` : undefined;
  }

  return {
    refusal,
    probeEnds: () => probe?.ended,
    state,
    ask() {
      const reason = refusal();
      if (reason !== undefined) return { kind: "refused", reason };
      if (opened === undefined) return { kind: "pass" };
      let end = (): void => {};
      const ended = new Promise<void>((resolve) => {
        end = resolve;
      });
      probe = { ended, end };
      return { kind: "probe" };
    },
    success(permit) {
      failuresInRow = 0;
      // A call that began before the circuit opened does not close it.
      if (permit.kind === "probe") close();
    },
    failure(permit, reason) {
      failuresInRow += 1;
      if (permit.kind === "probe" || (opened === undefined && failuresInRow >= options.failures)) open(reason);
    },
    release(permit) {
      if (permit.kind === "probe") endProbe();
    },
    unlistedCode(permit, code, customer) {
      const now = clock.monotonic();
      for (const [seen, at] of unlisted) if (now - at > unlistedWindowMs) unlisted.delete(seen);
      unlisted.set(customer, now);
      const reason = `code ${code}, which the contract does not list`;
      if (permit.kind === "probe") open(reason);
      else if (opened === undefined && unlisted.size >= unlistedCustomers)
        open(`${reason}, met for ${unlisted.size} customers within five minutes`);
    },
  };
}
