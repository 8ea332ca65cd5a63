import { toInstant } from "../base/clock.ts";
import { exitCodes, Problem, type ExitCode } from "../base/errors.ts";
import { formatKey } from "../crm/keys.ts";
import type { RecordKey } from "../crm/model.ts";
import type { Operation } from "../engine/model/operation.ts";
import {
  requestKindOf,
  standing,
  type ManualRequest,
  type NewRequest,
  type RequestName,
} from "../engine/model/requests.ts";
import { applyChanges } from "../engine/model/state.ts";
import type { CustomerInput } from "../engine/plan/input.ts";
import { StandingRejections } from "../engine/plan/rejections.ts";
import { planRequested } from "../engine/plan/requested.ts";
import { runSync, type RunSummary } from "../engine/run/run.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { withdrawals } from "../ledger/state/desks.ts";
import { tellPeople } from "../operate/alerts.ts";
import { underRunLock, type Application, type LockPlace } from "../operate/application.ts";
import { counted, explainCommand, resyncCommand } from "../report/text.ts";

export type RequestDesk = Pick<Application, "clock" | "runDependencies" | "notifyDependencies" | "runHeader"> &
  LockPlace & { config: Pick<Application["config"], "limits" | "assumptions"> };

export interface Asking {
  customer: RecordKey;
  names: readonly [RequestName, ...RequestName[]];
  reason: string;
  by: string;
  /** Withdraws an earlier request, without a call. */
  withdraw: boolean;
  /** Throws a Problem and keeps nothing if the request is not possible. */
  requests: (signal: AbortSignal) => Promise<NewRequest[]>;
}

export interface RequestResult {
  customer: RecordKey;
  requests: ManualRequest[];
  run: string | undefined;
  open: { id: string; endpoint: string; subject: string; state: string }[];
}

/** `show` is called while the run lock is still held. */
interface Shown {
  signal: AbortSignal;
  show: (result: RequestResult) => Promise<void>;
}

export async function previewOf(
  application: RequestDesk,
  { customer, names, withdraw, requests: requestsFor }: Asking,
  signal: AbortSignal,
): Promise<Operation[]> {
  if (withdraw) {
    const ledger = await application.ledger();
    await requireCustomer(ledger, customer);
    const open = await ledger.journal.openOf(customer);
    return await preview(application, customer, ({ known }) =>
      withdrawals(customer, names, { asked: known.requests, open }),
    );
  }
  const requests = await requestsFor(signal);
  await (await application.ledger()).requests.requireFree(customer, requests);
  return await preview(application, customer, () =>
    requests.map((request) => ({ type: "request-made", customer, request })),
  );
}

async function preview(
  application: RequestDesk,
  customer: RecordKey,
  changesOf: (loaded: Pick<CustomerInput, "known">) => Parameters<typeof applyChanges>[1],
): Promise<Operation[]> {
  const { ledger, settings, policies } = await application.runDependencies();
  const loaded = ledger.state.load(customer);
  const context = { customer, at: toInstant(application.clock.now()) };
  const known = applyChanges(loaded.known, changesOf(loaded), context);
  const rejections = new StandingRejections(loaded.rejections, {
    settings,
    policies,
    contradicted: ledger.assumptions.contradictions,
  });
  return planRequested({ ...loaded, known }, settings, { rejections, tried: new Set(), byHand: true }).operations;
}

/** During another run, or with an open outcome, the request stays for a later run. */
export async function askFor(application: RequestDesk, asking: Asking, shown: Shown): Promise<ExitCode> {
  if (asking.withdraw) return await takeBack(application, asking, shown);
  const { signal, show } = shown;
  const requests = await asking.requests(signal);
  const dependencies = await application.runDependencies();
  const { ledger } = dependencies;
  const { customer, names, by } = asking;
  const [first] = names;
  const { commands, noun } = requestKindOf(first);
  await ledger.requests.ask(customer, requests, asking);
  return await orLater(async () => {
    const header = { ...application.runHeader(), by };
    const summary = await runSync(dependencies, {
      job: commands[first.wanted],
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
    return exitCodeOf(result, names, summary);
  });

  async function orLater(work: () => Promise<ExitCode>): Promise<ExitCode> {
    try {
      return await underRunLock(application, work);
    } catch (error) {
      if (!(error instanceof Problem) || error.exitCode !== exitCodes.runActive) throw error;
      throw new Problem({
        code: error.code,
        message:
          `${counted(names.length, noun)} of ${formatKey(customer)} requested and not sent yet: ` + error.message,
        cure: `nothing needs to be done: the next run carries it out; \`${explainCommand("customers", customer)}\` shows it`,
        exitCode: error.exitCode,
        cause: error,
      });
    }
  }
}

async function takeBack(application: RequestDesk, asking: Asking, { show }: Shown): Promise<ExitCode> {
  const ledger = await application.ledger();
  await requireCustomer(ledger, asking.customer);
  await ledger.requests.withdraw(asking.customer, asking.names, asking);
  await show(await resultOf(ledger, asking.customer, undefined));
  return exitCodes.ok;
}

async function resultOf(ledger: Ledger, customer: RecordKey, run: string | undefined): Promise<RequestResult> {
  const { requests } = await ledger.state.known(customer);
  const rows = await ledger.journal.openOf(customer);
  const open = rows.map(({ id, state, operation: { endpoint, subject } }) => ({ id, endpoint, subject, state }));
  return { customer, requests, run, open };
}

/** Only for these requests; other work has its own runs. */
function exitCodeOf({ requests, open }: RequestResult, names: Asking["names"], summary: RunSummary): ExitCode {
  if (!summary.balance.adds) return exitCodes.doesNotBalance;
  const asked = requests.filter((request) =>
    names.some(({ of, about, wanted }) => of === request.of && about === request.about && wanted === request.wanted),
  );
  // A missing request was withdrawn or replaced before sending.
  if (asked.length === names.length && asked.every((request) => standing(request) === "done")) return exitCodes.ok;
  if (open.length > 0) return exitCodes.unknown;
  if (summary.paused) return exitCodes.held;
  if (summary.state !== "done") return exitCodes.other;
  if (asked.some(({ answer }) => answer === null) && summary.customers.unreadable > 0) return exitCodes.sourceDown;
  return exitCodes.recordsRejected;
}

export async function requireCustomer(ledger: Ledger, customer: RecordKey): Promise<void> {
  if (await ledger.records.has("customers", customer)) return;
  throw unknown(`a customer ${formatKey(customer)}`);
}

export function unknown(what: string): Problem {
  return refused("record.unknown", `no source has given ${what}`, "check the id, and the namespace before the slash");
}

export async function requireReachable(ledger: Ledger, customer: RecordKey): Promise<void> {
  await requireCustomer(ledger, customer);
  const loaded = ledger.state.load(customer);
  const name = formatKey(customer);
  if (loaded.customerInQuarantine === true) {
    throw refused(
      "request.customer-in-quarantine",
      `the record of ${name} is in quarantine, so crm-sync does not know the present state of the customer. ` +
        "Nothing was requested",
      "`crm-sync quarantine list` shows why; correct the record, run the job, then try again",
    );
  }
  if (loaded.known.link === undefined)
    throw refused(
      "request.no-enterprise",
      `${name} is not linked with an enterprise yet. Nothing was requested`,
      `synchronise the customer first: \`${resyncCommand(customer)}\``,
    );
}

export function refused(code: string, message: string, cure: string): Problem {
  return new Problem({ code, message, cure, exitCode: exitCodes.usage });
}
