import { copyFileSync, existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { exitCodes, failureOf, Problem, stackOf, type ExitCode } from "../base/errors.ts";
import { formatKey, subjectOf } from "../crm/keys.ts";
import { streams, type RecordKey, type Stream } from "../crm/model.ts";
import { workInLanes } from "../base/lanes.ts";
import { isSameKey, type StateChange } from "../engine/model/state.ts";
import { makes } from "../engine/plan/gated.ts";
import { counts } from "../engine/plan/owner.ts";
import type { CustomerPlan } from "../engine/plan/plan.ts";
import { pendingCustomers } from "../engine/run/queue.ts";
import type { RunDependencies, RunRequest } from "../engine/run/request.ts";
import { endFailed } from "../engine/run/run.ts";
import { SourceReading } from "../ingest/source-reading.ts";
import type { StreamTally } from "../ingest/tally.ts";
import { headsPath } from "../ledger/audit/audit-heads.ts";
import { copyWhileWritten } from "../ledger/database/backup.ts";
import { holdFolder } from "../ledger/database/lock.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { RunState } from "../ledger/runs/run-tables.ts";
import { rebuiltKind } from "../ledger/state/observations.ts";
import { underRunLock, type Application } from "../operate/application.ts";
import { readingPlatform } from "../platform/platform.ts";
import { SnapshotReader } from "../platform/snapshot.ts";
import { rebuildCustomer } from "./rebuild-customer.ts";
import { bringBack } from "./restored-customer.ts";
import { forgetUnread, isCutOff, lookAtOne, lookedAtAll, noneLookedAt } from "./unread-customers.ts";

type NotRebuilt = Record<"record" | "why", string>;

export interface RebuildSummary {
  run: string;
  state: RunState;
  exitCode: ExitCode;
  sources: StreamTally[];
  customers: number;
  known: { enterprises: number; orders: number; staff: number; assignments: number };
  unreadable: number;
  defects: number;
  lost: NotRebuilt[];
  assumed: NotRebuilt[];
  /** Operations of the next run. Creations wait for a person. */
  left: NotRebuilt[];
  /** After a restore: the lost period, and how many orders were kept unchanged. */
  gap?: { from: string | null; until: string | null; kept: number } | undefined;
}

const kindsBefore = new Set(["plan", "rebuild"]);

interface Shown {
  by: string;
  dryRun: boolean;
  signal: AbortSignal;
  show: (summary: RebuildSummary) => void;
}

/** Rebuilds the ledger from platform and sources. `dryRun` uses a temporary ledger and keeps nothing. */
export async function rebuild(application: Application, { by, dryRun, signal, show }: Shown): Promise<ExitCode> {
  await application.ledger({ fillsGap: true });
  const dependencies = await application.runDependencies();
  const request = { limits: application.config.limits, signal, header: application.runHeader(), by };
  return await underRunLock(application, async () => {
    if (!dryRun) {
      const summary = await runRebuild(dependencies, request);
      show(summary);
      return summary.exitCode;
    }
    await requireUnused(dependencies.ledger);
    const folder = holdFolder(dirname(application.ledgerPath));
    try {
      const path = join(folder.path, "ledger.db");
      // A restored ledger is copied with its heads, which show the lost changes.
      if (dependencies.ledger.gap.isOpen()) {
        await copyWhileWritten(application.ledgerPath, path, () => {});
        if (existsSync(headsPath(application.ledgerPath)))
          copyFileSync(headsPath(application.ledgerPath), headsPath(path));
      }
      return await rebuildAt(path);
    } finally {
      folder.release();
    }
  });

  async function rebuildAt(path: string): Promise<ExitCode> {
    const ledger = await application.ledgerAt(path, { fillsGap: true });
    try {
      ledger.runs.takeLock();
      const summary = await runRebuild({ ...dependencies, ledger }, request);
      show(summary);
      return summary.exitCode;
    } finally {
      ledger.close();
    }
  }
}

/** Throws a Problem if a run used the ledger, unless a restore left an open gap. */
async function requireUnused(ledger: Ledger): Promise<void> {
  if (ledger.gap.isOpen()) return;
  const since = ledger.gap.last()?.at ?? "";
  const runs = await ledger.runs.lastByJob();
  if ([...runs.values()].every((run) => kindsBefore.has(run.kind) || run.startedAt < since)) return;
  throw new Problem({
    code: "rebuild.ledger-used",
    message: `the ledger ${ledger.path} was already used by runs, so it was not rebuilt`,
    cure:
      "a ledger without damage needs no rebuild. If it is damaged, move it away or set ledger.path to a new file, " +
      "then run `crm-sync rebuild` again",
    exitCode: exitCodes.ledgerRefused,
  });
}

type RebuildRequest = Pick<RunRequest, "limits" | "signal" | "header"> & { by: string };

/**
 * Restores an unused or restored ledger without writing calls. The caller holds the run lock. Before an order counts as
 * placed, it looks at all customers: an enterprise may have another customer's order. Until then only a rebuild may
 * write.
 */
export async function runRebuild(deps: RunDependencies, request: RebuildRequest): Promise<RebuildSummary> {
  const { ledger } = deps;
  await requireUnused(ledger);
  const begun = ledger.gap.isOpen() ? await beginGap(deps, request) : undefined;
  const platform = readingPlatform(deps.platform);
  const asked: RunRequest = { ...request, job: "rebuild", trigger: "hand", streams, read: true };
  const header = { job: "rebuild", kind: "rebuild", trigger: "hand", scope: null, header: request.header };
  const run = await ledger.runs.start(header);
  const reading = new SourceReading(deps, asked, run);
  const summary = emptySummary({ run, sources: reading.tallies });
  if (begun !== undefined) {
    const { from, until } = begun.gap;
    summary.gap = { from: from.at, until: until?.at ?? null, kept: 0 };
    summary.lost.push(...begun.inDoubt.map(inDoubtText));
  }
  const stopped = (): boolean => request.signal?.aborted === true;
  try {
    await noneLookedAt(ledger);
    await reading.read();
    const reader = new SnapshotReader(platform, deps.settings);
    await rebuildAll({ ...deps, platform, reader }, asked, summary);
  } catch (error) {
    throw await endFailed(ledger, run, error);
  }
  if (stopped()) summary.state = "stopped";
  summary.exitCode = exitCodeOf(summary);
  const { state, exitCode, known, lost, assumed, left, unreadable, customers, gap } = summary;
  if (begun !== undefined && !stopped())
    await ledger.gap.close(request.by, { run, customers, unreadable, kept: gap?.kept ?? 0 });
  await ledger.runs.finish(run, {
    state,
    exitCode,
    balance: null,
    summary: {
      customers,
      known: { ...known },
      unreadable,
      lost,
      assumed,
      left,
      ...(gap === undefined ? {} : { gap: { ...gap } }),
    },
  });
  return summary;
}

async function rebuildAll(
  deps: RunDependencies & { reader: SnapshotReader },
  asked: RunRequest,
  summary: RebuildSummary,
): Promise<void> {
  const { ledger } = deps;
  const { signal } = asked;
  const stopped = (): boolean => signal?.aborted === true;
  const lanes = { lanes: deps.concurrency, stopped };
  const given = { run: summary.run, summary, signal };
  const customers = (): AsyncIterable<RecordKey[]> => pendingCustomers(deps, asked);
  // Records that a source did not give may already be placed.
  const unnamed = await ledger.state.unnamedInQuarantine();
  const ofAllOrders =
    unnamed.includes("orders") || summary.sources.some((tally) => tally.stream === "orders" && isCutOff(tally));
  await forgetUnread(ledger, summary.sources, ofAllOrders);
  // Customers that show other customers' orders are reported last, when all moved orders are known.
  const later = new Map<string, RecordKey>();
  const left = new Map<string, RecordKey>();
  await workInLanes(customers(), lanes, async (customer) => {
    if (await lookAtOne(deps, customer, { ...given, ofAllOrders })) later.set(formatKey(customer), customer);
  });
  if (!stopped()) await lookedAtAll(ledger, ofAllOrders);
  if (ledger.gap.last() !== undefined)
    await workInLanes(customers(), lanes, async (customer) => await bringOneBack(deps, customer, given));
  await workInLanes(customers(), lanes, async (customer) => {
    summary.customers += 1;
    const told = later.has(formatKey(customer)) ? undefined : summary;
    for (const other of await rebuildOne(deps, customer, { ...given, told })) left.set(formatKey(other), other);
    deps.progress("rebuilding", summary.customers, undefined);
  });
  for (const [key, customer] of new Map([...later, ...left])) {
    if (stopped()) break;
    await rebuildOne(deps, customer, { ...given, told: later.has(key) ? summary : emptySummary(summary) });
  }
}

/** Sets state aside, after the last calls before the backup had time to be shown. */
async function beginGap(
  { ledger, clock, settle }: RunDependencies,
  { by, signal }: Pick<RunRequest, "signal"> & { by: string },
): Promise<Awaited<ReturnType<Ledger["gap"]["begin"]>>> {
  const last = ledger.gap.lastCommitAt();
  const left = last === undefined ? 0 : Date.parse(last) + settle.timeMs - clock.now();
  if (left > 0) await clock.sleep(Math.min(left, settle.timeMs), signal);
  return await ledger.gap.begin(by);
}

function inDoubtText({ id, endpoint, subject }: { id: string; endpoint: string; subject: string }): NotRebuilt {
  const why =
    `${endpoint} (${id}) was sent, and its outcome was open when the backup was made. The platform's present state ` +
    "is read; where it comes up again, look on the platform before it is approved";
  return { record: subject, why };
}

/** State of an unreadable customer stays set aside until it can be read. */
async function bringOneBack(
  deps: RunDependencies & { reader: SnapshotReader },
  customer: RecordKey,
  { summary, signal }: Pick<Rebuilding, "signal"> & { summary: RebuildSummary },
): Promise<void> {
  try {
    const { orders, assumed } = await bringBack(deps, customer, signal);
    if (summary.gap !== undefined) summary.gap.kept += orders;
    summary.assumed.push(...assumed);
  } catch (error) {
    if (deps.ledger.broken !== undefined || signal?.aborted === true) throw error;
  }
}

function emptySummary({ run, sources }: Pick<RebuildSummary, "run" | "sources">): RebuildSummary {
  return {
    run,
    state: "done",
    exitCode: exitCodes.ok,
    sources,
    customers: 0,
    known: { enterprises: 0, orders: 0, staff: 0, assignments: 0 },
    unreadable: 0,
    defects: 0,
    lost: [],
    assumed: [],
    left: [],
  };
}

interface Rebuilding {
  run: string;
  summary: RebuildSummary;
  signal: AbortSignal | undefined;
  /** Undefined: the customer is rebuilt once more, so nothing is collected. */
  told: RebuildSummary | undefined;
}

/** An unreadable customer stops no other; the rebuild must be repeated for it. */
async function rebuildOne(
  deps: RunDependencies & { reader: SnapshotReader },
  customer: RecordKey,
  { run, summary: all, signal, told: summary }: Rebuilding,
): Promise<RecordKey[]> {
  const { ledger } = deps;
  const subject = subjectOf("customers", customer);
  try {
    const { plan, why, assumed, left } = await rebuildCustomer(deps, customer, signal);
    all.assumed.push(...assumed);
    if (summary === undefined) return left;
    if (plan === undefined) {
      summary.lost.push({ record: subject, why: why ?? "" });
      await ledger.state.record(customer, [leftToBeMade(customer, run, null)]);
    } else await tell(ledger, run, summary, plan);
    const { link, placedOrders, staffLinks, assignments } = await ledger.state.known(customer);
    summary.known.enterprises += link === undefined ? 0 : 1;
    // A moved order is known to two customers and counts once.
    summary.known.orders += [...placedOrders.values()].filter((order) => isSameKey(order.customer, customer)).length;
    summary.known.staff += staffLinks.size;
    summary.known.assignments += assignments.length;
    return left;
  } catch (error) {
    if (ledger.broken !== undefined || signal?.aborted === true) throw error;
    const failure = failureOf(error);
    if (failure.of === "program") deps.logger.error({ customer: subject, stack: stackOf(error) }, "defect");
    if (summary === undefined) return [];
    if (failure.of === "service") summary.unreadable += 1;
    if (failure.of === "program") summary.defects += 1;
    summary.lost.push({ record: subject, why: failure.reason });
    await ledger.state.record(customer, [leftToBeMade(customer, run, null)]);
    return [];
  }
}

/** Records that agree are done; the next run looks at the others. */
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
  else await ledger.decisions.nothingLeftByRebuild(customer);
}

/** Creations wait for a person. `left: null`: their number is unknown. */
function leftToBeMade(customer: RecordKey, run: string, left: number | null): StateChange {
  return { type: "observed", customer, kind: rebuiltKind, subject: "", body: { run, left } };
}

function exitCodeOf({ state, sources, unreadable, defects, lost, left }: RebuildSummary): ExitCode {
  const down = sources.some(isCutOff);
  if (state !== "done") return exitCodes.other;
  if (down || unreadable > 0) return exitCodes.sourceDown;
  if (defects > 0) return exitCodes.other;
  return lost.length + left.length > 0 ? exitCodes.recordsRejected : exitCodes.ok;
}
