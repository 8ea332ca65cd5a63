import type { RecordKey } from "../../crm/model.ts";
import { CustomerPlanning, type PlanningDependencies } from "../planning.ts";
import { CustomerState } from "../customer.ts";
import { messageOf } from "../../base/errors.ts";
import { formatKey } from "../../crm/keys.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import { notLookedAt } from "../../ledger/state/unread-customers.ts";
import type { UnreadCustomerChange } from "../model/state.ts";
import type { Snapshot, Snapshots, SnapshotsAhead } from "../../platform/snapshot.ts";
import { workInLanes } from "../../base/lanes.ts";
import type { RunDependencies } from "./request.ts";

/** Undefined if an operation is open: then its pass comes first. Throws if the platform cannot be read. */
async function isThereAlready(
  deps: PlanningDependencies,
  customer: RecordKey,
  signal: AbortSignal | undefined,
): Promise<boolean | undefined> {
  const knows = new CustomerState(deps, customer);
  const begun = await deps.ledger.state.begin(customer);
  if (begun.open) return undefined;
  knows.begin(begun);
  await new CustomerPlanning(deps, knows, { thorough: false, signal, removalsBlocked: undefined }).look();
  return knows.held.known.link !== undefined;
}

const sample = 64;

const page = 200;

interface LookingFirst {
  snapshots: Snapshots;
  ahead: SnapshotsAhead | undefined;
  signal: AbortSignal | undefined;
}

/**
 * Looks for existing enterprises before any order is placed: an earlier ledger may be lost, and their orders may belong
 * to other customers now. If the first customers have none, the platform is new and the rest is skipped. If others have
 * one, the orders of an unread customer that may exist wait until it is read.
 */
export async function lookFirst(deps: RunDependencies, looking: LookingFirst): Promise<void> {
  const { records } = deps.ledger;
  const { ahead } = looking;
  const look: Look = { found: false, unread: [] };
  const first = await records.unlinkedCustomers(undefined, sample);
  await lookAtEach(deps, first, { ...looking, look }, (customer, snapshot) => ahead?.keep(customer, snapshot));
  let after = first.at(-1);
  while (look.found && after !== undefined && looking.signal?.aborted !== true) {
    const customers = await records.unlinkedCustomers(after, page);
    await lookAtEach(deps, customers, { ...looking, look }, () => {});
    after = customers.at(-1);
  }
  if (look.found && look.unread.length > 0) await keepUnread(deps.ledger, look.unread);
}

interface Look {
  found: boolean;
  unread: { customer: RecordKey; why: string }[];
}

/** Does not change customers that a rebuild left unread. */
async function keepUnread(ledger: Ledger, unread: Look["unread"]): Promise<void> {
  const begun: UnreadCustomerChange[] = [
    { type: "customer-unread", customer: notLookedAt, why: "", ofAllOrders: false },
    { type: "customer-read", customer: notLookedAt },
  ];
  const known = new Set((await ledger.state.unread()).map(formatKey));
  const added = unread.filter(({ customer }) => !known.has(formatKey(customer)));
  await ledger.state.record(notLookedAt, [
    ...((await ledger.state.isAnew()) ? [] : begun),
    ...added.map((item) => ({ type: "customer-unread", ...item, ofAllOrders: false }) as const),
  ]);
}

async function lookAtEach(
  deps: RunDependencies,
  customers: readonly RecordKey[],
  { snapshots, signal, look }: LookingFirst & { look: Look },
  looked: (customer: RecordKey, snapshot: Snapshot) => void,
): Promise<void> {
  const { ledger, logger, concurrency } = deps;
  const lanes = { lanes: concurrency, stopped: () => signal?.aborted === true };
  await workInLanes([customers], lanes, async (customer) => {
    const snapshot = snapshots.of(customer, signal);
    try {
      const isThere = await isThereAlready({ ...deps, reader: { of: () => snapshot } }, customer, signal);
      if (isThere === true) look.found = true;
      if (isThere !== undefined) looked(customer, snapshot);
    } catch (error) {
      if (ledger.broken !== undefined) throw error;
      if (signal?.aborted === true) return;
      const reason = messageOf(error);
      // The enterprise may be known although its contents are not.
      if (ledger.state.load(customer).known.link !== undefined) look.found = true;
      else {
        snapshot.failedAhead(error);
        looked(customer, snapshot);
      }
      look.unread.push({ customer, why: `could not be read: ${reason}` });
      logger.debug({ customer: formatKey(customer), reason }, "customer not looked at ahead");
    }
  });
}
