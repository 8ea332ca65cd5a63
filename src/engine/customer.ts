import { isSameRecord, applyChanges, type Known, type StateChange } from "./model/state.ts";
import { assetUnit, withNumbers, type FixedNumber } from "./model/references.ts";
import type { JsonObject } from "../base/canonical-json.ts";
import { toInstant, type Clock } from "../base/clock.ts";
import { handedIn, typeOf } from "./model/registry.ts";
import { formatKey } from "../crm/keys.ts";
import type { RecordKey } from "../crm/model.ts";
import { Sequence } from "../ledger/database/sequence.ts";
import type { Begun } from "../ledger/state/enterprise-state.ts";
import type { Conclusion } from "../ledger/journal/journal-tables.ts";
import type { Operation } from "./model/operation.ts";
import type { RecordReference, ChangeShapes } from "./model/resource.ts";
import type { LoadedCustomer, Rejection } from "./plan/input.ts";
import type { Randomness } from "../base/ids.ts";
import type { Logger } from "../base/logger.ts";
import type { AskedTime } from "../base/trusted-time.ts";
import type { AssumptionSettings } from "../contract/assumption-settings.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { Policies } from "./model/policy-settings.ts";
import type { Platform } from "../platform/platform.ts";
import { failureOf } from "../base/errors.ts";
import type { Block } from "./plan/blocks.ts";
import { AmbiguousReading } from "../platform/services.ts";
import { ReadFailure } from "../http/call.ts";

interface Advanced {
  loaded: LoadedCustomer;
  learned: StateChange[];
  numbers: FixedNumber[];
  readonly byUnit: Map<string, string>;
  readonly bodyHashes: ReadonlyMap<string, string>;
}

/** The facts about a customer for one pass. Loaded once at first use. Every write updates them. */
export class CustomerState {
  readonly customer: RecordKey;
  readonly #deps: Pick<EngineDependencies, "ledger" | "clock">;
  readonly #keeps: boolean;
  #advanced: Advanced | undefined;
  /** Keeps the customer's writes in order in the writer's queue. */
  readonly after = new Sequence();
  #committed: Promise<void> | undefined;
  #failure: { error: unknown; told: Promise<void> } | undefined;
  readonly #concluding = new Set<string>();

  constructor(
    deps: Pick<EngineDependencies, "ledger" | "clock">,
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

  get held(): LoadedCustomer {
    const advanced = this.#now;
    const { loaded, learned, numbers } = advanced;
    if (learned.length === 0 && numbers.length === 0) return loaded;
    const known = withNumbers(applyChanges(loaded.known, learned, { customer: this.customer, at: "" }), numbers);
    advanced.loaded = { ...loaded, known };
    advanced.learned = [];
    advanced.numbers = [];
    return advanced.loaded;
  }

  /** While an operation of the customer is open, there are no facts yet. */
  begin({ loaded }: Pick<Begun, "loaded">): void {
    if (loaded !== undefined) this.#advanced = advancedFrom(loaded);
  }

  get #now(): Advanced {
    this.#advanced ??= advancedFrom(this.#deps.ledger.state.load(this.customer));
    return this.#advanced;
  }

  payloadFacts(): PayloadFacts {
    const { loaded, byUnit } = this.#now;
    return payloadFactsOf(loaded.known, byUnit);
  }

  async conclude(operation: Operation, id: string, conclusion: Conclusion): Promise<void> {
    const at = await this.#deps.ledger.journal.conclude(id, conclusion);
    this.#concluded(operation, id, conclusion, at);
  }

  /**
   * Does not wait for the commit, which comes with the next intent or the end of the pass. Calls `failed` if the commit
   * fails. Returns false and records nothing if the changes can only be learned from the ledger.
   */
  concludeAhead(
    operation: Operation,
    id: string,
    conclusion: Conclusion,
    failed: (error: unknown) => Promise<void>,
  ): boolean {
    if (!this.#isLearntWithoutReading(operation, conclusion)) return false;
    const { at, committed } = this.#deps.ledger.journal.concludeAhead(id, conclusion, this.after);
    const { subject } = operation;
    this.#concluding.add(subject);
    this.handedOver(committed, () => this.#concluding.delete(subject), failed);
    this.#concluded(operation, id, conclusion, at);
    return true;
  }

  /** Registers an uncommitted write. The writer commits these in order. */
  handedOver(
    committed: Promise<unknown>,
    landed?: () => void,
    failed: (error: unknown) => Promise<void> = () => Promise.resolve(),
  ): void {
    // The first failure explains the later ones. It is thrown by `settled`.
    this.#committed = committed.then(landed, (error: unknown) => {
      const told = failed(error);
      told.catch(() => {});
      this.#failure ??= { error, told };
    });
  }

  /** Waits until all registered writes are on disk. Throws the first error. */
  async settled(): Promise<void> {
    if (this.#committed === undefined) return;
    await this.#committed;
    if (this.#failure === undefined) return;
    await this.#failure.told;
    throw this.#failure.error;
  }

  isConcluding(subject: string): boolean {
    return this.#concluding.has(subject);
  }

  #isLearntWithoutReading(operation: Operation, { changes, rejections }: Conclusion): boolean {
    const bodyHashes = this.#advanced?.bodyHashes;
    if (bodyHashes === undefined || rejections !== undefined) return false;
    const { credentials, answers } = typeOf(operation).can;
    if ((credentials?.accounts?.(operation) ?? []).length > 0 || (answers?.(operation) ?? []).length > 0) return false;
    return !changes.some(
      (change) =>
        (change.type === "linked" && change.link.origin !== "created") || needsReading(change.type, change, bodyHashes),
    );
  }

  #concluded(operation: Operation, id: string, conclusion: Conclusion, at: string): void {
    this.#learn(conclusion.changes, at);
    if (this.#advanced === undefined) return;
    const { loaded } = this.#advanced;
    const rejections = rejectionsAfter(loaded.rejections, operation, id, conclusion);
    this.#advanced.loaded = { ...loaded, rejections };
  }

  async record(
    changes: readonly StateChange[],
    audit?: { kind: string; subject: string; body: JsonObject },
  ): Promise<void> {
    const { ledger, clock } = this.#deps;
    await this.settled();
    const at = this.#keeps ? await ledger.state.record(this.customer, changes, audit) : toInstant(clock.now());
    this.#learn(changes, at);
  }

  /** `record` for changes that nothing can contradict, without waiting for the commit. A plan only learns them. */
  recordAhead(changes: readonly StateChange[]): void {
    const { ledger, clock } = this.#deps;
    const ahead = this.#keeps ? ledger.state.recordAhead(changes, this.after) : undefined;
    if (ahead !== undefined) this.handedOver(ahead.committed);
    this.#learn(changes, ahead?.at ?? toInstant(clock.now()));
  }

  fixed(numbers: readonly FixedNumber[]): void {
    this.#advanced?.numbers.push(...numbers);
    for (const [unit, number] of byUnitName(numbers)) this.#advanced?.byUnit.set(unit, number);
  }

  #learn(changes: readonly StateChange[], at: string): void {
    if (this.#advanced === undefined) return;
    const { bodyHashes } = this.#advanced;
    if (this.#keeps && changes.some((change) => needsReading(change.type, change, bodyHashes))) {
      this.#advanced = undefined;
      return;
    }
    const linked = this.#linkedElsewhere(changes);
    const enterprise = linked === undefined ? undefined : this.#deps.ledger.state.factsOf(linked.enterpriseGlobalId);
    const { loaded, learned } = this.#advanced;
    const now = changes.filter((change) => !isAppliedLater(change));
    const known = applyChanges(loaded.known, now, { customer: this.customer, at, enterprise });
    const wiped = new Set(changes.flatMap((change) => (change.type === "secrets-wiped" ? [change.ref] : [])));
    const sealed = new Set([...(loaded.sealed ?? [])].filter((order) => !wiped.has(`orders/${order}`)));
    this.#advanced.loaded = { ...loaded, known, sealed };
    for (const { state } of handedIn().resources)
      this.#advanced.loaded = { ...this.#advanced.loaded, ...state?.learned?.(loaded, changes) };
    learned.push(...changes.filter(isAppliedLater));
  }

  /** No facts exist yet about an enterprise that E2 created. Any other enterprise is read when it is linked. */
  #linkedElsewhere(changes: readonly StateChange[]): Known["link"] {
    const linked = changes.find((change) => change.type === "linked");
    return linked === undefined || linked.link.origin === "created" ? undefined : linked.link;
  }
}

export interface PayloadFacts extends Pick<Known, "link" | "platformCustomers" | "enterpriseCode"> {
  numberOf(unit: string): string | undefined;
  memberOf(staff: RecordKey): string | undefined;
}

function byUnitName(numbers: readonly FixedNumber[]): Map<string, string> {
  return new Map(
    numbers.map((one) => [
      assetUnit({ namespace: one.namespace, id: one.orderId }, one.instanceId, one.unit),
      one.number,
    ]),
  );
}

/** `numbers`: by unit, if they are available. */
export function payloadFactsOf(
  known: Known,
  numbers: ReadonlyMap<string, string> = byUnitName(known.numbers),
): PayloadFacts {
  return {
    link: known.link,
    platformCustomers: known.platformCustomers,
    enterpriseCode: known.enterpriseCode,
    numberOf: (unit) => numbers.get(unit),
    memberOf: (staff) => known.staffLinks.get(formatKey(staff))?.memberGlobalId,
  };
}

function advancedFrom(loaded: LoadedCustomer): Advanced {
  return {
    loaded,
    learned: [],
    numbers: [],
    byUnit: byUnitName(loaded.known.numbers),
    bodyHashes: new Map(loaded.orders.map((order) => [formatKey(order.key), order.bodyHash])),
  };
}

function isAppliedLater(change: StateChange): boolean {
  return handedIn().changes[change.type].isForLater === true;
}

function needsReading<Type extends keyof ChangeShapes>(
  type: Type,
  change: ChangeShapes[Type],
  bodyHashes: Advanced["bodyHashes"],
): boolean {
  return handedIn().changes[type].isReadAnew?.(change, bodyHashes) === true;
}

/** The ledger derives the same rejections from its rows. */
function rejectionsAfter(
  before: readonly Rejection[],
  operation: Pick<Operation, "kind" | "records">,
  id: string,
  { state, rejections }: Pick<Conclusion, "state" | "rejections">,
): readonly Rejection[] {
  const parts = rejections?.parts ?? [];
  const isOf = (records: readonly RecordReference[], rejection: Rejection): boolean =>
    rejection.kind === operation.kind && records.some((record) => isSameRecord(record, rejection.record));
  const through = operation.records.filter((record) => !parts.some((part) => isSameRecord(part.record, record)));
  const standing = state === "done" ? before.filter((rejection) => !isOf(through, rejection)) : before;
  if (rejections === undefined) return standing;
  const { kind, settings } = rejections;
  const made = parts.map((part): Rejection => ({ ...part, kind, settings, operationId: id }));
  const replaced = (old: Rejection): boolean =>
    made.some((item) => item.kind === old.kind && item.hash === old.hash && isSameRecord(item.record, old.record));
  return [...standing.filter((old) => !replaced(old)), ...made];
}

export interface EngineDependencies {
  ledger: Ledger;
  platform: Platform;
  settings: AssumptionSettings;
  settle: { timeMs: number; readings: number; maxWaitMs: number; asyncDeadlineMs: number; asyncPauseMs: number };
  ordersUnseen: "ask" | "resend";
  policies: Policies;
  clock: Clock;
  /** Without it, this computer's clock counts. */
  time?: AskedTime | undefined;
  random: Randomness;
  logger: Logger;
}

/** For operations that depend on a failed or ambiguous reading. Throws any other error again. */
export function unreadBlock(thrown: unknown): Block {
  const gaveNothing = thrown instanceof ReadFailure && thrown.kind !== "aborted";
  if (!gaveNothing && !(thrown instanceof AmbiguousReading)) throw thrown;
  const { code, reason } = failureOf(thrown);
  return { code, reason, again: true };
}
