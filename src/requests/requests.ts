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
import { withdrawals } from "../ledger/state/requests-desk.ts";
import { tellPeople } from "../operate/alerts.ts";
import { underRunLock, type Application, type LockPlace } from "../operate/application.ts";
import { counted, explainCommand, resyncCommand } from "../report/text.ts";

/** What of the application is needed for what people ask for. */
export type RequestDesk = Pick<Application, "clock" | "runDependencies" | "notifyDependencies" | "runHeader"> &
  LockPlace & { config: Pick<Application["config"], "limits" | "assumptions"> };

/** What a person asks for of one customer, or takes back, all of one kind; and whose word it is. */
export interface Asking {
  customer: RecordKey;
  names: readonly [RequestName, ...RequestName[]];
  reason: string;
  by: string;
  /** Takes back what was asked for before, without a call. */
  withdraw: boolean;
  /** What is to be kept of it. Throws a Problem where it cannot be asked for; nothing is kept then. */
  requests: (signal: AbortSignal) => Promise<NewRequest[]>;
}

/** What is asked for of a customer and how it stands now, and why nothing was sent where that is so. */
export interface RequestResult {
  customer: RecordKey;
  requests: ManualRequest[];
  run: string | undefined;
  /** Of another operation of the customer or of this one, whose outcome is open. */
  open: { id: string; endpoint: string; subject: string; state: string }[];
}

/** Where what it came to is shown, while the run lock is still held, and how it is stopped. */
interface Shown {
  signal: AbortSignal;
  show: (result: RequestResult) => Promise<void>;
}

/** What would be sent, were this asked for or taken back now. Writes nothing, and sends nothing. */
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

/**
 * Writes down what a person asks for, with an audit entry, then carries it out for this customer in a run of its own.
 * Where another run is on, or an outcome of the customer is open, it stays asked for: a run carries it out later. What is
 * taken back is not sent.
 */
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

/** Takes back what was asked for and is not done, with an audit entry. Nothing is sent. */
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

/** The worst of what is true of what was asked for; other work of the ledger has its own runs. */
function exitCodeOf({ requests, open }: RequestResult, names: Asking["names"], summary: RunSummary): ExitCode {
  if (!summary.balance.adds) return exitCodes.doesNotBalance;
  const asked = requests.filter((request) =>
    names.some(({ of, about, wanted }) => of === request.of && about === request.about && wanted === request.wanted),
  );
  // What is not asked for any more was taken back, or asked for otherwise, before it was sent.
  if (asked.length === names.length && asked.every((request) => standing(request) === "done")) return exitCodes.ok;
  if (open.length > 0) return exitCodes.unknown;
  if (summary.paused) return exitCodes.held;
  if (summary.state !== "done") return exitCodes.other;
  if (asked.some(({ answer }) => answer === null) && summary.customers.unreadable > 0) return exitCodes.sourceDown;
  return exitCodes.recordsRejected;
}

/** Throws a Problem where no source has given the customer. */
export async function requireCustomer(ledger: Ledger, customer: RecordKey): Promise<void> {
  if (await ledger.records.has("customers", customer)) return;
  throw refused(
    "record.unknown",
    `no source has given a customer ${formatKey(customer)}`,
    "check the id, and the namespace before the slash",
  );
}

/** Throws a Problem where nothing can be asked for of a customer. */
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

/** Why something cannot be asked for; nothing is kept then. */
export function refused(code: string, message: string, cure: string): Problem {
  return new Problem({ code, message, cure, exitCode: exitCodes.usage });
}
