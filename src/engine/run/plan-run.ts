import { toInstant } from "../../base/clock.ts";
import { inOrder } from "../../base/lanes.ts";
import { exitCodes, failureOf, Problem, stackOf, type ExitCode, type Failure } from "../../base/errors.ts";
import { CustomerPlanning, decidedIn } from "../planning.ts";
import { CustomerState } from "../customer.ts";
import { readingPlatform } from "../../platform/platform.ts";
import { SnapshotReader } from "../../platform/snapshot.ts";
import { formatKey } from "../../crm/keys.ts";
import type { RecordKey } from "../../crm/model.ts";
import type { StateChange } from "../model/state.ts";
import { isUnread, type PlanOptions } from "../plan/input.ts";
import type { CustomerPlan } from "../plan/plan.ts";
import { quarantineBlock } from "../plan/blocks.ts";
import { openCount, requestOpen, type OpenRecords } from "../../report/open.ts";
import { customersNotShown, maxRounds, operationOpen, restless } from "../attempt.ts";
import { heldOfPlans, waitingHolds, type WaitingHold, type WaitsInPlan } from "./limits-gate.ts";
import type { RunDependencies, RunRequest } from "./request.ts";
import { scopeOf } from "./run.ts";
import { SourceReading } from "../../ingest/source-reading.ts";
import { TrustedClock } from "./trusted-clock.ts";
import { lacksSeats, mootHolds } from "../ended-holds.ts";
import { pendingCustomers } from "./queue.ts";
import type { StreamTally } from "../../ingest/tally.ts";

export interface Unplanned {
  customer: RecordKey;
  code: string;
  reason: string;
  of?: Failure["of"];
}

export type Planned = ({ plan: CustomerPlan; unread: boolean; moot: readonly string[] } & WaitsInPlan) | Unplanned;

export interface PlanSummary {
  run: string;
  customers: number;
  operations: number;
  unplanned: number;
  unreadable: number;
  defects: number;
  sources: StreamTally[];
  exitCode: ExitCode;
  held: WaitingHold[];
  rejected: number;
  heldBy: WaitsInPlan["asked"];
  newlyHeld: number;
  /** Every record that is not done, including those that this plan makes wait. */
  open: OpenRecords[];
}

/** Makes no writing call or intent. `save` keeps the plan before the run ends, so that its failure fails the run. */
export async function planRun(
  given: RunDependencies,
  request: RunRequest,
  emit: (planned: Planned) => void,
  save: (run: string, held: WaitsInPlan["asked"]) => Promise<void> = () => Promise.resolve(),
): Promise<PlanSummary> {
  const deps = { ...given, platform: readingPlatform(given.platform) };
  const { ledger } = deps;
  const run = await ledger.runs.start({
    job: request.job,
    kind: "plan",
    trigger: request.trigger,
    scope: request.scope === undefined ? null : JSON.stringify(request.scope),
    header: request.header,
  });
  const reading = new SourceReading(deps, request, run);
  const summary = emptySummary(run, reading);
  let failure: { error: unknown } | undefined;
  try {
    await reading.read();
    const { gated, moot } = await planEach(deps, request, { summary, emit, removalsBlocked: reading.removalsBlocked });
    const time = request.time ?? new TrustedClock(deps);
    const held = await heldOfPlans({ ...deps, time, limits: request.limits.removals }, gated);
    summary.heldBy = held;
    summary.newlyHeld = held.size - new Set(gated.flatMap(({ asked }) => [...asked.keys()])).size;
    await save(run, held);
    summary.held = (await waitingHolds(deps)).filter(({ hold }) => !moot.has(hold));
    summary.rejected = await ledger.decisions.rejected();
    summary.open = await ledger.records.open(scopeOf(deps, request));
    const inDoubt = (await ledger.journal.open()).length > 0;
    summary.exitCode = exitCodeOf(summary, {
      stopped: request.signal?.aborted === true,
      inDoubt,
      paused: ledger.pause.now() !== undefined,
    });
  } catch (error) {
    if (ledger.broken !== undefined) throw ledger.broken;
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

function emptySummary(run: string, { tallies: sources }: SourceReading): PlanSummary {
  const counts = { customers: 0, operations: 0, unplanned: 0, unreadable: 0, defects: 0, rejected: 0, newlyHeld: 0 };
  return { run, ...counts, sources, exitCode: exitCodes.ok, held: [], heldBy: new Map(), open: [] };
}

async function planEach(
  deps: RunDependencies,
  request: RunRequest,
  {
    summary,
    emit,
    removalsBlocked,
  }: { summary: PlanSummary; emit: (planned: Planned) => void } & Pick<SourceReading, "removalsBlocked">,
): Promise<{ gated: WaitsInPlan[]; moot: ReadonlySet<string> }> {
  const { signal } = request;
  const reader = new SnapshotReader(deps.platform, deps.settings);
  const gated: WaitsInPlan[] = [];
  const moot = new Set<string>();
  let looked = 0;
  const total = request.scope === undefined ? await deps.ledger.records.pendingCount() : undefined;
  for await (const customers of pendingCustomers(deps, request)) {
    const plan = (customer: RecordKey) => planOne({ ...deps, reader }, customer, { signal, removalsBlocked });
    for await (const item of inOrder(customers, deps.concurrency, plan)) {
      await note(deps, summary, item);
      emit(item);
      deps.progress("planning", (looked += 1), total);
      if (!("plan" in item)) continue;
      for (const hold of item.moot) moot.add(hold);
      if (item.holdables.length + item.asked.size > 0) gated.push({ holdables: item.holdables, asked: item.asked });
    }
    if (signal?.aborted === true) break;
  }
  return { gated, moot };
}

async function note({ ledger }: RunDependencies, summary: PlanSummary, item: Planned): Promise<void> {
  if ("plan" in item) {
    if (item.plan.operations.length > 0) summary.customers += 1;
    await ledger.records.noteDeferrals(item.plan.customer, item.plan.records);
    summary.operations += item.plan.operations.length;
    if (item.unread) summary.unreadable += 1;
    return;
  }
  summary.unplanned += 1;
  if (item.of === "service") summary.unreadable += 1;
  if (item.of === "program") summary.defects += 1;
}

/** The most serious open problem. Planned changes come last. */
function exitCodeOf(
  summary: PlanSummary,
  { stopped, inDoubt, paused }: Readonly<Record<"stopped" | "inDoubt" | "paused", boolean>>,
): ExitCode {
  const down = summary.sources.some(
    (tally) => tally.problem !== undefined || tally.doubt !== undefined || !tally.complete,
  );
  if (stopped) return exitCodes.other;
  if (inDoubt) return exitCodes.unknown;
  if (summary.held.length + summary.heldBy.size > 0 || (paused && summary.operations > 0)) return exitCodes.held;
  if (down || summary.unreadable > 0) return exitCodes.sourceDown;
  if (summary.defects > 0) return exitCodes.other;
  // If something is planned, that includes people's requests.
  const open = summary.open.filter(({ code }) => code !== requestOpen || summary.operations === 0);
  if (openCount(open) > 0 || summary.unplanned > 0) return exitCodes.recordsRejected;
  return summary.operations > 0 ? exitCodes.changesPending : exitCodes.ok;
}

async function planOne(
  deps: RunDependencies & { reader: SnapshotReader },
  customer: RecordKey,
  options: Pick<PlanOptions, "removalsBlocked"> & { signal: AbortSignal | undefined },
): Promise<Planned> {
  try {
    const open = await openFirst(deps, customer);
    if (open !== undefined) return open;
    const knows = new CustomerState(deps, customer, { keeps: false });
    const planning = new CustomerPlanning(deps, knows, { ...options, thorough: false });
    const changes: StateChange[] = [];
    for (let round = 0; round < maxRounds.idle; round += 1) {
      const planned = await planning.plan();
      if (planned.kind === "planned") {
        const { plan } = planned;
        const { observed } = planning.snapshot;
        if ((await lacksSeats(deps.ledger, { plan, observed })) && planning.snapshot.readsPeople()) continue;
        const loaded = knows.held;
        const isBelieved = options.removalsBlocked === undefined && quarantineBlock(loaded) === undefined;
        const finished = { plan, observed, delivered: new Set<string>(), isBelieved };
        const waits = await waitsIn(deps, knows, plan, { ofUndo: false });
        const moot = await mootHolds(deps.ledger, finished, waits.holdables);
        return { plan: { ...plan, changes }, ...waits, unread: isUnread(observed), moot };
      }
      if (planned.kind === "awaits") return { customer, code: customersNotShown, reason: planned.reason };
      changes.push(...planned.changes.filter((change) => change.type !== "platform-customers"));
    }
    return { customer, ...restless };
  } catch (error) {
    return unplannedBy(deps, customer, error);
  }
}

export async function openFirst({ ledger }: RunDependencies, customer: RecordKey): Promise<Unplanned | undefined> {
  const [first] = await ledger.journal.openOf(customer);
  if (first === undefined) return undefined;
  const { endpoint, subject } = first.operation;
  return { customer, code: operationOpen, reason: `waits for the outcome of ${endpoint} on ${subject} (${first.id})` };
}

/** Throws again if the ledger itself broke. */
export function unplannedBy({ ledger, logger }: RunDependencies, customer: RecordKey, error: unknown): Unplanned {
  if (ledger.broken !== undefined) throw error;
  const failure = failureOf(error);
  if (failure.of === "program") logger.error({ customer: formatKey(customer), stack: stackOf(error) }, "defect");
  const reason = `${formatKey(customer)} could not be planned: ${failure.reason}`;
  return { ...failure, customer, reason };
}

export async function waitsIn(
  deps: RunDependencies,
  knows: CustomerState,
  plan: CustomerPlan,
  { ofUndo }: { ofUndo: boolean },
): Promise<WaitsInPlan> {
  const { holdables, decided } = await decidedIn(deps, knows, plan, ofUndo);
  const { asked, approved, outdated } = decided;
  const holds = asked.values().map(({ hash, scope, reason }) => [hash, { scope, explanation: reason }] as const);
  const open = holdables.filter(({ hash }) => !approved.has(hash) && !asked.has(hash));
  return { holdables: open.map((one) => ({ ...one, askedBefore: outdated.get(one.hash) })), asked: new Map(holds) };
}
