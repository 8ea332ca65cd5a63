import type { Json } from "../base/canonical-json.ts";
import { toInstant } from "../base/clock.ts";
import { formatKey } from "../crm/keys.ts";
import type { RecordKey } from "../crm/model.ts";
import type { JournalRow } from "../ledger/journal/journal-tables.ts";
import type { CustomerInput } from "../plan/input.ts";
import type { Operation, RecordReference } from "../operation/operation.ts";
import { kindOf } from "../operation/registry.ts";
import type { ApplyDependencies } from "./dependencies.ts";
import { orderContext } from "../operation/order-context.ts";
import type { SnapshotReader } from "../platform/snapshot.ts";
import { plannedOrder } from "../operation/asset-numbers.ts";
import { evidenceWith } from "./settle.ts";
import { settleTimeLeftOf } from "./settle-time.ts";

/** Whether an order of which an E5 was refused before may be sent. */
export type AfterRefusal =
  | { kind: "clear" }
  /** What the refused call did may still come to be shown. */
  | { kind: "too-early" }
  | { kind: "parked"; id: string; reason: string };

/**
 * The contract does not say that a refused batch did nothing at all (A16). Before anything of an order is sent of which
 * an E5 was refused, its asset numbers and its channel order number are looked for: (M6 ∪ E8), then M7 of all that is
 * not another order's of ours. Anything shown: the refused operation waits for a person.
 */
export async function lookForRefusedOrder(
  deps: ApplyDependencies,
  reader: SnapshotReader,
  operation: Operation,
  signal?: AbortSignal,
): Promise<AfterRefusal> {
  const [order] = operation.records;
  if (!kindOf(operation).mayHoldAfterRefusal || order === undefined) return { kind: "clear" };
  return await lookForRefused(deps, reader, { order, channelOrderId: operation.payload["channelOrderId"] }, signal);
}

export const refusedJustNow =
  "an earlier E5 of this order was rejected a moment ago; what it may have done is looked for after the settle time";

/**
 * Orders that the CRM cancelled or dropped, that it has not been decided on since, and that are not known to be placed.
 */
export function unwantedOrders({ orders, known }: Pick<CustomerInput, "orders" | "known">): RecordReference[] {
  return orders.flatMap(({ key, state, body, pending }) => {
    const wanted = state === "quarantined" || (state === "current" && !body.cancelled);
    return pending && !wanted && !known.placedOrders.has(formatKey(key)) ? [{ stream: "orders", ...key }] : [];
  });
}

/** Looks for what there may be of those that were refused: nobody sends them again, so that nobody else would look. */
export async function lookForUnwanted(
  deps: ApplyDependencies,
  reader: SnapshotReader,
  orders: readonly RecordReference[],
  signal?: AbortSignal,
): Promise<{ parked: boolean; tooEarly: RecordReference[] }> {
  const tooEarly: RecordReference[] = [];
  for (const order of orders) {
    const after = await lookForRefused(deps, reader, { order }, signal);
    if (after.kind === "parked") return { parked: true, tooEarly };
    if (after.kind === "too-early") tooEarly.push(order);
  }
  return { parked: false, tooEarly };
}

async function lookForRefused(
  deps: ApplyDependencies,
  reader: SnapshotReader,
  { order, channelOrderId }: { order: RecordKey; channelOrderId?: Json | undefined },
  signal?: AbortSignal,
): Promise<AfterRefusal> {
  for (const row of await deps.ledger.journal.refusedOrders(order)) {
    if ((await settleTimeLeftOf(deps, row)) > 0) return { kind: "too-early" };
    const found = await lookFor(deps, reader, row, channelOrderId, signal);
    if (found === undefined) continue;
    const reason = `${row.operation.endpoint} of this order was rejected${row.outcomeCode === null ? "" : ` with ${row.outcomeCode}`}, and yet ${found}; nothing of the order is sent again until a person has looked`;
    const reading = { at: toInstant(deps.clock.now()), seen: true, detail: { call: "(M6 ∪ E8) → M7", found } };
    await deps.ledger.journal.reopenRefused(row.id, reason, evidenceWith(row, reading));
    deps.logger.error(
      { operation: row.id, endpoint: row.operation.endpoint, subject: row.operation.subject, reason },
      "operation parked",
    );
    return { kind: "parked", id: row.id, reason };
  }
  return { kind: "clear" };
}

/**
 * What the platform shows of a refused order, in words; undefined where it shows nothing. Rejects where it could not be
 * read.
 */
async function lookFor(
  deps: ApplyDependencies,
  reader: SnapshotReader,
  row: JournalRow,
  channelOrderId: Json | undefined,
  signal: AbortSignal | undefined,
): Promise<string | undefined> {
  const context = orderContext.parse(row.context);
  const { customer } = row.operation;
  const channelNumbers = new Set([context.channelOrderId, channelOrderId]);
  const assets = await reader.allAssets(customer, context.enterpriseGlobalId, signal);
  // Numbers that the CRM gave may stand for assets that were there before; those of the pool are this order's and
  // nobody else's.
  const given = new Set(plannedOrder.parse(row.operation.after).assets.flatMap((asset) => asset.given));
  const own = new Set(context.records.flatMap((record) => record.numbers));
  for (const number of own)
    if (assets.has(number) && !given.has(number)) return `the platform shows its asset number ${number}`;
  // Somebody may have placed it by hand since, under other numbers. What stands under the numbers of our other orders
  // is theirs.
  const others = await deps.ledger.state.placedNumbers(customer);
  for (const number of others) if (!own.has(number)) assets.delete(number);
  for (const asset of assets.values()) {
    const { products } = await reader.contents(customer, context.enterpriseGlobalId, asset, signal);
    const found = products.find(
      (product) => product.channelOrderId !== null && channelNumbers.has(product.channelOrderId),
    );
    if (found !== undefined)
      return `the platform shows a product of the channel order ${found.channelOrderId} under the asset number ${asset.assetNum}`;
  }
  const hidden = context.records.length < 2 ? undefined : await neverShown(deps, context.records);
  if (hidden === undefined) return undefined;
  return `a part of it may be there: the platform was never seen to show assets of the licence type ${hidden} (A43: assumptions.visibleLicenseTypes)`;
}

/** A licence type whose assets the platform is not known to show, by the settings or by what was seen so far. */
async function neverShown(
  deps: ApplyDependencies,
  records: readonly { licenseType: string }[],
): Promise<string | undefined> {
  const { settings, ledger } = deps;
  for (const { licenseType } of records) {
    const shows =
      settings.visibleLicenseTypes === undefined
        ? await ledger.state.licenceTypeShown(licenseType)
        : settings.visibleLicenseTypes.some((type) => type === licenseType);
    if (!shows) return licenseType;
  }
  return undefined;
}
