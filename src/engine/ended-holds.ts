import { recordName } from "./plan/blocks.ts";
import type { StandingHold } from "../ledger/decisions/hold-rows.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { removedBy, typeOf } from "./model/registry.ts";
import type { OperationName } from "./model/resource.ts";
import type { Observed } from "./plan/input.ts";
import type { Holdable } from "./plan/limits.ts";
import type { CustomerPlan } from "./plan/plan.ts";

interface Finished {
  plan: CustomerPlan;
  observed: Observed;
  delivered: { has(hash: string): boolean };
  /** Every source was complete enough for removals, and nothing of the customer is in quarantine. */
  isBelieved: boolean;
}

export async function endUnwanted({ decisions }: Pick<Ledger, "decisions">, of: Finished): Promise<void> {
  const { changed, unwanted } = await unwantedHolds({ decisions }, of);
  await decisions.end("changed", of.plan.customer, changed);
  await decisions.end("unwanted", of.plan.customer, unwanted);
}

/** Questions that need no answer any more, or that a run asks again in another form (`holdables`). */
export async function mootHolds(
  { decisions }: Pick<Ledger, "decisions">,
  of: Finished,
  holdables: readonly Holdable[],
): Promise<string[]> {
  const { changed, unwanted } = await unwantedHolds({ decisions }, of);
  const outdated = holdables.flatMap(({ askedBefore = [] }) => askedBefore);
  const ending = new Set([...changed, ...unwanted, ...outdated].map(({ id }) => id));
  const { customer } = of.plan;
  const standing = await Promise.all([true, false].map((ofUndo) => decisions.standing({ customer, ofUndo })));
  const asked = standing.flat().filter(({ state }) => state === "asked");
  const staying = new Set(asked.filter(({ id }) => !ending.has(id)).map(({ question }) => question));
  return asked.map(({ question }) => question).filter((question) => !staying.has(question));
}

/** If the plan is believed. No run plans an undo: its holds end when one of its records changed. */
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
  // A rejection outlives a setting that only hides the change, until the CRM or the platform reverts the change.
  const ending = standing.filter(({ state, changed: isOther }) => state !== "rejected" || isOther);
  return { changed, unwanted: unwantedIn(ending, of) };
}

/** Whether the seats must be read to know if a held operation is still wanted. */
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
 * The operation was carried out, or its records were decided and it left the plan. For people without a decision the
 * seats must have been read. An order without a decision ends nothing, unless it changed since a person saw it.
 */
function unwantedIn(holds: readonly StandingHold[], of: Finished): StandingHold[] {
  const { operations, records, rejected = [] } = of.plan;
  const planned = new Set([...operations.map(({ hash }) => hash), ...rejected]);
  const subjects = new Set(operations.map(({ subject }) => subject));
  const done = new Map(records.map((record) => [recordName(record.stream, record.key), isDone(record)]));
  return holds.filter((hold) => {
    if (planned.has(hold.hash) || subjects.has(hold.subject)) return false;
    if (of.delivered.has(hold.hash)) return true;
    const found = hold.records.map((record) => done.get(recordName(record.stream, record)));
    if (found.includes(false)) return false;
    if (!found.includes(undefined)) return true;
    const isOrderUnseen = hold.records.some(({ stream }, index) => stream === "orders" && found[index] === undefined);
    if (isOrderUnseen) return hold.changed;
    return isKnownUnread(hold.kind) || of.observed.assets !== undefined;
  });
}

function isDone({ outcome, code }: CustomerPlan["records"][number]): boolean {
  return outcome === "planned" || code === "policy.reported";
}

/** These need no reading of M6: the ledger knows requests and missing parts of orders. */
function isKnownUnread(kind: OperationName): boolean {
  const { stages } = typeOf({ kind });
  const isOfPeople = stages.some((stage) => ["staff", "grants", "revokes", "leavers"].includes(stage));
  return (removedBy({ kind }) === undefined && !isOfPeople) || stages.every((stage) => stage === "requests");
}
