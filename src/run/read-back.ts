import { messageOf } from "../base/errors.ts";
import { formatKey } from "../crm/keys.ts";
import type { RecordKey } from "../crm/model.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { LinkedCustomer } from "../ledger/state/links.ts";
import type { SnapshotReader } from "../platform/snapshot.ts";
import { workInLanes } from "./lanes.ts";
import type { RunDependencies, RunRequest } from "./request.ts";
import { verifyCustomer } from "./verify.ts";
import type { Verified } from "./verify.ts";

/** Customers that are taken from the ledger at once. */
const page = 200;

/** Customers whose observations are kept in one transaction. */
const keptTogether = 100;

/** How many customers were read back, and what the platform showed of them. */
export interface ReadBack {
  customers: number;
  failed: number;
  assets: number;
  products: number;
  members: number;
}

/**
 * Reads every linked customer back. A customer that could not be read stops no other; one that was linked with another
 * enterprise meanwhile is read again.
 */
export async function readBack(
  deps: RunDependencies,
  request: Pick<RunRequest, "signal">,
  reader: SnapshotReader,
  summary: ReadBack,
): Promise<void> {
  const { ledger } = deps;
  const keeping = new Keeping(deps, summary);
  const stopped = (): boolean => request.signal?.aborted === true;
  const read = async (customer: LinkedCustomer): Promise<void> => {
    try {
      await keeping.add(await verifyCustomer(reader, customer, request.signal));
    } catch (error) {
      if (ledger.broken !== undefined) throw error;
      // A call that a person's stop ended says nothing of the service.
      if (stopped()) return;
      await keeping.failed(customer.customer, error);
    }
    deps.progress("verifying", keeping.read, undefined);
  };
  for (let customers = linkedCustomers(ledger); ;) {
    await workInLanes(customers, { lanes: deps.concurrency, stopped }, read);
    await keeping.end();
    const again = keeping.linkedOtherwise.splice(0);
    if (again.length === 0 || stopped()) return;
    customers = each(again);
  }
}

/** The linked customers in key order, taken from the ledger by the page. */
async function* linkedCustomers(ledger: Ledger): AsyncGenerator<LinkedCustomer, void, void> {
  for (let after: RecordKey | undefined; ;) {
    const customers = await ledger.state.linkedCustomers(after, page);
    if (customers.length === 0) return;
    yield* customers;
    after = customers.at(-1)?.customer;
  }
}

async function* each(customers: readonly LinkedCustomer[]): AsyncGenerator<LinkedCustomer, void, void> {
  yield* customers;
}

/** Keeps what was read back of several customers with one flush of the disk: nothing is sent on the strength of it. */
class Keeping {
  readonly #deps: Pick<RunDependencies, "ledger" | "logger">;
  readonly #summary: ReadBack;
  #waiting: Verified[] = [];
  /** Customers whose link is another by now: what was read of them was not kept. */
  readonly linkedOtherwise: LinkedCustomer[] = [];

  constructor(deps: Pick<RunDependencies, "ledger" | "logger">, summary: ReadBack) {
    this.#deps = deps;
    this.#summary = summary;
  }

  async add(verified: Verified): Promise<void> {
    this.#waiting.push(verified);
    if (this.#waiting.length >= keptTogether) await this.end();
  }

  /** Customers that were read, kept or not. */
  get read(): number {
    return this.#summary.customers + this.#waiting.length;
  }

  /** Keeps what is not kept yet. Where that fails, each customer is kept alone, so that the guilty one fails alone. */
  async end(): Promise<void> {
    const read = this.#waiting;
    this.#waiting = [];
    try {
      await this.#keep(read);
    } catch (error) {
      if (this.#deps.ledger.broken !== undefined) throw error;
      for (const verified of read) await this.#alone(verified);
    }
  }

  async failed(customer: RecordKey, error: unknown): Promise<void> {
    const { ledger, logger } = this.#deps;
    this.#summary.customers += 1;
    this.#summary.failed += 1;
    await ledger.state.record(customer, [{ type: "observation-failed", customer }]);
    logger.warn({ customer: formatKey(customer), reason: messageOf(error) }, "customer not verified");
  }

  async #alone(verified: Verified): Promise<void> {
    try {
      await this.#keep([verified]);
    } catch (error) {
      if (this.#deps.ledger.broken !== undefined) throw error;
      await this.failed(verified.customer, error);
    }
  }

  async #keep(read: readonly Verified[]): Promise<void> {
    const otherwise = await this.#deps.ledger.state.keepShown(read);
    this.linkedOtherwise.push(...otherwise);
    const names = new Set(otherwise.map(({ customer }) => formatKey(customer)));
    for (const { customer, assets, products, members } of read) {
      if (names.size > 0 && names.has(formatKey(customer))) continue;
      this.#summary.customers += 1;
      this.#summary.assets += assets;
      this.#summary.products += products;
      this.#summary.members += members;
    }
  }
}
