import { messageOf, Problem } from "../base/errors.ts";
import { formatKey } from "../crm/keys.ts";
import type { RecordKey } from "../crm/model.ts";
import { CustomerState } from "../engine/customer.ts";
import type { StateChange } from "../engine/model/state.ts";
import type { Observed } from "../engine/plan/input.ts";
import { CustomerPlanning, type PlanningDependencies } from "../engine/planning.ts";
import type { RunDependencies } from "../engine/run/request.ts";
import type { StreamTally } from "../ingest/tally.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { notLookedAt } from "../ledger/state/unread-customers.ts";
import type { SnapshotReader } from "../platform/snapshot.ts";
import type { Link } from "../resources/enterprise/state/link.ts";
import { channelNumberOf } from "../resources/order/pool.ts";
import { amendmentsOf } from "../resources/order/shown-orders.ts";

const unfinishedText = "a rebuild was cut off before all customers were looked at";

/** Until all customers have been looked at, only another rebuild may write. */
export async function noneLookedAt(ledger: Ledger): Promise<void> {
  await ledger.state.record(notLookedAt, [
    { type: "customer-unread", customer: notLookedAt, why: unfinishedText, ofAllOrders: true },
  ]);
}

/** Customers in quarantine, or missing from a source, cannot be looked at now. */
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

export function isCutOff({ problem, complete }: StreamTally): boolean {
  return problem !== undefined || !complete;
}

/** `ofAllOrders`: the ledger does not know all orders yet. */
export async function lookedAtAll(ledger: Ledger, ofAllOrders: boolean): Promise<void> {
  await ledger.state.record(notLookedAt, [
    { type: "customer-unread", customer: notLookedAt, why: unfinishedText, ofAllOrders },
    { type: "customer-read", customer: notLookedAt },
  ]);
}

/**
 * Links a customer before any order counts as placed. Returns whether its enterprise shows orders of others.
 * While a customer cannot be read, no order that may be there is placed.
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
    const knows = new CustomerState(deps, customer);
    const planning = new CustomerPlanning(deps, knows, { thorough: false, signal, removalsBlocked: undefined });
    await planning.look();
    const { link } = knows.held.known;
    const unread = whyUnread(link, planning.snapshot.observed);
    const hasOthers = link !== undefined && (await showsOthers(deps, knows));
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

function whyUnread(link: Link | undefined, { enterprises, ambiguous }: Observed): string | undefined {
  if (link !== undefined)
    return link.examined || link.origin === "created"
      ? undefined
      : "has assets in which M7 shows neither a product nor a package (A43)";
  if (enterprises?.length === 0) return undefined;
  if (ambiguous !== undefined) return `is not known to have an enterprise or none: ${ambiguous}`;
  if (enterprises !== undefined) return "is linked with none of the enterprises that E3 shows for it";
  return "has no record in the CRM that can be used, so that its enterprise was not looked for";
}

async function showsOthers({ ledger, settings }: PlanningDependencies, knows: CustomerState): Promise<boolean> {
  const { customer, orders } = knows.held;
  const own = new Set<string>();
  const amendments = orders.map((order) => {
    const channelOrderId = channelNumberOf({ settings }, order);
    own.add(channelOrderId);
    return amendmentsOf(settings, { order: order.key, channelOrderId });
  });
  const numbers = await ledger.state.shownNumbers(customer);
  return numbers.some((number) => !own.has(number) && amendments.every((nOf) => nOf(number) === undefined));
}
