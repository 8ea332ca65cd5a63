import { z } from "zod";
import type { Json, JsonObject } from "../base/canonical-json.ts";
import { toInstant } from "../base/clock.ts";
import { messageOf } from "../base/errors.ts";
import { formatKey } from "../crm/keys.ts";
import type { RecordKey } from "../crm/model.ts";
import type { JournalRow } from "../ledger/journal.ts";
import type { KnownChange } from "../plan/changes.ts";
import { isPrivateMarker } from "../plan/operation.ts";
import type { ApplyDependencies } from "./dependencies.ts";
import type { Delivery } from "./deliver.ts";
import { deliver } from "./deliver.ts";
import { enterpriseMade, orderPlaced, privilegesSet, staffAdded } from "./effects.ts";
import type { Effect } from "./effects.ts";
import { addStaffContext, enterpriseContext, orderContext, privilegeContext } from "./intent.ts";
import type { AddStaffContext, OrderContext } from "./intent.ts";
import type { Observer } from "./observe.ts";
import type { NumberPool } from "./pool.ts";
import { correlationOf } from "./prepare.ts";

/** What one reading says about an operation whose outcome is unknown. */
type Reading =
  /** Proven: it was applied, and this is what is known by it. */
  | { kind: "applied"; effect: Effect; detail: JsonObject }
  /** The platform does not show it. That alone proves nothing. */
  | { kind: "unseen"; detail: JsonObject; partEffect?: Effect | undefined }
  /** Something only a person can judge, such as a batch that was applied in part. */
  | { kind: "odd"; reason: string; detail: JsonObject };

export type Settled =
  | { kind: "done"; id: string }
  /** Proven or decided not to be applied; the customer is planned anew. */
  | { kind: "dropped"; id: string }
  | { kind: "waiting"; id: string; until: string }
  | { kind: "parked"; id: string; reason: string }
  | { kind: "unreadable"; id: string; reason: string };

const evidenceSchema = z.object({
  readings: z.array(z.object({ at: z.string(), seen: z.boolean(), detail: z.unknown() })),
});

/**
 * Finds out what became of operations that are sending or unknown, by reading the platform. The same code serves after a crash and after a
 * lost answer: seen is proof, unseen is not; after `readings` unseen readings over the settle time each kind of operation has its own rule.
 */
export class Settling {
  readonly #deps: ApplyDependencies;
  readonly #observer: Observer;
  readonly #pool: NumberPool;

  constructor(deps: ApplyDependencies, observer: Observer, pool: NumberPool) {
    this.#deps = deps;
    this.#observer = observer;
    this.#pool = pool;
  }

  /** Settles one operation as far as evidence goes now. */
  async settle(row: JournalRow, runId: string | null, signal?: AbortSignal): Promise<Settled> {
    const { id, operation } = row;
    if (row.state === "parked") return { kind: "parked", id, reason: row.outcomeMessage ?? "waits for a person" };
    if (row.state === "sending") await this.#foundSending(row);
    if (operation.kind === "take-asset-numbers") return await this.#numbersLost(row);
    if (operation.kind === "update-enterprise")
      return await this.#sendAgain(row, runId, signal, "sets a state: the same value is sent again");
    let reading: Reading;
    try {
      reading = await this.#read(row, signal);
    } catch (error) {
      return { kind: "unreadable", id, reason: messageOf(error) };
    }
    if (reading.kind === "applied") return await this.#applied(row, reading);
    if (reading.kind === "odd") return await this.#park(row, reading.reason, reading.detail);
    return await this.#unseen(row, reading, runId, signal);
  }

  /** An operation found `sending` had its process killed: its settle time begins with the attempt that was cut off. */
  async #foundSending(row: JournalRow): Promise<void> {
    const attempts = await this.#deps.ledger.attempts(row.id);
    const started = attempts.at(-1)?.startedAt ?? row.updatedAt;
    const settleAfter = toInstant(Math.max(Date.parse(started), 0) + this.#deps.settle.timeMs);
    await this.#deps.ledger.conclude(row.id, {
      state: "unknown",
      attempt: { outcome: "unknown", detail: "the program ended while the call was on its way" },
      settleAfter,
      message: "the program ended while the call was on its way",
      changes: [],
      audit: { kind: "unknown", body: { reason: "the program ended while the call was on its way" } },
    });
    row.settleAfter = settleAfter;
    row.state = "unknown";
  }

  async #read(row: JournalRow, signal: AbortSignal | undefined): Promise<Reading> {
    switch (row.operation.kind) {
      case "create-enterprise":
      case "bind-enterprise":
        return await this.#readEnterprise(row, signal);
      case "place-order":
        return await this.#readOrder(row, signal);
      case "add-staff":
        return await this.#readStaff(row, signal);
      default:
        return await this.#readPrivileges(row, signal);
    }
  }

  async #readEnterprise(row: JournalRow, signal: AbortSignal | undefined): Promise<Reading> {
    const context = enterpriseContext.parse(row.context);
    const { customer } = row.operation;
    const found = await this.#observer.enterprises(customer, context.channelCustomerId, signal);
    const [only] = found;
    const detail = { call: "E3", enterprises: found.map((item) => item.enterpriseGlobalId) };
    if (only === undefined) return { kind: "unseen", detail };
    if (found.length > 1) {
      return {
        kind: "odd",
        reason: `the platform shows ${found.length} enterprises for one customer; one may have been made twice`,
        detail,
      };
    }
    const members = await this.#observer.members(customer, only.enterpriseGlobalId, signal).catch(() => []);
    const effect = enterpriseMade(customer, context, {
      enterpriseGlobalId: only.enterpriseGlobalId,
      channelCode: only.customers[0]?.channelCode ?? "",
      origin: row.operation.kind === "bind-enterprise" ? "bound" : "created",
      members: members.map((member) => member.globalId),
    });
    effect.changes.push({
      type: "platform-customers",
      enterpriseGlobalId: only.enterpriseGlobalId,
      customers: only.customers,
    });
    return { kind: "applied", effect, detail };
  }

  async #readOrder(row: JournalRow, signal: AbortSignal | undefined): Promise<Reading> {
    const context = orderContext.parse(row.context);
    const sight = await sightOrder(this.#observer, row.operation.customer, context, signal);
    const detail = {
      call: "(M6 ∪ E8) → M7",
      channelOrderId: context.channelOrderId,
      seen: sight.records.filter((record) => record.seen === record.wanted).map((record) => record.sequence),
      products: sight.records.map((record) => [record.sequence, record.seen, record.wanted]),
    };
    if (sight.records.every((record) => record.wanted > 0 && record.seen === record.wanted)) {
      return {
        kind: "applied",
        effect: orderPlaced(row.id, row.operation.customer, context, sight.licenceOrders),
        detail,
      };
    }
    if (sight.records.some((record) => record.seen > 0)) {
      return { kind: "odd", reason: "the platform shows only a part of the order", detail };
    }
    return { kind: "unseen", detail };
  }

  async #readStaff(row: JournalRow, signal: AbortSignal | undefined): Promise<Reading> {
    const context = addStaffContext.parse(row.context);
    const people = this.#clearNames(row, context);
    if (people === undefined)
      return { kind: "odd", reason: "the names of the staff were erased, so they cannot be looked for", detail: {} };
    const members = (await this.#observer.members(row.operation.customer, context.enterpriseGlobalId, signal)).filter(
      (member) => !member.deleted,
    );
    const before = new Set(context.shownBefore);
    const rows = members.filter((member) => !before.has(member.globalId));
    const knownCode = (await this.#deps.ledger.known(row.operation.customer)).enterpriseCode;
    const hits = people.map((person) => ({
      person,
      rows: rows.filter((member) => member.name === person.name && member.userName.startsWith(person.userName)),
    }));
    const suffixes = new Set(
      hits.flatMap(({ person, rows: found }) => found.map((member) => member.userName.slice(person.userName.length))),
    );
    const code = knownCode ?? (suffixes.size === 1 ? [...suffixes][0] : undefined);
    const added = hits.flatMap(({ person, rows: found }) =>
      found
        .filter((member) => code !== undefined && member.userName === person.userName + code)
        .map((member) => ({ key: person.key, globalId: member.globalId })),
    );
    const detail = { call: "M5", shown: added.map((item) => item.globalId), wanted: people.length };
    if (new Set(added.map((item) => formatKey(item.key))).size !== added.length) {
      return { kind: "odd", reason: "the platform shows a new staff member twice", detail };
    }
    if (added.length === 0 && suffixes.size > 1) {
      return { kind: "odd", reason: "new staff members fit the names, but with different suffixes", detail };
    }
    const effect = staffAdded(row.operation.customer, context, { added, refused: [], code });
    if (added.length === people.length) return { kind: "applied", effect, detail };
    return { kind: "unseen", detail, partEffect: added.length === 0 ? undefined : effect };
  }

  #clearNames(
    row: JournalRow,
    context: AddStaffContext,
  ): { key: RecordKey; userName: string; name: string }[] | undefined {
    const list = row.operation.payload["userList"];
    if (!Array.isArray(list)) return undefined;
    const reveal = (value: Json | undefined): string | undefined => {
      if (!isPrivateMarker(value)) return undefined;
      const clear = this.#deps.ledger.privateValue(value);
      return typeof clear === "string" ? clear : undefined;
    };
    const people: { key: RecordKey; userName: string; name: string }[] = [];
    for (const [index, item] of list.entries()) {
      const person = context.staff[index];
      if (typeof item !== "object" || item === null || Array.isArray(item) || person === undefined) return undefined;
      const userName = reveal(item["userName"]);
      const name = reveal(item["name"]);
      if (userName === undefined || name === undefined) return undefined;
      people.push({ key: person.key, userName, name });
    }
    return people;
  }

  async #readPrivileges(row: JournalRow, signal: AbortSignal | undefined): Promise<Reading> {
    const context = privilegeContext.parse(row.context);
    const { customer } = row.operation;
    const members = await this.#observer.members(customer, context.enterpriseGlobalId, signal);
    const assets = await this.#observer.assets(customer, context.enterpriseGlobalId, signal);
    const holder = new Map(assets.map((asset) => [asset.assetNum, asset.holder]));
    const granted = context.addAssets.filter((number) => holder.get(number) === context.memberGlobalId);
    const revoked = context.deleteAssets.filter(
      (number) => holder.has(number) && holder.get(number) !== context.memberGlobalId,
    );
    const detail = {
      call: "M6 and M5",
      member: members.some((member) => member.globalId === context.memberGlobalId && !member.deleted),
      granted,
      revoked,
    };
    const effect = privilegesSet(row.id, customer, context, { granted, revoked });
    if (granted.length === context.addAssets.length && revoked.length === context.deleteAssets.length) {
      return { kind: "applied", effect, detail };
    }
    return { kind: "unseen", detail, partEffect: granted.length + revoked.length === 0 ? undefined : effect };
  }

  async #applied(row: JournalRow, reading: Extract<Reading, { kind: "applied" }>): Promise<Settled> {
    const { ledger, logger } = this.#deps;
    await ledger.conclude(row.id, {
      state: "done",
      verdict: "applied",
      evidence: this.#evidence(row, true, reading.detail),
      changes: reading.effect.changes,
      audit: { kind: row.operation.kind, body: { ...reading.effect.audit, settledBy: reading.detail } },
    });
    logger.info(
      { operation: row.id, endpoint: row.operation.endpoint, subject: row.operation.subject },
      "settled: applied",
    );
    return { kind: "done", id: row.id };
  }

  #evidence(row: JournalRow, seen: boolean, detail: JsonObject): JsonObject {
    const earlier = evidenceSchema.safeParse(row.evidence);
    const readings = earlier.success ? earlier.data.readings : [];
    const all = [...readings, { at: toInstant(this.#deps.clock.now()), seen, detail }].slice(-20);
    return {
      readings: all.map((reading) => ({
        at: reading.at,
        seen: reading.seen,
        detail: JSON.parse(JSON.stringify(reading.detail)) as Json,
      })),
    };
  }

  async #unseen(
    row: JournalRow,
    reading: Extract<Reading, { kind: "unseen" }>,
    runId: string | null,
    signal: AbortSignal | undefined,
  ): Promise<Settled> {
    const { ledger, clock, settle } = this.#deps;
    const evidence = this.#evidence(row, false, reading.detail);
    const readings = evidenceSchema.parse(evidence).readings.filter((item) => !item.seen);
    const settleAfter = row.settleAfter ?? row.updatedAt;
    const over = Date.parse(settleAfter) <= clock.now();
    if (!over || readings.length < settle.readings) {
      await ledger.noteEvidence(row.id, evidence);
      row.evidence = evidence;
      const next = over
        ? clock.now() + Math.ceil(settle.timeMs / Math.max(1, settle.readings))
        : Date.parse(settleAfter);
      return { kind: "waiting", id: row.id, until: toInstant(next) };
    }
    switch (row.operation.kind) {
      case "create-enterprise":
      case "bind-enterprise":
        if (await ledger.correlationConfirmed(correlationOf(this.#deps.settings)))
          return await this.#drop(row, evidence, []);
        return await this.#park(
          row,
          "E3 does not show the enterprise, and no enterprise made by this program was ever found by E3 with these templates (A8)",
          reading.detail,
        );
      case "place-order":
        if (this.#deps.ordersUnseen === "resend") {
          await ledger.noteEvidence(row.id, { readings: [] });
          row.evidence = { readings: [] };
          return await this.#sendAgain(
            row,
            runId,
            signal,
            "not shown in complete readings over the settle time (orders.unseen: resend)",
          );
        }
        return await this.#park(
          row,
          "the platform does not show the order, which proves nothing; a person decides (orders.unseen: ask)",
          reading.detail,
        );
      default:
        return await this.#drop(row, evidence, reading.partEffect?.changes ?? []);
    }
  }

  async #drop(row: JournalRow, evidence: JsonObject, changes: readonly KnownChange[]): Promise<Settled> {
    const partly = changes.length > 0;
    await this.#deps.ledger.conclude(row.id, {
      state: partly ? "done" : "dropped",
      verdict: partly ? "applied in part; the rest is planned anew" : "not applied; planned anew",
      evidence,
      changes,
      audit: { kind: partly ? row.operation.kind : "not-applied", body: { settledBy: evidence } },
    });
    this.#deps.logger.info(
      { operation: row.id, endpoint: row.operation.endpoint, subject: row.operation.subject, partly },
      "settled: not applied",
    );
    return { kind: "dropped", id: row.id };
  }

  async #park(row: JournalRow, reason: string, detail: JsonObject): Promise<Settled> {
    await this.#deps.ledger.conclude(row.id, {
      state: "parked",
      verdict: "waits for a person",
      evidence: this.#evidence(row, false, detail),
      message: reason,
      changes: [],
      audit: { kind: "parked", body: { reason, settledBy: detail } },
    });
    this.#deps.logger.error(
      { operation: row.id, endpoint: row.operation.endpoint, subject: row.operation.subject, reason },
      "operation parked",
    );
    return { kind: "parked", id: row.id, reason };
  }

  async #numbersLost(row: JournalRow): Promise<Settled> {
    await this.#deps.ledger.conclude(row.id, {
      state: "dropped",
      verdict: "the numbers are spent and lost",
      changes: [],
      audit: { kind: "numbers-lost", body: { asked: row.context["size"] } },
    });
    this.#deps.logger.warn({ operation: row.id, asked: row.context["size"] }, "asset numbers lost");
    return { kind: "dropped", id: row.id };
  }

  async #sendAgain(
    row: JournalRow,
    runId: string | null,
    signal: AbortSignal | undefined,
    why: string,
  ): Promise<Settled> {
    this.#deps.logger.info(
      { operation: row.id, endpoint: row.operation.endpoint, subject: row.operation.subject, why },
      "sent again",
    );
    const delivery: Delivery = await deliver(this.#deps, this.#pool, row.operation, {
      runId: runId ?? row.runId,
      existing: { id: row.id, wireHash: row.wireHash, context: row.context },
      signal,
    });
    switch (delivery.kind) {
      case "done":
        return { kind: "done", id: row.id };
      case "rejected":
      case "not-sent":
        return { kind: "dropped", id: row.id };
      case "unknown":
        return { kind: "waiting", id: row.id, until: toInstant(this.#deps.clock.now() + this.#deps.settle.timeMs) };
      case "parked":
        return { kind: "parked", id: row.id, reason: "the payload made now differs from the one of the intent" };
      case "blocked":
        return { kind: "unreadable", id: row.id, reason: delivery.reason };
    }
  }
}

/** How much of an order the platform shows: for each order record how many of its products, and the licence order they name. */
export interface OrderSight {
  records: { sequence: number; seen: number; wanted: number }[];
  licenceOrders: Map<number, string>;
}

/** Looks for an order by its own asset numbers: (M6 ∪ E8), then M7 of each, by channelOrderId and crmProductId. */
export async function sightOrder(
  observer: Observer,
  customer: RecordKey,
  context: OrderContext,
  signal?: AbortSignal,
): Promise<OrderSight> {
  const assets = await observer.allAssets(customer, context.enterpriseGlobalId, signal);
  const licenceOrders = new Map<number, string>();
  const records: OrderSight["records"] = [];
  for (const record of context.records) {
    const seen = new Set<string>();
    for (const number of record.numbers) {
      const asset = assets.get(number);
      if (asset === undefined) continue;
      const { products } = await observer.contents(customer, context.enterpriseGlobalId, asset, signal);
      for (const product of products) {
        if (
          product.channelOrderId !== context.channelOrderId ||
          product.crmProductId === null ||
          product.crmProductId === undefined
        )
          continue;
        if (!record.products.includes(product.crmProductId)) continue;
        seen.add(product.crmProductId);
        if (product.licenseOrderId !== null && product.licenseOrderId !== undefined)
          licenceOrders.set(record.sequence, product.licenseOrderId);
      }
    }
    records.push({ sequence: record.sequence, seen: seen.size, wanted: record.products.length });
  }
  return { records, licenceOrders };
}
