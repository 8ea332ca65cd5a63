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

export interface CanaryTranche {
  /** Per cent of all enterprises. 100: the rest. */
  share: number;
  customers: number;
  /** One sentence per customer with an unintended result. If empty, the run went on. */
  wrong: readonly string[];
  before: number;
}

interface ShareWork {
  customers: AsyncIterable<readonly RecordKey[]>;
  /** Makes passes, judges limits and waits for settle times. Returns customers with a second pass, of any share. */
  apply(customers: readonly RecordKey[]): Promise<RecordKey[]>;
  touched(): RecordKey[];
  /** Undefined if nothing went wrong. A hold does not count. */
  trouble(customer: RecordKey): string | undefined;
  unread(customer: RecordKey): string | undefined;
}

/** How many earlier runs of the job are searched for shares that were not read back as intended. */
const mostEarlier = 100;
const saidOfShares = z.looseObject({ canary: z.array(z.looseObject({ wrong: z.array(z.string()) })).default([]) });

/** An `extra` comes from others, unless it is a duplicate or was removed. */
function isNotAsMeant({ class: named, subject }: Difference): boolean {
  if (named === "extra") return subject.startsWith(shownTwice) || subject.startsWith(shownStill);
  return named === "missing" || named === "different";
}

const buckets = 10_000;

/** From 0 to 100 (excluded), the same in every run. */
export function placeOf(customer: RecordKey): number {
  return (Number.parseInt(sha256(formatKey(customer)).slice(0, 8), 16) % buckets) / (buckets / 100);
}

/**
 * Works share by share, the same customers first in each run, and reads back each share but the last. If a change is
 * not as intended, the rest waits for the next run. If readings failed, at least one customer must have been read back.
 * Earlier differences do not count. Unproven changes of earlier canary runs are read back with their share.
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
 * Customers that canary runs of this job changed since the last good one. A run is not good if it died, was stopped, or
 * its readings were not as intended. `runs`: those runs and this one.
 */
async function leftUnread(
  { ledger }: RunDependencies,
  run: string,
  job: string,
): Promise<{ unread: Unread[]; runs: ReadonlySet<string> }> {
  const found = new Map<string, Unread>();
  const runs = new Set([run]);
  for (const earlier of await ledger.runs.lastOf(job, mostEarlier)) {
    if (earlier.id === run || earlier.header["canary"] === undefined) continue;
    const said = saidOfShares.safeParse(earlier.summary);
    const isRight = !said.success || said.data.canary.every(({ wrong }) => wrong.length === 0);
    if (earlier.state === "done" && isRight) break;
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
    // An operation of another run that needs a person stops its customer, not the share.
    const own = open.find(({ runId }) => of.runs.has(runId ?? ""));
    const why = open.length === 0 ? work.trouble(customer) : own && `the outcome of ${own.id} is not known`;
    if (why !== undefined) wrong.set(formatKey(customer), why);
  }
  const toRead = of.touched.filter((customer) => !wrong.has(formatKey(customer)));
  const readBack = await readShare(deps, toRead, of.signal, (customer, error) => {
    // The pass could not read the customer either, so this says nothing about the changes.
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
  // Nobody was read back, so nothing allows the run to go on.
  if (wrong.size + readBack.size === 0)
    for (const customer of of.own) {
      const why = work.unread(customer);
      if (why !== undefined) wrong.set(formatKey(customer), `${why}, and nobody of this share was read back`);
    }
  return { wrong: [...wrong].map(([key, why]) => `${key}: ${why}`), before };
}

export interface DifferencesOfCustomer {
  customer: RecordKey;
  seenAt: string;
  differences: readonly Difference[];
  /** With the time of the first purchase. */
  neverShown: ReadonlyMap<string, string>;
}

/** A customer with changes by earlier canary runs that were not read back as intended, and when these began. */
export interface Unread {
  customer: RecordKey;
  began: string;
}

/** Records the readings. Returns the keys of the customers. */
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

/** Drift from before the run is no fault of the run. Recorded, so that a run that continues after a kill knows it. */
export class StoodBefore {
  readonly #deps: RunDependencies;
  readonly #canary: NonNullable<RunRequest["canary"]>;
  readonly #began: Map<string, string>;

  constructor(deps: RunDependencies, canary: NonNullable<RunRequest["canary"]>, unread: readonly Unread[]) {
    this.#deps = deps;
    this.#canary = canary;
    this.#began = new Map(unread.map(({ customer, began }) => [formatKey(customer), began]));
  }

  /** If a customer cannot be read, all its later differences count. */
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

  /** Whether the difference is older than the run's first change of the customer. */
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
