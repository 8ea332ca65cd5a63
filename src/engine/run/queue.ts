import type { RecordKey } from "../../crm/model.ts";
import type { RunDependencies, RunRequest } from "./request.ts";
import { toInstant } from "../../base/clock.ts";
import { workInLanes } from "../../base/lanes.ts";
import { formatKey } from "../../crm/keys.ts";

const page = 200;

/** In pages, so that memory does not grow with the number of customers. */
export async function* pendingCustomers(deps: RunDependencies, request: RunRequest): AsyncGenerator<RecordKey[]> {
  const { scope, expected, asked } = request;
  const { ledger } = deps;
  if (asked !== undefined) {
    yield [asked];
    return;
  }
  if (expected !== undefined) {
    yield [...expected.values()].map((entry) => entry.customer);
    return;
  }
  if (scope?.customer !== undefined) {
    await ledger.journal.retryRejected({ customer: scope.customer });
    await ledger.records.markPending({ customer: scope.customer });
    yield [scope.customer];
    return;
  }
  if (scope?.order !== undefined) {
    await ledger.journal.retryRejected({ order: scope.order });
    await ledger.records.markPending({ order: scope.order });
    const customer = await ledger.records.customerOfOrder(scope.order);
    if (customer !== undefined) yield [customer];
    return;
  }
  if (scope?.source !== undefined) {
    const { source, since } = scope;
    await ledger.journal.retryRejected({ source });
    await ledger.records.markPending({ source, ...(since === undefined ? {} : { since }) });
  }
  await ledger.journal.lookAgain();
  let after: RecordKey | undefined;
  for (;;) {
    const keys = await ledger.records.pendingCustomers(after, page);
    if (keys.length === 0) return;
    after = keys.at(-1);
    yield keys;
  }
}

/** In milliseconds, between two checks for due customers. */
const shortestPause = 50;

interface WaitDependencies extends Pick<RunDependencies, "clock" | "settle" | "concurrency"> {
  signal: AbortSignal | undefined;
  attempt(customer: RecordKey): Promise<void>;
  attempted(customers: readonly RecordKey[]): Promise<void>;
}

export class SettleWait {
  readonly #deps: WaitDependencies;
  /** `until`: epoch milliseconds. */
  readonly #waiting = new Map<string, { customer: RecordKey; until: number }>();

  constructor(deps: WaitDependencies) {
    this.#deps = deps;
  }

  get #stopped(): boolean {
    return this.#deps.signal?.aborted === true;
  }

  get size(): number {
    return this.#waiting.size;
  }

  add(customer: RecordKey, until: string = toInstant(this.#deps.clock.now())): void {
    this.#waiting.set(formatKey(customer), { customer, until: Date.parse(until) });
  }

  /** Waits at most `settle.maxWaitMs`, and makes passes over due customers. */
  async wait(): Promise<void> {
    const { clock, settle, signal, concurrency } = this.#deps;
    const deadline = clock.monotonic() + settle.maxWaitMs;
    while (this.#waiting.size > 0 && !this.#stopped) {
      const next = this.#waiting.values().reduce((least, { until }) => Math.min(least, until), Infinity);
      const pause = Math.max(shortestPause, next - clock.now());
      if (clock.monotonic() + pause > deadline) return;
      await clock.sleep(pause, signal);
      const waiting = [...this.#waiting.values()];
      const due = waiting.filter(({ until }) => until <= clock.now()).map(({ customer }) => customer);
      await workInLanes([due], { lanes: concurrency, stopped: () => this.#stopped }, async (customer) => {
        this.#waiting.delete(formatKey(customer));
        await this.#deps.attempt(customer);
      });
      await this.#deps.attempted(due);
    }
  }
}
