import { rebuildCustomer } from "../apply/rebuild-customer.ts";
import type { ExitCode } from "../base/errors.ts";
import { exitCodes, messageOf, Problem } from "../base/errors.ts";
import { subjectOf } from "../crm/keys.ts";
import { streams } from "../crm/model.ts";
import type { RecordKey, Stream } from "../crm/model.ts";
import { rebuiltKind } from "../ledger/state/observations.ts";
import { makes } from "../plan/gated.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { RunState } from "../ledger/runs/tables.ts";
import type { StateChange } from "../operation/state.ts";
import { counts } from "../plan/owner.ts";
import type { CustomerPlan } from "../plan/plan.ts";
import { readingPlatform } from "../platform/reading-platform.ts";
import { SnapshotReader } from "../platform/snapshot.ts";
import type { StreamTally } from "./ingest.ts";
import { workInLanes } from "./lanes.ts";
import type { RunDependencies, RunRequest } from "./request.ts";
import { SourceReading } from "./source-reading.ts";
import { eachPendingCustomer } from "./work-queue.ts";

/** Something of one record that could not be brought back, or that the next run would do. */
export interface NotRebuilt {
  record: string;
  why: string;
}

/** What building the ledger anew came to. */
export interface RebuildSummary {
  run: string;
  state: RunState;
  exitCode: ExitCode;
  sources: StreamTally[];
  customers: number;
  /** What is known again. */
  known: { enterprises: number; orders: number; staff: number; assignments: number };
  /** Customers that the platform did not let be read. */
  unreadable: number;
  lost: NotRebuilt[];
  /** What is taken for granted, since nothing shows it. */
  assumed: NotRebuilt[];
  /** What the next run would do; what of it makes something waits for a person. */
  left: NotRebuilt[];
}

const kindsBefore = new Set(["plan", "rebuild"]);

/** Throws a Problem where anything was ever done with the ledger but plans and rebuilds. */
export async function requireUnused(ledger: Ledger): Promise<void> {
  const runs = await ledger.runs.lastByJob();
  if ([...runs.values()].every((run) => kindsBefore.has(run.kind))) return;
  throw new Problem({
    code: "rebuild.ledger-used",
    message: `the ledger ${ledger.path} was worked with already, so it is not built anew`,
    cure:
      "put the damaged ledger aside, or name another file in ledger.path, and begin with an empty one; " +
      "a ledger that is whole needs no rebuild",
    exitCode: exitCodes.ledgerRefused,
  });
}

/**
 * Brings links, orders and assignments back from the platform and the sources into a ledger that was not used. No
 * writing call is made: the platform is handed in without them. The caller holds the run lock. In one piece: one run on
 * one screen.
 */
export async function runRebuild(
  deps: RunDependencies,
  request: Pick<RunRequest, "limits" | "signal" | "header">,
): Promise<RebuildSummary> {
  const { ledger } = deps;
  await requireUnused(ledger);
  const platform = readingPlatform(deps.platform);
  const asked: RunRequest = { ...request, job: "rebuild", trigger: "hand", streams, read: true };
  const header = { job: "rebuild", kind: "rebuild", trigger: "hand", scope: null, header: request.header };
  const run = await ledger.runs.start(header);
  const reading = new SourceReading(deps, asked, run, { countsAbsence: false });
  const summary: RebuildSummary = {
    run,
    state: "done",
    exitCode: exitCodes.ok,
    sources: reading.tallies,
    customers: 0,
    known: { enterprises: 0, orders: 0, staff: 0, assignments: 0 },
    unreadable: 0,
    lost: [],
    assumed: [],
    left: [],
  };
  const stopped = (): boolean => request.signal?.aborted === true;
  try {
    await reading.read();
    const reader = new SnapshotReader(platform, deps.settings);
    const lanes = { lanes: deps.concurrency, stopped };
    await workInLanes(eachPendingCustomer(deps, asked), lanes, async (customer) => {
      await rebuildOne({ ...deps, platform, reader }, customer, { run, summary, signal: request.signal });
      deps.progress("rebuilding", summary.customers, undefined);
    });
  } catch (error) {
    if (ledger.broken !== undefined) throw ledger.broken;
    const exitCode = error instanceof Problem ? error.exitCode : exitCodes.other;
    await ledger.runs.finish(run, { state: "failed", exitCode, balance: null, summary: { reason: messageOf(error) } });
    throw error;
  }
  if (stopped()) summary.state = "stopped";
  summary.exitCode = exitCodeOf(summary);
  const { known, lost, assumed, left, unreadable, customers } = summary;
  await ledger.runs.finish(run, {
    state: summary.state,
    exitCode: summary.exitCode,
    balance: null,
    summary: {
      customers,
      known: { ...known },
      unreadable,
      lost: lost.map(plain),
      assumed: assumed.map(plain),
      left: left.map(plain),
    },
  });
  return summary;
}

function plain({ record, why }: NotRebuilt): { record: string; why: string } {
  return { record, why };
}

/** One that cannot be read stops no other; the rebuild is to be made again for it. */
async function rebuildOne(
  deps: RunDependencies & { reader: SnapshotReader },
  customer: RecordKey,
  { run, summary, signal }: { run: string; summary: RebuildSummary; signal: AbortSignal | undefined },
): Promise<void> {
  const { ledger } = deps;
  const subject = subjectOf("customers", customer);
  summary.customers += 1;
  try {
    const { plan, why, assumed } = await rebuildCustomer(deps, customer, signal);
    summary.assumed.push(...assumed);
    if (plan === undefined) {
      summary.lost.push({ record: subject, why: why ?? "" });
      await ledger.state.record(customer, [leftToBeMade(customer, run, null)]);
    } else await tell(ledger, run, summary, plan);
    const { link, placedOrders, staffLinks, assignments } = await ledger.state.known(customer);
    summary.known.enterprises += link === undefined ? 0 : 1;
    summary.known.orders += placedOrders.size;
    summary.known.staff += staffLinks.size;
    summary.known.assignments += assignments.length;
  } catch (error) {
    if (ledger.broken !== undefined || signal?.aborted === true) throw error;
    summary.unreadable += 1;
    summary.lost.push({ record: subject, why: messageOf(error) });
    await ledger.state.record(customer, [leftToBeMade(customer, run, null)]);
  }
}

/** What is as the CRM says is done with; what a run would do, or what waits, is looked at by the next one. */
async function tell(ledger: Ledger, run: string, summary: RebuildSummary, plan: CustomerPlan): Promise<void> {
  const name = (stream: Stream, key: RecordKey): string => subjectOf(stream, key);
  for (const { stream, key, outcome, code, reason } of plan.records)
    if (outcome !== "planned" && counts(code ?? ""))
      summary.lost.push({ record: name(stream, key), why: reason ?? "" });
  for (const { endpoint, subject, reason } of plan.operations)
    summary.left.push({ record: subject, why: `${endpoint}: ${reason}` });
  const unfinished = plan.operations.flatMap((operation) =>
    operation.records.map(({ stream, namespace, id }) => ({ stream, key: { namespace, id } })),
  );
  await ledger.records.setOutcomes(run, plan.records, unfinished);
  const { customer } = plan;
  const left = plan.operations.filter(makes).length;
  if (left > 0) await ledger.state.record(customer, [leftToBeMade(customer, run, left)]);
  else await ledger.approvals.nothingLeftByRebuild(customer);
}

/** What is to be made of the customer waits for a person; `left: null`: nobody knows how much it is. */
function leftToBeMade(customer: RecordKey, run: string, left: number | null): StateChange {
  return { type: "observed", customer, kind: rebuiltKind, subject: "", body: { run, left } };
}

function exitCodeOf({ state, sources, unreadable, lost, left }: RebuildSummary): ExitCode {
  const down = sources.some((tally) => tally.problem !== undefined || !tally.complete);
  if (state !== "done") return exitCodes.other;
  if (down || unreadable > 0) return exitCodes.sourceDown;
  return lost.length + left.length > 0 ? exitCodes.recordsRejected : exitCodes.ok;
}
