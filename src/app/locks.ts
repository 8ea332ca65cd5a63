import type { ExitCode } from "../base/errors.ts";
import { exitCodes, Problem, usage } from "../base/errors.ts";
import { lockProblem } from "../contract/limits.ts";
import { missingAssumptions } from "../contract/assumptions/missing.ts";
import { formatKey } from "../crm/keys.ts";
import type { RecordKey } from "../crm/model.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { isDue } from "../operation/state/locks.ts";
import type { LockWish } from "../operation/state/locks.ts";
import type { StateChange } from "../operation/state.ts";
import type { Operation } from "../operation/operation.ts";
import { applyChanges } from "../operation/state.ts";
import { answeredBlock, lockSubject, planLocks } from "../plan/locks.ts";
import { StandingRejections } from "../plan/rejections.ts";
import { tellPeople } from "../run/alerts.ts";
import { runSync } from "../run/run.ts";
import type { RunSummary } from "../run/summary.ts";
import type { Application } from "./application.ts";
import { underRunLock } from "./run-lock.ts";
import { toInstant } from "../base/clock.ts";

/** So many locks at most in one call. */
const mostLocks = 100;

/** What a person asks for, and whose word it is. */
export interface LockRequest {
  customer: RecordKey;
  numbers: readonly string[];
  wanted: LockWish["wanted"];
  /** The person says that they are large-customer locks. */
  largeCustomer: boolean;
  /** Takes back what was asked for before, without a call. */
  withdraw: boolean;
  reason: string;
  by: string;
}

/** How each lock of the customer that was asked for stands now, and why nothing was sent where that is so. */
export interface LockResult {
  customer: RecordKey;
  locks: LockWish[];
  run: string | undefined;
  /** Of another operation of the customer or of this one, whose outcome is open. */
  open: { id: string; endpoint: string; subject: string; state: string }[];
}

/** What would be sent, were it asked for now. Writes nothing, and sends nothing. */
export async function previewLocks(application: Application, request: LockRequest): Promise<Operation[]> {
  const { ledger, settings } = await application.runDependencies();
  const changes = await changesFor(application, ledger, request);
  const loaded = await ledger.state.load(request.customer);
  const context = { customer: request.customer, at: toInstant(application.clock.now()) };
  const known = applyChanges(loaded.known, changes, context);
  const rejections = new StandingRejections(loaded.rejections, settings);
  return planLocks({ ...loaded, known }, settings, { rejections, tried: new Set() }).operations;
}

/**
 * Writes down what a person asks for, with an audit entry, then carries it out for this customer in a run of its own.
 * Where another run is on, or an outcome of the customer is open, it stays asked for: a run carries it out later.
 */
export async function askForLocks(
  application: Application,
  request: LockRequest,
  { signal, show }: { signal: AbortSignal; show: (result: LockResult) => Promise<void> },
): Promise<ExitCode> {
  const dependencies = await application.runDependencies();
  const { ledger } = dependencies;
  const { customer, wanted, withdraw, by } = request;
  const numbers = unique(request.numbers);
  if (withdraw) {
    await takeBack(application, ledger, request);
    await show(await resultOf(ledger, customer, undefined));
    return exitCodes.ok;
  }
  await recordRequest(application, ledger, request);
  return await orLater(async () => {
    const header = { ...application.runHeader(), by };
    const summary = await runSync(dependencies, {
      job: wanted === "locked" ? "lock" : "unlock",
      trigger: "hand",
      streams: [],
      limits: application.config.limits,
      asked: customer,
      read: false,
      signal,
      header,
    });
    await tellPeople(await application.notifyDependencies(ledger), summary);
    const result = await resultOf(ledger, customer, summary.run);
    await show(result);
    return exitCodeOf(result, numbers, summary);
  });

  async function orLater(work: () => Promise<ExitCode>): Promise<ExitCode> {
    try {
      return await underRunLock(application, work);
    } catch (error) {
      if (!(error instanceof Problem) || error.exitCode !== exitCodes.runActive) throw error;
      throw new Problem({
        code: error.code,
        message: `${numbers.length} lock(s) of ${formatKey(customer)} are asked for and not sent yet: ${error.message}`,
        cure: "nothing needs to be done: the next run carries it out; `crm-sync explain customer` shows it",
        exitCode: error.exitCode,
        cause: error,
      });
    }
  }
}

async function recordRequest(application: Application, ledger: Ledger, request: LockRequest): Promise<void> {
  const { customer, wanted, by, reason } = request;
  await ledger.state.record(customer, await changesFor(application, ledger, request), {
    kind: request.withdraw ? "lock-withdrawn" : "lock-asked",
    subject: lockSubject(customer),
    body: { wanted, numbers: unique(request.numbers), by, reason },
  });
}

async function takeBack(application: Application, ledger: Ledger, request: LockRequest): Promise<void> {
  const { customer } = request;
  await recordRequest(application, ledger, request);
  const { locks } = await ledger.state.known(customer);
  // What is still not as it was asked to be goes on being told of, and so does what else the customer waits for.
  if (answeredBlock(locks) === undefined) await ledger.records.endDeferral(customer, "lock.");
  else await ledger.records.lookAgain(customer);
}

async function resultOf(ledger: Ledger, customer: RecordKey, run: string | undefined): Promise<LockResult> {
  const { locks } = await ledger.state.known(customer);
  const open = (await ledger.journal.openOf(customer)).map(({ id, state, operation: { endpoint, subject } }) => ({
    id,
    endpoint,
    subject,
    state,
  }));
  return { customer, locks, run, open };
}

/** The worst of what is true of the locks that were asked for; other work of the ledger has its own runs. */
function exitCodeOf({ locks, open }: LockResult, numbers: readonly string[], summary: RunSummary): ExitCode {
  if (!summary.balance.adds) return exitCodes.doesNotBalance;
  const asked = locks.filter((lock) => numbers.includes(lock.assetNumber));
  if (asked.every((lock) => lock.status === 1)) return exitCodes.ok;
  if (open.length > 0) return exitCodes.unknown;
  if (summary.state !== "done") return exitCodes.other;
  if (asked.some((lock) => lock.status === null) && summary.customers.unreadable > 0) return exitCodes.sourceDown;
  return exitCodes.recordsRejected;
}

function unique(numbers: readonly string[]): string[] {
  return [...new Set(numbers.map((number) => number.trim()))];
}

/** What asking changes in what is known. Throws a Problem where it cannot be asked for; nothing is kept then. */
async function changesFor(application: Application, ledger: Ledger, request: LockRequest): Promise<StateChange[]> {
  const { customer, wanted, largeCustomer, by, reason } = request;
  const name = formatKey(customer);
  const numbers = unique(request.numbers);
  if (numbers.length === 0) throw usage("no lock is named", "add --asset NUMBER, once for each lock");
  if (numbers.length > mostLocks)
    throw usage(`${numbers.length} locks are named`, `name at most ${mostLocks} at a time`);
  if (!(await ledger.records.has("customers", customer)))
    throw refused("record.unknown", `no source has given a customer ${name}`, "check the id and the namespace");
  const loaded = await ledger.state.load(customer);
  if (request.withdraw) return await withdrawals(ledger, request, loaded.known.locks);
  if (loaded.customerInQuarantine === true) {
    throw refused(
      "lock.customer-in-quarantine",
      `the record of ${name} waits in quarantine, so what is true of the customer now is not known`,
      "`crm-sync quarantine list` shows it; ask again once it is corrected",
    );
  }
  if (loaded.known.link === undefined)
    throw refused("lock.no-enterprise", `${name} is linked to no enterprise`, "synchronise the customer first");
  const [missing] = missingAssumptions(application.config.assumptions, wanted === "locked" ? "E6" : "E7");
  if (missing !== undefined) {
    throw new Problem({
      code: "assumption.missing",
      message: `the setting assumptions.${missing.key} (${missing.row}) has no value`,
      cure: `set it to ${missing.choices.join(" or ")}`,
      exitCode: exitCodes.configuration,
    });
  }
  const types = await ledger.state.licenceTypes(customer);
  return numbers.map((assetNumber) => {
    const licenseType = types.get(assetNumber);
    if (licenseType === undefined) {
      throw refused(
        "lock.not-of-customer",
        `${assetNumber} is the number of no asset of a placed order of ${name}`,
        "`crm-sync explain customer` lists its numbers; nothing was asked for",
      );
    }
    const problem = lockProblem({ assetNum: assetNumber, licenseType, largeCustomer });
    if (problem !== undefined)
      throw refused("lock.wrong-type", problem, "say --large-customer where it is one; nothing was asked for");
    return { type: "lock-asked", customer, wish: { assetNumber, wanted, licenseType, largeCustomer, by, reason } };
  });
}

/** A lock whose call may have left, or was carried out, cannot be taken back: the other command undoes it. */
async function withdrawals(
  ledger: Ledger,
  { customer, numbers, wanted }: LockRequest,
  locks: readonly LockWish[],
): Promise<StateChange[]> {
  const subject = lockSubject(customer);
  const open = (await ledger.journal.openOf(customer)).find((row) => row.operation.subject === subject);
  if (open !== undefined) {
    throw refused(
      "lock.in-doubt",
      `the outcome of ${open.operation.endpoint} on ${subject} (${open.id}) is open`,
      "wait until it is settled",
    );
  }
  return unique(numbers).map((assetNumber) => {
    const lock = locks.find((item) => item.assetNumber === assetNumber && item.wanted === wanted);
    if (lock === undefined || (lock.status === 1 && !isDue(lock))) {
      throw refused(
        "lock.nothing-to-withdraw",
        `nothing is asked for of ${assetNumber} that is not done`,
        `\`crm-sync ${wanted === "locked" ? "unlock" : "lock"}\` asks for the opposite`,
      );
    }
    return { type: "lock-withdrawn", customer, assetNumber };
  });
}

function refused(code: string, message: string, cure: string): Problem {
  return new Problem({ code, message, cure, exitCode: exitCodes.usage });
}
