import type { RecordKey, Stream } from "../../crm/model.ts";
import type { RunDependencies, RunRequest } from "./request.ts";
import type { JsonObject } from "../../base/canonical-json.ts";
import { parseJsonObject } from "../../base/canonical-json.ts";
import { messageOf } from "../../base/errors.ts";
import type { AssumptionSettings } from "../../contract/assumption-settings.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import type { WaitingRow } from "../../ledger/records/quarantine-retry.ts";
import { blankedSecret } from "../../source/mapping/secrets.ts";
import type { Source, StreamMapping } from "../../source/source.ts";
import { mapRaw } from "../../ingest/map-row.ts";
import pLimit from "p-limit";
import { toInstant } from "../../base/clock.ts";
import { formatKey } from "../../crm/keys.ts";

/** Customers that are taken from the ledger at once. */
const page = 200;

/** Customers with something to do, in pages so that memory does not grow with their number. */
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
  await ledger.journal.tryRejectedAgain();
  let after: RecordKey | undefined;
  for (;;) {
    const keys = await ledger.records.pendingCustomers(after, page);
    if (keys.length === 0) return;
    after = keys.at(-1);
    yield keys;
  }
}

/** The same one by one. */
export async function* eachPendingCustomer(
  deps: RunDependencies,
  request: RunRequest,
): AsyncGenerator<RecordKey, void, void> {
  for await (const customers of pendingCustomers(deps, request)) yield* customers;
}

/** What became of a row of the quarantine that a person asked to have mapped again. */
export type Retried =
  | { kind: "taken-up"; id: string }
  /** Its stream leaves it out now. */
  | { kind: "skipped"; id: string }
  | { kind: "still-unusable"; id: string; message: string }
  /** It is mapped again when its source is read the next time, and `why` not now. */
  | { kind: "waits-for-source"; id: string; why: string }
  | { kind: "unknown"; id: string };

/**
 * Maps rows of the quarantine anew from their stored raw form, with the mapping and the settings of now; their sources
 * are not asked.
 */
export class QuarantineRetries {
  readonly #ledger: Ledger;
  readonly #sources: readonly Source[];
  readonly #settings: AssumptionSettings;
  readonly #mappings = new Map<string, Promise<StreamMapping>>();

  constructor(deps: { ledger: Ledger; sources: readonly Source[]; settings: AssumptionSettings }) {
    this.#ledger = deps.ledger;
    this.#sources = deps.sources;
    this.#settings = deps.settings;
  }

  async retry(id: string, by: string): Promise<Retried> {
    const row = await this.#ledger.records.retry.waiting(id);
    if (row === undefined) return { kind: "unknown", id };
    const raw = storedForm(row);
    if (typeof raw === "string") return await this.#leave(id, by, raw);
    // A reading that broke off with its process may have met a newer form of the same record.
    if ((await this.#ledger.records.lastRead(row.source, row.stream))?.finished_at === null)
      return await this.#leave(id, by, `the last read of ${row.source}/${row.stream} did not end`);
    const source = this.#sources.find((item) => item.name === row.source && item.streams.includes(row.stream));
    if (source === undefined)
      return await this.#leave(id, by, `${row.source}/${row.stream} is not configured any more`);
    let mapping: StreamMapping;
    try {
      mapping = await this.#mappingOf(source, row.stream);
    } catch (error) {
      return await this.#leave(id, by, messageOf(error));
    }
    const salt = await this.#ledger.private.rawSalt();
    const mapper = { stream: row.stream, mapping, settings: this.#settings };
    const item = mapRaw({ place: row.place, value: raw }, salt, mapper);
    if (!(await this.#ledger.records.retry.settle(id, item, by))) return { kind: "unknown", id };
    if ("skipped" in item) return { kind: "skipped", id };
    return "record" in item
      ? { kind: "taken-up", id }
      : { kind: "still-unusable", id, message: item.rejection.message };
  }

  async #leave(id: string, by: string, why: string): Promise<Retried> {
    await this.#ledger.records.retry.mark(id, by);
    return { kind: "waits-for-source", id, why };
  }

  #mappingOf(source: Source, stream: Stream): Promise<StreamMapping> {
    const key = JSON.stringify([source.name, stream]);
    const known = this.#mappings.get(key) ?? source.mapping(stream);
    this.#mappings.set(key, known);
    return known;
  }
}

/** The raw form, or why only the source can give it. */
function storedForm(row: WaitingRow): JsonObject | string {
  if (row.code === "duplicate-id" || row.code === "claimed-twice")
    return "which of its forms holds is seen only where they are read together";
  if (row.raw === null) return "its raw form was erased";
  // Everything that a mapping refuses says what was expected; what came as no record at all does not.
  if (row.expected === null) return "the record was not complete";
  if (row.raw.includes(JSON.stringify(blankedSecret))) return "its raw form is kept without its secrets";
  try {
    return parseJsonObject(row.raw);
  } catch {
    return "its raw form is no whole record";
  }
}

/** Least pause between two looks at what is due, in milliseconds. */
const shortestPause = 50;

interface WaitDependencies extends Pick<RunDependencies, "clock" | "settle" | "concurrency"> {
  signal: AbortSignal | undefined;
  /** One more attempt at a customer whose time has come. */
  attempt(customer: RecordKey): Promise<void>;
  /** Told once all who were due have been attempted. */
  attempted(customers: readonly RecordKey[]): Promise<void>;
}

/** Customers whose settle time is not over, and until when. */
export class SettleWait {
  readonly #deps: WaitDependencies;
  /** Until when, in milliseconds. */
  readonly #waiting = new Map<string, { customer: RecordKey; until: number }>();

  constructor(deps: WaitDependencies) {
    this.#deps = deps;
  }

  get #stopped(): boolean {
    return this.#deps.signal?.aborted === true;
  }

  /** How many customers wait. */
  get size(): number {
    return this.#waiting.size;
  }

  /** A customer waits until an instant, or is looked at again as soon as the run waits. */
  add(customer: RecordKey, until: string = toInstant(this.#deps.clock.now())): void {
    this.#waiting.set(formatKey(customer), { customer, until: Date.parse(until) });
  }

  /**
   * Waits for settle times that are due soon, and settles what they were for; the rest stays for the next run or for a
   * person.
   */
  async wait(): Promise<void> {
    const { clock, settle, signal } = this.#deps;
    const deadline = clock.monotonic() + settle.maxWaitMs;
    while (this.#waiting.size > 0 && !this.#stopped) {
      let next = Number.POSITIVE_INFINITY;
      for (const { until } of this.#waiting.values()) next = Math.min(next, until);
      const pause = Math.max(shortestPause, next - clock.now());
      if (clock.monotonic() + pause > deadline) return;
      await clock.sleep(pause, signal);
      await this.#attemptDue();
    }
  }

  async #attemptDue(): Promise<void> {
    const { clock, concurrency } = this.#deps;
    const limit = pLimit(concurrency);
    const due = [...this.#waiting.values()].filter(({ until }) => until <= clock.now());
    const customers = due.map((item) => item.customer);
    await Promise.all(
      customers.map((customer) =>
        limit(async () => {
          if (this.#stopped) return;
          this.#waiting.delete(formatKey(customer));
          await this.#deps.attempt(customer);
        }),
      ),
    );
    await this.#deps.attempted(customers);
  }
}
