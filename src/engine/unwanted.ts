import type { StandingHold } from "../ledger/decisions/hold-rows.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { formatKey } from "../crm/keys.ts";
import type { RecordKey, Stream } from "../crm/model.ts";
import { removedBy, typeOf } from "./model/registry.ts";
import type { OperationName } from "./model/resource.ts";
import type { RecordReference } from "./model/shape.ts";
import type { Observed } from "./plan/input.ts";
import type { Taking } from "./plan/limits.ts";
import type { CustomerPlan } from "./plan/plan.ts";

/** An attempt that came to its end. */
interface Finished {
  /** Everything that is planned of the customer when the attempt ends, chosen or not. */
  plan: CustomerPlan;
  observed: Observed;
  /** Hashes of what was carried out, refused or put off. */
  delivered: { has(hash: string): boolean };
  /** Every source gave enough to remove something, and nothing of the customer is in quarantine. */
  isBelieved: boolean;
}

/** What a person was asked about. */
interface Held {
  hash: string;
  subject: string;
  kind: OperationName;
  records: readonly RecordReference[];
  /** One of its records is not the one that the person was shown, so no answer counts any more. */
  changed: boolean;
}

/** Ends what is held, approved or rejected and that nobody wants any more. */
export async function endUnwanted({ decisions }: Pick<Ledger, "decisions">, of: Finished): Promise<void> {
  const { changed, unwanted } = await unwantedHolds({ decisions }, of);
  await decisions.end("changed", of.plan.customer, changed);
  await decisions.end("unwanted", of.plan.customer, unwanted);
}

/**
 * Questions that nobody has to answer any more: a run ends all that they are about, or asks anew about what is planned
 * otherwise (`takings`).
 */
export async function mootHolds(
  { decisions }: Pick<Ledger, "decisions">,
  of: Finished,
  takings: readonly Taking[],
): Promise<string[]> {
  const { changed, unwanted } = await unwantedHolds({ decisions }, of);
  const outdated = takings.flatMap(({ askedBefore = [] }) => askedBefore);
  const ending = new Set([...changed, ...unwanted, ...outdated].map(({ id }) => id));
  const { customer } = of.plan;
  const standing = await Promise.all([true, false].map((ofUndo) => decisions.standing({ customer, ofUndo })));
  const asked = standing.flat().filter(({ state }) => state === "asked");
  const staying = new Set(asked.filter(({ id }) => !ending.has(id)).map(({ question }) => question));
  return asked.map(({ question }) => question).filter((question) => !staying.has(question));
}

/**
 * What is held, approved or rejected and that nobody wants any more, where the plan can be believed. What takes a run
 * back is in no plan of a run: it ends once a record of it has changed, as its saved plan is out of date then.
 */
async function unwantedHolds(
  { decisions }: Pick<Ledger, "decisions">,
  of: Finished,
): Promise<Record<"changed" | "unwanted", StandingHold[]>> {
  const { plan, observed, isBelieved } = of;
  const { customer } = plan;
  const ofUndo = await decisions.standing({ customer, ofUndo: true });
  const changed = ofUndo.filter((hold) => hold.changed);
  if (!isBelieved || plan.waits === true || observed.unread !== undefined) return { changed, unwanted: [] };
  const standing = await decisions.standing({ customer, ofUndo: false });
  // A rejection outlives a setting that only hides the change; it ends once the CRM or the platform took that back.
  const ending = standing.filter(
    ({ state, policy, changed: isOther }) => state !== "rejected" || isOther || policy?.startsWith("drift.") === true,
  );
  return { changed, unwanted: unwantedIn(ending, of) };
}

/** Whether the seats have to be read to know if a held operation is still wanted. */
export async function lacksSeats(
  { decisions }: Pick<Ledger, "decisions">,
  { plan: { customer, operations }, observed }: Pick<Finished, "plan" | "observed">,
): Promise<boolean> {
  if (observed.assets !== undefined || observed.unread !== undefined) return false;
  const planned = new Set(operations.map(({ hash }) => hash));
  const standing = await decisions.standing({ customer, ofUndo: false });
  return standing.some((hold) => !isKnownUnread(hold.kind) && !planned.has(hold.hash));
}

/**
 * What is held, approved or rejected, and that nobody wants any more: it was carried out, or it is not in the plan, and
 * that is no accident, as its records were decided on and wait for nothing. Of a person of whom nothing was to be
 * decided the platform was read. An order of which nothing was to be decided is not looked at; what is about it ends
 * only if the record changed since it was shown, as that of an order that moved to another customer.
 */
function unwantedIn<Hold extends Held>(holds: readonly Hold[], of: Finished): Hold[] {
  const { operations, records, rejected = [] } = of.plan;
  const planned = new Set([...operations.map(({ hash }) => hash), ...rejected]);
  const subjects = new Set(operations.map(({ subject }) => subject));
  const done = new Map(records.map((record) => [nameOf(record.stream, record.key), isDone(record)]));
  return holds.filter((hold) => {
    if (planned.has(hold.hash) || subjects.has(hold.subject)) return false;
    if (of.delivered.has(hold.hash)) return true;
    const found = hold.records.map((record) => done.get(nameOf(record.stream, record)));
    if (found.includes(false)) return false;
    if (!found.includes(undefined)) return true;
    const isOrderUnseen = hold.records.some(({ stream }, index) => stream === "orders" && found[index] === undefined);
    if (isOrderUnseen) return hold.changed;
    return isKnownUnread(hold.kind) || of.observed.assets !== undefined;
  });
}

function nameOf(stream: Stream, key: RecordKey): string {
  return `${stream} ${formatKey(key)}`;
}

function isDone({ outcome, code }: CustomerPlan["records"][number]): boolean {
  return outcome === "planned" || code === "policy.reported";
}

/** What was only asked for stands in the ledger, whatever M6 shows, and so does what an order lacks. */
function isKnownUnread(kind: OperationName): boolean {
  const { stages } = typeOf({ kind });
  const isOfPeople = stages.some((stage) => ["staff", "grants", "revokes", "leavers"].includes(stage));
  return (removedBy({ kind }) === undefined && !isOfPeople) || stages.every((stage) => stage === "requests");
}
