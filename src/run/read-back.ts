import { messageOf } from "../base/errors.ts";
import { formatKey } from "../crm/keys.ts";
import type { RecordKey } from "../crm/model.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { SnapshotReader } from "../platform/snapshot.ts";
import type { RunDependencies, RunRequest } from "./request.ts";
import { verifyCustomer } from "./verify.ts";
import type { Verified } from "./verify.ts";

/** Customers that are taken from the ledger at once. */
const page = 200;

/** Customers whose observations are kept in one transaction. */
const keptTogether = 50;

/** How many customers were read back, and what the platform showed of them. */
export interface ReadBack {
  customers: number;
  failed: number;
  assets: number;
  products: number;
  members: number;
}

/** Reads every linked customer back. A customer that could not be read stops no other. */
export async function readBack(
  deps: RunDependencies,
  request: Pick<RunRequest, "signal">,
  reader: SnapshotReader,
  summary: ReadBack,
): Promise<void> {
  const { ledger } = deps;
  const customers = linkedCustomers(ledger);
  const keeping = new Keeping(deps, summary);
  const stopped = (): boolean => request.signal?.aborted === true;
  const lane = async (): Promise<void> => {
    for (;;) {
      const next = await customers.next();
      if (next.done === true || stopped()) return;
      try {
        await keeping.add(await verifyCustomer(ledger, reader, next.value, request.signal));
      } catch (error) {
        if (ledger.broken !== undefined) throw error;
        // A call that a person's stop ended says nothing of the service.
        if (stopped()) return;
        await keeping.failed(next.value, error);
      }
      summary.customers += 1;
      deps.progress("verifying", summary.customers, undefined);
    }
  };
  await Promise.all(Array.from({ length: deps.concurrency }, lane));
  await keeping.end();
}

/** The linked customers in key order, taken from the ledger by the page. */
async function* linkedCustomers(ledger: Ledger): AsyncGenerator<RecordKey, void, void> {
  for (let after: RecordKey | undefined; ;) {
    const customers = await ledger.state.linkedCustomers(after, page);
    if (customers.length === 0) return;
    yield* customers;
    after = customers.at(-1);
  }
}

/** Keeps what was read back of several customers with one flush of the disk: nothing is sent on the strength of it. */
class Keeping {
  readonly #deps: Pick<RunDependencies, "ledger" | "logger">;
  readonly #summary: ReadBack;
  #read: Verified[] = [];

  constructor(deps: Pick<RunDependencies, "ledger" | "logger">, summary: ReadBack) {
    this.#deps = deps;
    this.#summary = summary;
  }

  async add(verified: Verified): Promise<void> {
    this.#read.push(verified);
    if (this.#read.length >= keptTogether) await this.end();
  }

  /** Keeps what is not kept yet. Where that fails, each customer is kept alone, so that the guilty one fails alone. */
  async end(): Promise<void> {
    const read = this.#read;
    this.#read = [];
    try {
      await this.#deps.ledger.state.recordAll(read.flatMap((verified) => verified.changes));
      for (const verified of read) this.#count(verified);
    } catch (error) {
      if (this.#deps.ledger.broken !== undefined) throw error;
      for (const verified of read) await this.#alone(verified);
    }
  }

  async failed(customer: RecordKey, error: unknown): Promise<void> {
    const { ledger, logger } = this.#deps;
    this.#summary.failed += 1;
    await ledger.state.record(customer, [{ type: "observation-read", customer, complete: false }]);
    logger.warn({ customer: formatKey(customer), reason: messageOf(error) }, "customer not verified");
  }

  async #alone(verified: Verified): Promise<void> {
    const { ledger } = this.#deps;
    try {
      await ledger.state.recordAll(verified.changes);
      this.#count(verified);
    } catch (error) {
      if (ledger.broken !== undefined) throw error;
      await this.failed(verified.customer, error);
    }
  }

  #count({ assets, products, members }: Verified): void {
    this.#summary.assets += assets;
    this.#summary.products += products;
    this.#summary.members += members;
  }
}
