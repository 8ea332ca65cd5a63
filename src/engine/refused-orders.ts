import { toInstant } from "../base/clock.ts";
import { formatKey } from "../crm/keys.ts";
import { journalEntry, type JournalRow } from "../ledger/journal/journal-tables.ts";
import type { CustomerInput } from "./plan/input.ts";
import type { Operation } from "./model/operation.ts";
import type { RecordReference } from "./model/shape.ts";
import { typeOf } from "./model/registry.ts";
import { type EngineDependencies, CustomerState } from "./customer.ts";
import type { Snapshots } from "../platform/snapshot.ts";
import { evidenceWith, isShown } from "./evidence.ts";
import type { FixedNumber } from "./model/references.ts";
import { settleTimeLeftOf } from "./settle-time.ts";

type AfterRefusal =
  | { kind: "clear" }
  /** The effect of the rejected call may still appear. */
  | { kind: "too-early" }
  | { kind: "parked"; id: string; reason: string };

type LookDependencies = EngineDependencies & { reader: Snapshots; knows: CustomerState };

interface RefusedOrder {
  rows: readonly JournalRow[];
  channelOrderId?: string | undefined;
}

export function refusedOrderOf({ ledger }: Pick<EngineDependencies, "ledger">, operation: Operation): RefusedOrder {
  const { afterRefusal, claims, expects } = typeOf(operation).can;
  const claim = claims?.of(operation);
  const claimed = claim?.what === "order" ? claim : undefined;
  const order = claimed?.order ?? expects?.(operation)?.order;
  if (afterRefusal === undefined || order === undefined) return { rows: [] };
  return { rows: ledger.journal.refusedOrders(order), channelOrderId: claimed?.number };
}

export const refusedJustNow =
  "an earlier E5 of this order was rejected a moment ago; crm-sync looks for its effect after the settle time";

/** Pending orders that the CRM cancelled or removed, and that are not known to be placed. */
export function unwantedOrders({ orders, known }: Pick<CustomerInput, "orders" | "known">): RecordReference[] {
  return orders.flatMap(({ key, state, body, pending }) => {
    const wanted = state === "quarantined" || (state === "current" && !body.cancelled);
    return pending && !wanted && !known.placedOrders.has(formatKey(key)) ? [{ stream: "orders", ...key }] : [];
  });
}

/** Nobody sends these orders again, so nothing else looks for their effects. */
export async function lookForUnwanted(
  deps: LookDependencies,
  orders: readonly RecordReference[],
  signal?: AbortSignal,
): Promise<{ parked: boolean; tooEarly: RecordReference[] }> {
  const tooEarly: RecordReference[] = [];
  for (const order of orders) {
    const after = await lookForRefused(deps, { rows: deps.ledger.journal.refusedOrders(order) }, signal);
    if (after.kind === "parked") return { parked: true, tooEarly };
    if (after.kind === "too-early") tooEarly.push(order);
  }
  return { parked: false, tooEarly };
}

/**
 * A rejected batch may still have done something (A16). So before an order is sent again, this looks for its asset
 * numbers and channel order number in M6, E8 and M7. If anything is found, a person must look.
 */
export async function lookForRefused(
  deps: LookDependencies,
  { rows, channelOrderId }: RefusedOrder,
  signal?: AbortSignal,
): Promise<AfterRefusal> {
  for (const row of rows) {
    if ((await settleTimeLeftOf(deps, row)) > 0) return { kind: "too-early" };
    const found = await shownOf(deps, row, channelOrderId, signal);
    if (found === undefined) continue;
    const refusal = row.outcomeCode === null ? "" : ` with ${row.outcomeCode}`;
    const reason =
      `${row.operation.endpoint} of this order was rejected${refusal}, and yet ${found}; ` +
      "nothing of the order is sent again until a person has looked";
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

async function shownOf(
  deps: LookDependencies,
  row: JournalRow,
  channelOrderId: string | undefined,
  signal: AbortSignal | undefined,
): Promise<string | undefined> {
  // The customer when the order was sent. The CRM may name another one now.
  const { customer } = row.operation;
  const isSame = formatKey(customer) === formatKey(deps.knows.customer);
  const knows = isSame ? deps.knows : new CustomerState(deps, customer);
  const facts = {
    channelOrderId,
    placedNumbers: () => {
      const { numbers, placedOrders } = knows.held.known;
      const isPlaced = ({ namespace, orderId }: FixedNumber): boolean =>
        placedOrders.has(formatKey({ namespace, id: orderId }));
      return numbers.filter(isPlaced).map(({ number }) => number);
    },
    isShown: (licenseType: string) => isShown(deps, licenseType),
  };
  return await typeOf(row.operation).can.afterRefusal?.(journalEntry(row), deps.reader.of(customer, signal), facts);
}
