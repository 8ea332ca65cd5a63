import { z } from "zod";
import { sha256 } from "../../base/canonical-json.ts";
import { toInstant } from "../../base/clock.ts";
import { failureOf, messageOf } from "../../base/errors.ts";
import { formatKey } from "../../crm/keys.ts";
import type { RecordKey } from "../../crm/model.ts";
import { shownStill, shownTwice, type Difference } from "../../report/reconciliation/case.ts";
import type { RunDependencies, RunRequest } from "./request.ts";
import { SnapshotReader } from "../../platform/snapshot.ts";
import { workInLanes } from "../../base/lanes.ts";
import { verifyCustomer } from "./verify.ts";

/** A share of the enterprises that went first, and the result of reading it back. */
export interface CanaryTranche {
  /** Per cent of all enterprises; 100 is the rest. */
  share: number;
  /** How many of its customers had something done. */
  customers: number;
  /** One sentence for each customer with an unintended result; if empty, the run went on. */
  wrong: readonly string[];
  before: number;
}

/** The calls between a run and the work on its shares. */
interface ShareWork {
  /** In pages. */
  customers: AsyncIterable<readonly RecordKey[]>;
  /** Makes passes, judges limits and waits for settle times. Gives customers with a second pass, of any share. */
  apply(customers: readonly RecordKey[]): Promise<RecordKey[]>;
  touched(): RecordKey[];
  /** Why a customer is not done, if something went wrong. A hold by a limit or a policy does not count. */
  trouble(customer: RecordKey): string | undefined;
  /** Why something of a customer was not looked at or done, if the platform gave too little for it. */
  unread(customer: RecordKey): string | undefined;
}

/** How many runs of the job are searched, newest first, for shares that were not read back as intended. */
const mostEarlier = 100;
const saidOfShares = z.looseObject({ canary: z.array(z.looseObject({ wrong: z.array(z.string()) })).default([]) });

/** Whether a difference is unintended. Others made an `extra`, unless it shows twice or after its removal. */
function isNotAsMeant({ class: named, subject }: Difference): boolean {
  if (named === "extra") return subject.startsWith(shownTwice) || subject.startsWith(shownStill);
  return named === "missing" || named === "different";
}

const buckets = 10_000;

/** The position of a customer among all, from 0 to 100 (excluded): the same in every run. */
export function placeOf(customer: RecordKey): number {
  return (Number.parseInt(sha256(formatKey(customer)).slice(0, 8), 16) % buckets) / (buckets / 100);
}

/**
 * Works on the customers share by share, the same ones first in each run. After each share but the last, it reads back
 * the changes. The run goes on only if every change is as intended. If the platform gave too little for somebody, at
 * least one customer must have been read back. Otherwise the rest waits for the next run. Differences from before the
 * changes do not count. Changes of earlier canary runs that were not read back as intended are read back with their
 * share.
 */
export async function applyByShares(
  deps: RunDependencies,
  {
    run,
    job,
    canary,
    signal,
  }: { run: string; job: string; canary: NonNullable<RunRequest["canary"]>; signal: AbortSignal | undefined },
  work: ShareWork,
): Promise<CanaryTranche[]> {
  const all: RecordKey[] = [];
  for await (const page of work.customers) all.push(...page);
  const { unread, runs } = await leftUnread(deps, run, job);
  const stood = new StoodBefore(deps, canary, unread);
  const tranches: CanaryTranche[] = [];
  const isStopped = (): boolean => signal?.aborted === true;
  let from = 0;
  for (const share of [...canary.shares.filter((item) => item < 100), 100]) {
    const begin = from;
    const isOwn = (customer: RecordKey): boolean => placeOf(customer) >= begin && placeOf(customer) < share;
    const own = all.filter(isOwn);
    const earlier = share === 100 ? [] : unread.map(({ customer }) => customer);
    const again = earlier.filter(isOwn);
    from = share;
    if (own.length + again.length === 0) continue;
    if (share < 100) await stood.read(own, signal);
    const since = toInstant(deps.clock.now());
    const attempted = [...own, ...(await work.apply(own))];
    if (isStopped()) return tranches;
    const touched = [...new Map([...again, ...work.touched()].map((one) => [formatKey(one), one])).values()];
    const { wrong, before } =
      share === 100
        ? { wrong: [], before: 0 }
        : await wrongIn(deps, { own: attempted, touched, runs, stood, since, canary, signal }, work);
    if (isStopped()) return tranches;
    tranches.push({ share, customers: touched.length, wrong, before });
    deps.logger.info({ run, share, customers: touched.length, wrong: wrong.length }, "share applied");
    if (wrong.length === 0) continue;
    const rest = all.filter((customer) => placeOf(customer) >= share);
    const reason =
      `something is wrong after the changes for the first ${share} % of the enterprises (${wrong[0] ?? ""}), so the ` +
      "others wait";
    for (const customer of rest) await deps.ledger.records.deferPending(run, customer, "run.canary", reason);
    return tranches;
  }
  return tranches;
}

/**
 * Customers with changes by the last canary runs of the job, back to the last good run. A run is not good if it died or
 * was stopped, so that nobody read it back, or if its readings were not as intended. `runs`: those runs and this one.
 */
async function leftUnread(
  { ledger }: RunDependencies,
  run: string,
  job: string,
): Promise<{ unread: Unread[]; runs: ReadonlySet<string> }> {
  const found = new Map<string, Unread>();
  const runs = new Set([run]);
  for (const earlier of await ledger.runs.lastOf(job, mostEarlier)) {
    if (earlier.id === run) continue;
    const said = saidOfShares.safeParse(earlier.summary);
    const isRight = !said.success || said.data.canary.every(({ wrong }) => wrong.length === 0);
    if (earlier.state === "done" && isRight) break;
    if (earlier.header["canary"] === undefined) continue;
    runs.add(earlier.id);
    for (const { operation, createdAt } of await ledger.journal.doneOf(earlier.id)) {
      const { customer } = operation;
      const key = formatKey(customer);
      const began = found.get(key)?.began ?? createdAt;
      if (customer.id !== "") found.set(key, { customer, began: createdAt < began ? createdAt : began });
    }
  }
  return { unread: [...found.values()], runs };
}

/** The unintended results of a share: by the outcomes of its operations, and by the platform's current data. */
async function wrongIn(
  deps: RunDependencies,
  of: {
    own: readonly RecordKey[];
    touched: readonly RecordKey[];
    runs: ReadonlySet<string>;
    stood: StoodBefore;
    since: string;
    canary: NonNullable<RunRequest["canary"]>;
    signal: AbortSignal | undefined;
  },
  work: ShareWork,
): Promise<{ wrong: string[]; before: number }> {
  const { ledger } = deps;
  const wrong = new Map<string, string>();
  let before = 0;
  for (const customer of of.own) {
    const open = await ledger.journal.openOf(customer);
    // An operation of another run that needs a person stops its customer but not the share.
    const own = open.find(({ runId }) => of.runs.has(runId ?? ""));
    const why = open.length === 0 ? work.trouble(customer) : own && `the outcome of ${own.id} is not known`;
    if (why !== undefined) wrong.set(formatKey(customer), why);
  }
  const toRead = of.touched.filter((customer) => !wrong.has(formatKey(customer)));
  const readBack = await readShare(deps, toRead, of.signal, (customer, error) => {
    // If the pass could not read the customer either, a failed reading says nothing about the changes.
    if (work.unread(customer) !== undefined && failureOf(error).of === "service") return;
    wrong.set(formatKey(customer), `it could not be read back: ${messageOf(error)}`);
  });
  const own = new Set(of.touched.map(formatKey));
  for await (const { customer, differences } of of.canary.differences(of.since)) {
    const key = formatKey(customer);
    if (!own.has(key) || wrong.has(key)) continue;
    const found: Difference[] = [];
    for (const item of differences.filter(isNotAsMeant))
      if (await of.stood.has(customer, item)) before += 1;
      else found.push(item);
    const [first] = found;
    if (first === undefined) continue;
    wrong.set(key, `${found.length} not as meant, such as ${first.level} ${first.subject}: ${first.class}`);
  }
  // If none of the share was read back, nothing allows the run to go on.
  if (wrong.size + readBack.size === 0)
    for (const customer of of.own) {
      const why = work.unread(customer);
      if (why !== undefined) wrong.set(formatKey(customer), `${why}, and nobody of this share was read back`);
    }
  return { wrong: [...wrong].map(([key, why]) => `${key}: ${why}`), before };
}

/** Differences between a full reading of a customer and the sent data, and when the reading was made. */
export interface DifferencesOfCustomer {
  customer: RecordKey;
  seenAt: string;
  differences: readonly Difference[];
  /** Licence types that were bought but never shown, and when each was first bought. */
  neverShown: ReadonlyMap<string, string>;
}

/** A customer with changes by earlier canary runs that were not read back as intended, and when these began. */
export interface Unread {
  customer: RecordKey;
  began: string;
}

/** Reads customers, keeps what the platform shows of those with an enterprise, and gives their keys. */
export async function readShare(
  { ledger, platform, settings, concurrency }: RunDependencies,
  customers: readonly RecordKey[],
  signal: AbortSignal | undefined,
  failed: (customer: RecordKey, error: unknown) => void,
): Promise<Set<string>> {
  const reader = new SnapshotReader(platform, settings);
  const read = new Set<string>();
  const lanes = { lanes: concurrency, stopped: () => signal?.aborted === true };
  await workInLanes([customers], lanes, async (customer) => {
    const { link } = await ledger.state.known(customer);
    if (link === undefined) return;
    try {
      await ledger.state.keepShown([await verifyCustomer({ ledger, reader }, { customer, link }, signal)]);
      read.add(formatKey(customer));
    } catch (error) {
      if (ledger.broken !== undefined) throw error;
      failed(customer, error);
    }
  });
  return read;
}

/**
 * Drift from before a canary run changed anything of a customer. Somebody made it manually, so it says nothing about
 * the run. Each share is read for this before it is applied. The drift is kept like that of `verify`, so that a run
 * that continues after a kill knows it too.
 */
export class StoodBefore {
  readonly #deps: RunDependencies;
  readonly #canary: NonNullable<RunRequest["canary"]>;
  readonly #began: Map<string, string>;

  constructor(deps: RunDependencies, canary: NonNullable<RunRequest["canary"]>, unread: readonly Unread[]) {
    this.#deps = deps;
    this.#canary = canary;
    this.#began = new Map(unread.map(({ customer, began }) => [formatKey(customer), began]));
  }

  /** Reads customers before the run changes them. If one cannot be read, all its later differences count. */
  async read(customers: readonly RecordKey[], signal: AbortSignal | undefined): Promise<void> {
    const { logger, clock } = this.#deps;
    const since = toInstant(clock.now());
    const read = await readShare(this.#deps, customers, signal, (customer, error) =>
      logger.warn({ customer: formatKey(customer), reason: messageOf(error) }, "customer not read before its share"),
    );
    await this.#keep(since, read);
    const began = toInstant(clock.now());
    for (const key of customers.map(formatKey)) if (!this.#began.has(key)) this.#began.set(key, began);
  }

  async #keep(since: string, read: ReadonlySet<string>): Promise<void> {
    if (read.size === 0) return;
    const found: DifferencesOfCustomer[] = [];
    for await (const one of this.#canary.differences(since)) if (read.has(formatKey(one.customer))) found.push(one);
    await this.#deps.ledger.state.keepDifferences(found);
  }

  /** Whether a difference existed before anything of the customer was done, in data that was sent before that. */
  async has(customer: RecordKey, difference: Difference): Promise<boolean> {
    const key = formatKey(customer);
    const name = nameOf(difference);
    const began = this.#began.get(key) ?? "";
    if ((difference.at ?? "") >= began) return false;
    const known = await this.#deps.ledger.state.seenDifferences(customer);
    return known.some((one) => nameOf(one) === name && one.firstSeen <= began);
  }
}

function nameOf({ level, subject, class: named }: Record<"level" | "subject" | "class", string>): string {
  return JSON.stringify([level, subject, named]);
}
