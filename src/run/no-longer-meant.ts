import type { Ledger } from "../ledger/ledger.ts";
import { formatKey } from "../crm/keys.ts";
import type { RecordKey, Stream } from "../crm/model.ts";
import { kindOf } from "../operation/registry.ts";
import type { OperationKind } from "../operation/registry.ts";
import type { Observed } from "../plan/input.ts";
import type { CustomerPlan } from "../plan/plan.ts";

interface Finished {
  /** Everything that is meant of the customer when the attempt ends, chosen or not. */
  plan: CustomerPlan;
  observed: Observed;
  /** Hashes of what was carried out, refused or put off. */
  delivered: { has(hash: string): boolean };
  /** It is all that the CRM wants: a run is not taken back by it, and every source gave enough to take away. */
  isWhole: boolean;
  /** The approved hold under which something was carried out. */
  usedHold: string | undefined;
}

/** An operation that is held, approved or rejected. */
type Word = Awaited<ReturnType<Ledger["approvals"]["wordsOf"]>>[number];

/**
 * Ends what is held, approved or rejected and is not meant any more, once an attempt at its customer has come to its
 * end: it was carried out, or the CRM took it back. Where the same comes up later, a person is asked anew.
 */
export async function endNoLongerMeant({ approvals }: Pick<Ledger, "approvals">, of: Finished): Promise<void> {
  const { customer } = of.plan;
  const words = await approvals.wordsOf(customer);
  const isBelieved = of.plan.waits !== true && of.isWhole;
  const over = isBelieved ? new Overs(of) : undefined;
  // What takes a run back is in no plan of a run.
  const ended = words.filter((word) => over?.is(word) === true && !word.ofUndo);
  await approvals.end(customer, ended, of.usedHold);
}

class Overs {
  readonly #of: Finished;
  readonly #meant: ReadonlySet<string>;
  /** Whether each record that was decided on waits for nothing more. */
  readonly #done: ReadonlyMap<string, boolean>;
  /** Records of which nothing can be told before a source was read whole. */
  readonly #undecided: ReadonlySet<string>;

  constructor(of: Finished) {
    const { operations, records, rejected = [] } = of.plan;
    this.#of = of;
    this.#meant = new Set([...operations.map(({ hash }) => hash), ...rejected]);
    const undecided = records.filter(({ code }) => code === "revokes.blocked");
    this.#undecided = new Set(undecided.map((record) => nameOf(record.stream, record.key)));
    this.#done = new Map(records.map((record) => [nameOf(record.stream, record.key), isDone(record)]));
  }

  /**
   * It is not in the plan, and that is no accident: its records were decided on and wait for nothing, or have changed.
   * Of a person of whom nothing was to be decided, the platform was read; orders of whom nothing is to be decided are
   * not looked at.
   */
  is({ hash, kind, records, changed }: Word): boolean {
    if (this.#meant.has(hash)) return false;
    if (this.#of.delivered.has(hash)) return true;
    const wasRead = isKnownUnread(kind) || this.#of.observed.assets !== undefined;
    const done = records.map((record) => this.#done.get(nameOf(record.stream, record)));
    const waits = done.includes(false);
    const isUndecided = records.some((record) => this.#undecided.has(nameOf(record.stream, record)));
    if (!done.includes(undefined)) return !waits || (changed && !isUndecided);
    if (records.some(({ stream }, index) => stream === "orders" && done[index] === undefined)) return false;
    return wasRead && !waits;
  }
}

function nameOf(stream: Stream, key: RecordKey): string {
  return `${stream} ${formatKey(key)}`;
}

function isDone({ outcome, code }: CustomerPlan["records"][number]): boolean {
  return outcome === "planned" || code === "policy.reported";
}

/** What was only asked for stands in the ledger, whatever M6 shows, and so does what an order lacks. */
function isKnownUnread(kind: OperationKind): boolean {
  const { takes, stages } = kindOf({ kind });
  const isOfPeople = stages.some((stage) => ["staff", "grants", "revokes", "leavers"].includes(stage));
  return (takes === undefined && !isOfPeople) || stages.every((stage) => stage === "requests");
}
