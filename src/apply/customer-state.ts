import type { JsonObject } from "../base/canonical-json.ts";
import { toInstant } from "../base/clock.ts";
import { formatKey } from "../crm/keys.ts";
import type { RecordKey } from "../crm/model.ts";
import type { Conclusion } from "../ledger/journal/journal.ts";
import type { Operation } from "../operation/operation.ts";
import type { RecordReference } from "../operation/shape.ts";
import { applyChanges, payloadFactsOf, withNumbers } from "../operation/state.ts";
import type { EnterpriseFacts, FixedNumber, Known, PayloadFacts, StateChange } from "../operation/state.ts";
import type { LoadedCustomer, Rejection } from "../plan/input.ts";
import type { ApplyDependencies } from "./dependencies.ts";

/**
 * What one attempt at a customer knows of it: loaded once, when it is first asked for, and advanced by everything that
 * is written meanwhile. Nothing is read back that was just written. A person's decision that comes in between is picked
 * up by the next attempt.
 */
export class CustomerState {
  readonly customer: RecordKey;
  readonly #deps: Pick<ApplyDependencies, "ledger" | "clock">;
  readonly #keeps: boolean;
  #loaded: LoadedCustomer | undefined;

  /** A plan passes `keeps: false`: what it learns stands in memory alone. */
  constructor(
    deps: Pick<ApplyDependencies, "ledger" | "clock">,
    customer: RecordKey,
    options: { keeps: boolean } = { keeps: true },
  ) {
    this.#deps = deps;
    this.customer = customer;
    this.#keeps = options.keeps;
  }

  get keeps(): boolean {
    return this.#keeps;
  }

  async loaded(): Promise<LoadedCustomer> {
    this.#loaded ??= await this.#deps.ledger.state.load(this.customer);
    return this.#loaded;
  }

  async known(): Promise<Known> {
    return (await this.loaded()).known;
  }

  async payloadFacts(): Promise<PayloadFacts> {
    return payloadFactsOf(await this.known());
  }

  /** Records what became of an operation, and knows from then on what its rows say. */
  async conclude(operation: Operation, id: string, conclusion: Conclusion): Promise<void> {
    const at = await this.#deps.ledger.journal.conclude(id, conclusion);
    await this.#learn(conclusion.changes, at);
    if (this.#loaded === undefined) return;
    const rejections = rejectionsAfter(this.#loaded.rejections, operation, id, conclusion);
    this.#loaded = { ...this.#loaded, rejections };
  }

  /** Records what a reading taught. */
  async record(
    changes: readonly StateChange[],
    audit?: { kind: string; subject: string; body: JsonObject },
  ): Promise<void> {
    const { ledger, clock } = this.#deps;
    const at = this.#keeps ? await ledger.state.record(this.customer, changes, audit) : toInstant(clock.now());
    await this.#learn(changes, at);
  }

  /** Numbers were fixed to an order of this customer. */
  fixed(numbers: readonly FixedNumber[]): void {
    if (this.#loaded === undefined) return;
    this.#loaded = { ...this.#loaded, known: withNumbers(this.#loaded.known, numbers) };
  }

  async #learn(changes: readonly StateChange[], at: string): Promise<void> {
    if (this.#loaded === undefined) return;
    // An order that the CRM has changed since it was placed comes with its form of then, which only the ledger has.
    if (changes.some((change) => isOutdated(change, this.#loaded))) {
      this.#loaded = undefined;
      return;
    }
    const enterprise = await this.#enterpriseLinked(changes);
    const known = applyChanges(this.#loaded.known, changes, { customer: this.customer, at, enterprise });
    this.#loaded = { ...this.#loaded, known };
  }

  /** Of an enterprise that E2 made nothing can be known before; of any other one it is read when it is linked. */
  async #enterpriseLinked(changes: readonly StateChange[]): Promise<EnterpriseFacts | undefined> {
    const linked = changes.find((change) => change.type === "linked");
    if (linked === undefined || linked.link.origin === "created") return undefined;
    return await this.#deps.ledger.state.enterpriseFacts(linked.link.enterpriseGlobalId);
  }
}

function isOutdated(change: StateChange, loaded: LoadedCustomer | undefined): boolean {
  if (change.type !== "order-placed") return false;
  const order = loaded?.orders.find((item) => formatKey(item.key) === formatKey(change.order));
  return order !== undefined && order.bodyHash !== change.bodyHash;
}

/** What stands refused once an operation ended: the same as the ledger gives from its rows. */
function rejectionsAfter(
  before: readonly Rejection[],
  operation: Pick<Operation, "kind" | "records">,
  id: string,
  { state, rejections }: Pick<Conclusion, "state" | "rejections">,
): readonly Rejection[] {
  const parts = rejections?.parts ?? [];
  const isOf = (records: readonly RecordReference[], rejection: Rejection): boolean =>
    rejection.kind === operation.kind && records.some((record) => isSame(record, rejection.record));
  const through = operation.records.filter((record) => !parts.some((part) => isSame(part.record, record)));
  const standing = state === "done" ? before.filter((rejection) => !isOf(through, rejection)) : before;
  if (rejections === undefined) return standing;
  const { kind, settings } = rejections;
  const made = parts.map((part): Rejection => ({ ...part, kind, settings, operationId: id }));
  const replaced = (old: Rejection): boolean =>
    made.some((item) => item.kind === old.kind && item.hash === old.hash && isSame(item.record, old.record));
  return [...standing.filter((old) => !replaced(old)), ...made];
}

function isSame(one: RecordReference, other: RecordReference): boolean {
  return one.stream === other.stream && formatKey(one) === formatKey(other);
}
