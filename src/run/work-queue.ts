import type { RecordKey } from "../crm/model.ts";
import type { RunDependencies, RunRequest } from "./request.ts";

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
