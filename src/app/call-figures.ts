import type { Clock } from "../base/clock.ts";
import type { ServiceName } from "../contract/endpoints.ts";
import { troubledOutcomes } from "../http/seen-call.ts";
import type { SeenCall } from "../http/seen-call.ts";

/** How a service was in the last five minutes, or since the program began where that is less. */
export interface ServiceFigures {
  /** Over how long, in milliseconds. */
  overMs: number;
  /** Calls that were sent, repetitions counted each. */
  calls: number;
  callsPerSecond: number;
  /** Share of them, 0 to 1, for which the service or the way to it is to blame; undefined where there was no call. */
  errorShare: number | undefined;
  /** Half of the answers took no longer, in milliseconds, to within 7 %; undefined where there was none. */
  p50Ms: number | undefined;
  /** The same of 95 of 100. */
  p95Ms: number | undefined;
}

const windowMs = 300_000;
const slotMs = 5_000;
const slotCount = windowMs / slotMs;
/** The first bucket ends here, each other one an eighth above the one before: the last one ends at 23 minutes. */
const firstMs = 0.25;
const growth = 1.125;
const bucketCount = 132;

/** Calls of one service in five seconds. */
interface Slot {
  /** Which five seconds of the clock. */
  number: number;
  calls: number;
  troubled: number;
  /** Calls by how long they took. */
  took: Uint32Array;
}

/**
 * Calls of each service in a window that moves along, in memory that does not grow with their number. It is subscribed
 * to `application.observed.calls`: `observed.calls.subscribe((call) => figures.note(call))`.
 */
export class CallFigures {
  readonly #clock: Pick<Clock, "monotonic">;
  readonly #began: number;
  readonly #slots = new Map<ServiceName, Slot[]>();

  constructor(clock: Pick<Clock, "monotonic">) {
    this.#clock = clock;
    this.#began = clock.monotonic();
  }

  note({ service, outcome, ms }: SeenCall): void {
    if (outcome === "not-sent") return;
    const slot = this.#slotOfNow(service);
    slot.calls += 1;
    if (troubledOutcomes.has(outcome)) slot.troubled += 1;
    const bucket = bucketOf(ms);
    slot.took[bucket] = (slot.took[bucket] ?? 0) + 1;
  }

  of(service: ServiceName): ServiceFigures {
    const now = this.#clock.monotonic();
    const oldest = Math.floor(now / slotMs) - slotCount + 1;
    const slots = (this.#slots.get(service) ?? []).filter(({ number }) => number >= oldest);
    const calls = slots.reduce((sum, slot) => sum + slot.calls, 0);
    const troubled = slots.reduce((sum, slot) => sum + slot.troubled, 0);
    const overMs = Math.max(1, Math.min(now - this.#began, now - oldest * slotMs));
    const took = new Uint32Array(bucketCount);
    for (const slot of slots)
      for (const [bucket, count] of slot.took.entries()) took[bucket] = (took[bucket] ?? 0) + count;
    return {
      overMs,
      calls,
      callsPerSecond: (calls * 1_000) / overMs,
      errorShare: calls === 0 ? undefined : troubled / calls,
      p50Ms: quantile(took, calls, 0.5),
      p95Ms: quantile(took, calls, 0.95),
    };
  }

  #slotOfNow(service: ServiceName): Slot {
    let slots = this.#slots.get(service);
    if (slots === undefined) this.#slots.set(service, (slots = []));
    const number = Math.floor(this.#clock.monotonic() / slotMs);
    let slot = slots[number % slotCount];
    if (slot === undefined) {
      while (slots.length < slotCount)
        slots.push({ number: -1, calls: 0, troubled: 0, took: new Uint32Array(bucketCount) });
      slot = slots[number % slotCount];
    }
    if (slot === undefined) throw new TypeError("a slot is missing");
    if (slot.number === number) return slot;
    slot.took.fill(0);
    return Object.assign(slot, { number, calls: 0, troubled: 0 });
  }
}

function bucketOf(ms: number): number {
  if (ms <= firstMs) return 0;
  return Math.min(bucketCount - 1, Math.ceil(Math.log(ms / firstMs) / Math.log(growth)));
}

/** The middle of the bucket in which that share of the calls is reached. */
function quantile(took: Uint32Array, calls: number, share: number): number | undefined {
  if (calls === 0) return undefined;
  let reached = 0;
  for (const [bucket, count] of took.entries()) {
    reached += count;
    if (reached >= calls * share) return (firstMs * growth ** bucket) / Math.sqrt(growth);
  }
  return undefined;
}
