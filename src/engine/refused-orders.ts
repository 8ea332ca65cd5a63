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

/** Whether an order may be sent after one of its E5 was rejected. */
type AfterRefusal =
  | { kind: "clear" }
  /** The platform may still show the effect of the rejected call later. */
  | { kind: "too-early" }
  | { kind: "parked"; id: string; reason: string };

type LookDependencies = EngineDependencies & { reader: Snapshots; knows: CustomerState };

/** An order with rejected E5 operations, and the channel order number under which it is sent now. */
interface RefusedOrder {
  rows: readonly JournalRow[];
  channelOrderId?: string | undefined;
}

/** The rejected E5 operations of the order that an operation sends, newest first. */
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

/** Pending orders that the CRM cancelled or dropped, and that are not known to be placed. */
export function unwantedOrders({ orders, known }: Pick<CustomerInput, "orders" | "known">): RecordReference[] {
  return orders.flatMap(({ key, state, body, pending }) => {
    const wanted = state === "quarantined" || (state === "current" && !body.cancelled);
    return pending && !wanted && !known.placedOrders.has(formatKey(key)) ? [{ stream: "orders", ...key }] : [];
  });
}

/** Looks for effects of unwanted rejected orders: nobody sends them again, so nothing else would look. */
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
 * The contract does not say that a rejected batch did nothing at all (A16). So before crm-sync sends an order with a
 * rejected E5, it looks for the order's asset numbers and channel order number. It reads (M6 ∪ E8), then M7 of all
 * assets that do not belong to another of our orders. If anything shows, the rejected operation needs a person.
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
  // The enterprise is that of the customer whose order was sent, who may differ from the customer in the CRM now.
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
