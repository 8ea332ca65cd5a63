import { formatKey } from "../crm/keys.ts";
import { handedIn } from "../engine/registry.ts";
import type { Earlier, ResourcePlan } from "../engine/resource.ts";
import type { RecordKey } from "../crm/model.ts";
import { firstBlocks } from "./block.ts";
import type { Block, BlockedRecord } from "./block.ts";
import { planLeavers } from "./leavers.ts";
import { goingWithout, waitsForNeeds } from "./needs-of-operations.ts";
import { ordersByContents, ordersToRepair } from "./needs.ts";
import { planOrders } from "./orders.ts";
import type { OrderStage } from "./orders.ts";
import { planStaff } from "./staff.ts";
import { planRemovals } from "./removals.ts";
import type { PlanOptions } from "./options.ts";
import type { Part, Planned } from "./part.ts";
import type { Prepared } from "./prepared.ts";
import { withoutThereAlready } from "./there-already.ts";
import type { StandingRejections } from "./rejections.ts";

export interface StageOptions extends PlanOptions {
  rejections: StandingRejections;
}

/** A stage of planning: it sees what those before it made, and gives that with its own. */
type PlanStage = (given: Prepared, before: Planned, options: StageOptions) => Planned;

/** In the order in which they are planned, which is not the one in which their operations are applied. */
const planStages: readonly PlanStage[] = [ordersStage, staffStage, resourceStages, leaversStage];

const nothing: Part = { operations: [], changes: [], blocks: new Map() };

const nothingPlanned: Planned = {
  orders: nothing,
  people: nothing,
  memberships: new Map(),
  notes: [],
  endingNumbers: new Set<string>(),
};

/** The first resource: without an enterprise there is nothing else. */
export function planFirst(given: Prepared, options: StageOptions): ResourcePlan {
  const [first] = handedIn().resources;
  if (first === undefined) throw new Error("no resource was handed in");
  return first.plan(given, { ...nothingPlanned, make: (drafts) => options.rejections.operations(drafts) }, options);
}

/** Everything after the enterprise but what people asked for. */
export function planStagesOf(given: Prepared, options: StageOptions): Planned {
  return planStages.reduce<Planned>((before, stage) => stage(given, before, options), nothingPlanned);
}

function ordersStage(given: Prepared, before: Planned, options: StageOptions): Planned {
  const read = withoutUnread(planOrders(given, options), given, options);
  const orders = withoutThereAlready(read, given);
  const { people, contents } = given.observed.unread ?? {};
  const takingBlocked = options.takingBlocked ?? people ?? contents;
  const removals = planRemovals(given, orders.endings, { ...options, takingBlocked, buys: orders.meant.length > 0 });
  const made = options.rejections.operations([...orders.meant, ...removals.meant]);
  const operations = goingWithout(made.operations, made.left);
  const waiting = made.operations.filter((operation) => !operations.includes(operation));
  const said = new Set([...orders.blocks, ...removals.blocks, ...made.refused].map(([key]) => key));
  const waits = waiting.flatMap((operation) => {
    const isOwn = operation.needs.every(({ subject }) => subject === operation.subject);
    return operation.records.map(formatKey).flatMap((key): BlockedRecord[] =>
      // Why something else of the same order cannot be done says more.
      isOwn && said.has(key) ? [] : [[key, waitsForNeeds(operation)]],
    );
  });
  return {
    ...before,
    orders: joined(before.orders, {
      operations,
      changes: [...orders.changes, ...removals.changes],
      blocks: firstBlocks([...orders.blocks, ...removals.blocks, ...made.refused, ...waits]),
    }),
    endingNumbers:
      orders.leaving.length === 0 ? removals.endingNumbers : removals.endingNumbers.union(new Set(orders.leaving)),
  };
}

/**
 * What of an order rests on M7 waits where that gave nothing; what another order is to have goes on. If M5 or M6 gave
 * nothing, the next run looks again at orders that may need a repair.
 */
function withoutUnread(stage: OrderStage, given: Prepared, options: StageOptions): OrderStage {
  const { people, contents: block } = given.observed.unread ?? {};
  if (block === undefined) {
    if (people === undefined) return stage;
    const unseen = ordersToRepair(given, options).map((key): BlockedRecord => [key, people]);
    return { ...stage, blocks: [...stage.blocks, ...unseen] };
  }
  const waiting = ordersByContents(stage, given, options);
  const goesOn = (order: RecordKey): boolean => !waiting.has(formatKey(order));
  return {
    ...stage,
    meant: stage.meant.filter(({ records }) => records.every(goesOn)),
    changes: stage.changes.filter((change) => !("order" in change) || goesOn(change.order)),
    blocks: [...[...waiting].map((key): BlockedRecord => [key, block]), ...stage.blocks],
  };
}

function staffStage(given: Prepared, before: Planned, options: StageOptions): Planned {
  const block = given.observed.unread?.people;
  if (block !== undefined) return { ...before, people: joined(before.people, peopleWaiting(given, block)) };
  if (!concernsPeople(given)) return before;
  const { rejections } = options;
  const staff = planStaff(given, options.settings, options);
  const added = rejections.operations(staff.meant);
  const edited = rejections.operations(staff.edits);
  const isRejected = ([, { rejected }]: BlockedRecord): boolean => rejected === true;
  return {
    ...before,
    people: joined(before.people, {
      operations: [...added.operations, ...edited.operations],
      changes: staff.changes,
      blocks: new Map(staff.blocks),
    }),
    memberships: staff.memberships,
    notes: [...added.refused, ...edited.refused.filter(isRejected), ...staff.notes, ...edited.refused],
  };
}

/** Everybody of whom something may be to be done waits; who belongs elsewhere now is the matter of the customer. */
function peopleWaiting({ staff, known, ended = [] }: Prepared, block: Block): Part {
  const own = new Set(staff.map(({ key }) => formatKey(key)));
  const over = new Set(ended.map(({ number }) => number));
  const waiting = [
    ...staff.filter(({ pending, state }) => pending && state !== "quarantined").map(({ key }) => formatKey(key)),
    ...known.assignments
      .filter((item) => over.has(item.assetNumber) || !own.has(formatKey(item.staff)))
      .map((item) => formatKey(item.staff)),
  ];
  return { ...nothing, blocks: new Map(waiting.map((key) => [key, block])) };
}

/** Each resource plans with what those before it planned. */
function resourceStages(given: Prepared, before: Planned, options: StageOptions): Planned {
  const make: Earlier["make"] = (drafts) => options.rejections.operations(drafts);
  const [, ...resources] = handedIn().resources;
  return resources.reduce((before, resource) => {
    const earlier = resource.requests === undefined ? before : withNotes(before);
    const { records, operations, changes, blocks } = resource.plan(given, { ...earlier, make }, options);
    const part = records === "orders" ? "orders" : "people";
    return { ...earlier, [part]: joined(earlier[part], { operations, changes, blocks: firstBlocks(blocks) }) };
  }, before);
}

/** What is only worth noting comes after what a person holds, and before what is requested for them. */
function withNotes({ notes, people, ...before }: Planned): Planned {
  return { ...before, notes: [], people: joined(people, { ...nothing, blocks: new Map(notes.toReversed()) }) };
}

/** What else is said of a person, such as of what they still hold, comes before what is said of their account. */
function leaversStage(given: Prepared, earlier: Planned, options: StageOptions): Planned {
  const { people, ...before } = withNotes(earlier);
  const { meant, changes, blocks } = planLeavers(given, people, options);
  const { operations, refused } = options.rejections.operations(meant);
  return {
    ...before,
    people: joined(people, { operations, changes, blocks: firstBlocks([...blocks, ...refused]) }),
  };
}

/** What was said of a record first stands. */
function joined(earlier: Part, later: Part): Part {
  if (isEmpty(later)) return earlier;
  if (isEmpty(earlier)) return later;
  return {
    operations: [...earlier.operations, ...later.operations],
    changes: [...earlier.changes, ...later.changes],
    blocks: new Map([...later.blocks, ...earlier.blocks]),
  };
}

function isEmpty({ operations, changes, blocks }: Part): boolean {
  return operations.length === 0 && changes.length === 0 && blocks.size === 0;
}

/** Whether anything of a customer's people is looked at: they were read, are new, or changed. */
function concernsPeople({ staff, known, observed }: Prepared): boolean {
  if (staff.length === 0 && known.assignments.length === 0) return false;
  return observed.members !== undefined || known.link === undefined || staff.some((person) => person.pending);
}
