import pLimit from "p-limit";
import { toInstant } from "../base/clock.ts";
import { exitCodes, messageOf, Problem } from "../base/errors.ts";
import type { ExitCode } from "../base/errors.ts";
import { OrderAdoption } from "../apply/adopt-orders.ts";
import type { Sought } from "../apply/adopt-orders.ts";
import { SnapshotReader } from "../platform/snapshot.ts";
import { formatKey } from "../crm/keys.ts";
import type { RecordKey } from "../crm/model.ts";
import type { CustomerInput, Observed } from "../plan/input.ts";
import type { Known, PlacedOrder } from "../operation/state.ts";
import { customerNumbers } from "../plan/order-records.ts";
import type { CustomerPlan } from "../plan/plan.ts";
import { needsOf, planCustomer } from "../plan/plan.ts";
import { openCount } from "../report/open.ts";
import type { OpenRecords } from "../report/open.ts";
import { requireFreeEnterprise } from "./customer-attempt.ts";
import type { RunDependencies, RunRequest } from "./request.ts";
import { scopeOf } from "./run.ts";
import { SourceReading } from "./source-reading.ts";
import { pendingCustomers } from "./work-queue.ts";
import type { StreamTally } from "./ingest.ts";

/** A customer's plan, or why there is none now. */
export type Planned = { plan: CustomerPlan } | { customer: RecordKey; reason: string };

export interface PlanSummary {
  run: string;
  customers: number;
  operations: number;
  unreadable: number;
  sources: StreamTally[];
  exitCode: ExitCode;
  /** Every record that is not done, those that this plan would defer among them. */
  open: OpenRecords[];
}

/**
 * Reads the sources and plans every customer with something to do, in key order, without a writing call and without an
 * intent. What the platform shows is read where the plan depends on it. `save` keeps the plan before the run ends, so
 * that what fails there is its outcome too.
 */
export async function planRun(
  deps: RunDependencies,
  request: RunRequest,
  emit: (planned: Planned) => void,
  save: (run: string) => Promise<void> = () => Promise.resolve(),
): Promise<PlanSummary> {
  const { ledger } = deps;
  const run = await ledger.runs.start({
    job: request.job,
    kind: "plan",
    trigger: request.trigger,
    scope: request.scope === undefined ? null : JSON.stringify(request.scope),
    header: request.header,
  });
  const reading = new SourceReading(deps, request, run, { countsAbsence: false });
  const summary: PlanSummary = {
    run,
    customers: 0,
    operations: 0,
    unreadable: 0,
    sources: reading.tallies,
    exitCode: exitCodes.ok,
    open: [],
  };
  let failure: { error: unknown } | undefined;
  try {
    await reading.read();
    const reader = new SnapshotReader(deps.platform, deps.settings);
    const limit = pLimit(deps.concurrency);
    for await (const customers of pendingCustomers(deps, request)) {
      const planned = await Promise.all(
        customers.map((customer) => limit(() => planOne(deps, reader, reading, customer, request.signal))),
      );
      for (const item of planned) {
        summary.customers += 1;
        if ("plan" in item) await ledger.records.noteDeferrals(item.plan.records);
        if ("plan" in item) summary.operations += item.plan.operations.length;
        else summary.unreadable += 1;
        emit(item);
        deps.progress("planning", summary.customers, undefined);
      }
      if (request.signal?.aborted === true) break;
    }
    await save(run);
    summary.open = await ledger.records.open(scopeOf(deps, request));
    const inDoubt = (await ledger.journal.open()).length > 0;
    summary.exitCode = exitCodeOf(summary, { stopped: request.signal?.aborted === true, inDoubt });
  } catch (error) {
    if (ledger.broken !== undefined) throw error;
    failure = { error };
    summary.exitCode = error instanceof Problem ? error.exitCode : exitCodes.other;
  }
  await ledger.runs.finish(run, {
    state: failure !== undefined ? "failed" : request.signal?.aborted === true ? "stopped" : "done",
    exitCode: summary.exitCode,
    balance: null,
    summary: { customers: summary.customers, operations: summary.operations, at: toInstant(deps.clock.now()) },
  });
  if (failure !== undefined) throw failure.error;
  return summary;
}

/** The worst thing that is true when the plan ends; what it would change comes last. */
function exitCodeOf(summary: PlanSummary, { stopped, inDoubt }: { stopped: boolean; inDoubt: boolean }): ExitCode {
  const down = summary.sources.some(
    (tally) => tally.problem !== undefined || tally.shrunk !== undefined || !tally.complete,
  );
  if (stopped) return exitCodes.other;
  if (inDoubt) return exitCodes.unknown;
  if (down || summary.unreadable > 0) return exitCodes.sourceDown;
  if (openCount(summary.open) > 0) return exitCodes.recordsRejected;
  return summary.operations > 0 ? exitCodes.changesPending : exitCodes.ok;
}

async function planOne(
  deps: RunDependencies,
  reader: SnapshotReader,
  reading: SourceReading,
  customer: RecordKey,
  signal: AbortSignal | undefined,
): Promise<Planned> {
  try {
    const open = await deps.ledger.journal.openOf(customer);
    const [first] = open;
    if (first !== undefined) {
      return {
        customer,
        reason: `waits for the outcome of ${first.operation.endpoint} on ${first.operation.subject} (${first.id})`,
      };
    }
    const loaded = await deps.ledger.state.load(customer);
    const options = {
      settings: deps.settings,
      canSeal: deps.ledger.private.canSeal,
      revokesBlocked: reading.revokesBlocked,
    };
    const nothing: Observed = { enterprises: undefined, members: undefined, assets: undefined };
    let observed = await observe(deps, reader, loaded, nothing, signal);
    let plan = planCustomer({ ...loaded, observed }, options);
    // An enterprise that would be adopted is planned as if it were: its staff and its orders are read, and nothing is
    // kept.
    const adopted = plan.learned.find((change) => change.type === "linked");
    if (adopted !== undefined && adopted.type === "linked") {
      await requireFreeEnterprise(deps.ledger, plan);
      loaded.known.link = adopted.link;
      for (const change of plan.learned)
        if (change.type === "platform-customers") loaded.known.platformCustomers = change.customers;
      observed = await observe(deps, reader, loaded, observed, signal);
    }
    const sought = await new OrderAdoption(deps, reader, { keeps: false }).seek(loaded, signal);
    if (sought.customers !== undefined) loaded.known.platformCustomers = sought.customers;
    loaded.known.placedOrders = withAdopted(loaded, sought.adopted);
    plan = planCustomer({ ...loaded, observed: { ...observed, unclearOrders: sought.unclear } }, options);
    const learned = [...(adopted === undefined ? [] : [adopted]), ...sought.adopted, ...plan.learned];
    return { plan: { ...plan, learned } };
  } catch (error) {
    return { customer, reason: `${formatKey(customer)} could not be planned: ${messageOf(error)}` };
  }
}

/**
 * The placed orders as they are known once these were adopted: in the order in which the ledger gives them, for the
 * fingerprint's sake.
 */
function withAdopted(loaded: Omit<CustomerInput, "observed">, adopted: Sought["adopted"]): Known["placedOrders"] {
  const { placedOrders } = loaded.known;
  if (adopted.length === 0) return placedOrders;
  const bodies = new Map(loaded.orders.map((order) => [formatKey(order.key), order.body]));
  const all: PlacedOrder[] = adopted.map(({ order, customer, channelOrderId, bodyHash, version, origin }) => {
    return { key: order, customer, channelOrderId, bodyHash, version, origin, body: bodies.get(formatKey(order)) };
  });
  all.push(...placedOrders.values());
  const bytes = (text: string): Buffer => Buffer.from(text, "utf8");
  const sorted = all.sort(
    ({ key: one }, { key: other }) =>
      bytes(one.namespace).compare(bytes(other.namespace)) || bytes(one.id).compare(bytes(other.id)),
  );
  return new Map(sorted.map((order) => [formatKey(order.key), order]));
}

async function observe(
  deps: RunDependencies,
  reader: SnapshotReader,
  loaded: Omit<CustomerInput, "observed">,
  before: Observed,
  signal: AbortSignal | undefined,
): Promise<Observed> {
  const needs = needsOf(loaded, false);
  const observed: Observed = { ...before };
  const { link } = loaded.known;
  if (needs.enterprises && deps.settings.channelCode !== undefined) {
    const { channelCustomerId } = customerNumbers(
      loaded.customer,
      loaded.desiredCustomer?.body.channelCustomerId,
      deps.settings,
    );
    if (observed.enterprises === undefined)
      Object.assign(observed, await reader.lookUp(loaded.customer, channelCustomerId, signal));
  }
  if (needs.staff && link !== undefined) {
    observed.members ??= await reader.members(loaded.customer, link.enterpriseGlobalId, signal);
    observed.assets ??= await reader.assets(loaded.customer, link.enterpriseGlobalId, signal);
  }
  return observed;
}
