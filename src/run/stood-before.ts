import { toInstant } from "../base/clock.ts";
import { messageOf } from "../base/errors.ts";
import { formatKey } from "../crm/keys.ts";
import type { RecordKey } from "../crm/model.ts";
import type { Difference } from "../report/reconciliation/case.ts";
import { SnapshotReader } from "../platform/snapshot.ts";
import { toldOf } from "./differences.ts";
import type { DifferencesOfCustomer } from "./differences.ts";
import { each, workInLanes } from "./lanes.ts";
import type { RunDependencies, RunRequest } from "./request.ts";
import { verifyCustomer } from "./verify.ts";

/** A customer of whom an earlier run by shares did something that was not read back as meant, and when it began. */
export interface Unread {
  customer: RecordKey;
  began: string;
}

/**
 * Reads customers and keeps what the platform shows of those who have an enterprise, and gives these. `failed` is told
 * of who could not be read.
 */
export async function readShare(
  { ledger, platform, settings, concurrency }: RunDependencies,
  customers: readonly RecordKey[],
  signal: AbortSignal | undefined,
  failed: (customer: RecordKey, error: unknown) => void,
): Promise<Set<string>> {
  const reader = new SnapshotReader(platform, settings);
  const read = new Set<string>();
  const lanes = { lanes: concurrency, stopped: () => signal?.aborted === true };
  await workInLanes(each(customers), lanes, async (customer) => {
    const { link } = await ledger.state.known(customer);
    if (link === undefined) return;
    try {
      const left = await ledger.state.readTogether((rows) => rows.staff.leftProfiles(customer));
      await ledger.state.keepShown([await verifyCustomer(reader, { customer, link, left }, signal)]);
      read.add(formatKey(customer));
    } catch (error) {
      if (ledger.broken !== undefined) throw error;
      failed(customer, error);
    }
  });
  return read;
}

/**
 * What stood otherwise than it was left before a run by shares did anything of a customer: somebody changed it by hand,
 * and it says nothing of what the run does. A share is read before it is applied for that, and what is found is kept as
 * what `verify` finds, so that a run which goes on after a kill knows it too.
 */
export class StoodBefore {
  readonly #deps: RunDependencies;
  readonly #canary: NonNullable<RunRequest["canary"]>;
  /** What is kept nowhere, since the policies ignore its class. */
  readonly #ignored = new Map<string, ReadonlySet<string>>();
  readonly #began: Map<string, string>;

  constructor(deps: RunDependencies, canary: NonNullable<RunRequest["canary"]>, unread: readonly Unread[]) {
    this.#deps = deps;
    this.#canary = canary;
    this.#began = new Map(unread.map(({ customer, began }) => [formatKey(customer), began]));
  }

  /** Reads customers before anything of them is done. One that cannot be read is judged by all that is shown later. */
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
    const { ledger, policies } = this.#deps;
    const found: DifferencesOfCustomer[] = [];
    for await (const one of this.#canary.differences(since)) {
      const key = formatKey(one.customer);
      if (!read.has(key)) continue;
      const told = toldOf(policies, one.differences);
      found.push({ ...one, differences: told });
      // What an earlier run did and nobody read back as meant may be what is shown now.
      if (!this.#began.has(key))
        this.#ignored.set(key, new Set(one.differences.filter((item) => !told.includes(item)).map(nameOf)));
    }
    await ledger.state.keepDifferences(found);
  }

  /** Whether a difference was there before anything was done of the customer, of what was sent before that. */
  async has(customer: RecordKey, difference: Difference): Promise<boolean> {
    const key = formatKey(customer);
    const name = nameOf(difference);
    const began = this.#began.get(key) ?? "";
    if ((difference.at ?? "") >= began) return false;
    if (this.#ignored.get(key)?.has(name) === true) return true;
    const known = await this.#deps.ledger.state.seenDifferences(customer);
    return known.some((one) => nameOf(one) === name && one.firstSeen <= began);
  }
}

function nameOf({ level, subject, class: named }: Record<"level" | "subject" | "class", string>): string {
  return JSON.stringify([level, subject, named]);
}
