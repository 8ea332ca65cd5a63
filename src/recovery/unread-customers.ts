import { messageOf, Problem } from "../base/errors.ts";
import { formatKey } from "../crm/keys.ts";
import type { RecordKey } from "../crm/model.ts";
import type { StateChange } from "../engine/model/state.ts";
import { lookAtCustomer } from "../engine/run/preflight.ts";
import type { RunDependencies } from "../engine/run/request.ts";
import type { StreamTally } from "../ingest/tally.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { notLookedAt } from "../ledger/state/unread-customers.ts";
import type { SnapshotReader } from "../platform/snapshot.ts";

const unfinishedText = "a rebuild was cut off before all customers were looked at";

/** Records that a rebuild begins: until it has looked at every customer, only another rebuild may write. */
export async function noneLookedAt(ledger: Ledger): Promise<void> {
  await ledger.state.record(notLookedAt, [
    { type: "customer-unread", customer: notLookedAt, why: unfinishedText, ofAllOrders: true },
  ]);
}

/**
 * Marks customers that an earlier rebuild could not look at for another look. Customers that are only in quarantine, or
 * that a source did not give, cannot be looked at now.
 */
export async function forgetUnread(
  ledger: Ledger,
  tallies: readonly StreamTally[],
  ofAllOrders: boolean,
): Promise<void> {
  const changes: StateChange[] = [];
  for (const customer of await ledger.state.unread()) {
    if (customer.namespace !== "") await ledger.records.markPending({ customer });
    if (formatKey(customer) !== formatKey(notLookedAt)) changes.push({ type: "customer-read", customer });
  }
  const why = "has a record in quarantine, so that its enterprise was not looked for";
  for (const customer of await ledger.state.customersInQuarantine())
    changes.push({ type: "customer-unread", customer, why, ofAllOrders });
  if ((await ledger.state.unnamedInQuarantine()).includes("customers")) {
    const customer = { namespace: "", id: "rows" };
    const what = "a row of customers in quarantine does not say whose it is";
    changes.push({ type: "customer-unread", customer, why: what, ofAllOrders });
  }
  for (const tally of tallies)
    if (tally.stream === "customers" && isCutOff(tally)) {
      const customer = { namespace: "", id: `source ${tally.source}` };
      const what = `the source ${tally.source} did not give all of its customers`;
      changes.push({ type: "customer-unread", customer, why: what, ofAllOrders });
    }
  await ledger.state.record(notLookedAt, changes);
}

/** Whether a source did not give all records of a stream. */
export function isCutOff({ problem, complete }: StreamTally): boolean {
  return problem !== undefined || !complete;
}

/** Records that every customer was reached. `ofAllOrders`: the ledger does not know all orders yet. */
export async function lookedAtAll(ledger: Ledger, ofAllOrders: boolean): Promise<void> {
  await ledger.state.record(notLookedAt, [
    { type: "customer-unread", customer: notLookedAt, why: unfinishedText, ofAllOrders },
    { type: "customer-read", customer: notLookedAt },
  ]);
}

/**
 * Returns whether the customer's enterprise shows orders that belong to others in the CRM. A customer that cannot be
 * looked at is recorded: until it can, no order is placed that may exist there.
 */
export async function lookAtOne(
  deps: RunDependencies & { reader: SnapshotReader },
  customer: RecordKey,
  { signal, ofAllOrders }: { signal: AbortSignal | undefined; ofAllOrders: boolean },
): Promise<boolean> {
  const { ledger } = deps;
  const isUnread = async (why: string): Promise<void> =>
    void (await ledger.state.record(customer, [{ type: "customer-unread", customer, why, ofAllOrders }]));
  try {
    const { unread, hasOthers } = await lookAtCustomer(deps, customer, signal);
    if (unread !== undefined) await isUnread(unread);
    return hasOthers;
  } catch (error) {
    if (ledger.broken !== undefined || signal?.aborted === true) throw error;
    // The enterprise belongs to another customer, whose own look covers it.
    const isAnothers = error instanceof Problem && error.code === "enterprise.taken";
    if (!isAnothers) await isUnread(`could not be read: ${messageOf(error)}`);
    return false;
  }
}
