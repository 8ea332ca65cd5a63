import { formatKey } from "../crm/keys.ts";
import type { RecordKey } from "../crm/model.ts";
import { firstBlocks } from "./block.ts";
import type { Block, BlockedRecord } from "./block.ts";
import { wishedLoans } from "./crm-loans.ts";
import { disabledBy, heardLocks, wishedLocks } from "./crm-locks.ts";
import type { CrmWishes } from "./crm-locks.ts";
import { planLeavers } from "./leavers.ts";
import { goingWithout, waitsForNeeds } from "./needs-of-operations.ts";
import { ordersByContents, ordersToRepair } from "./needs.ts";
import { planOrders } from "./orders.ts";
import type { OrderStage } from "./orders.ts";
import { planPeople } from "./people.ts";
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
const planStages: readonly PlanStage[] = [ordersStage, peopleStage, wishesStage, leaversStage];

/** What the CRM asks for beside its orders that a rebuild takes for asked for, and what people are told of that. */
export function heardWishes(...[given, policies]: Parameters<typeof heardLocks>): ReturnType<typeof heardLocks> {
  return heardLocks(given, policies);
}

const nothing: Part = { operations: [], changes: [], blocks: new Map() };

/** Everything after the enterprise but what people asked for. */
export function planStagesOf(given: Prepared, options: StageOptions): Planned {
  return planStages.reduce<Planned>((before, stage) => stage(given, before, options), {
    orders: nothing,
    people: nothing,
    endingNumbers: new Set<string>(),
  });
}

function ordersStage(given: Prepared, before: Planned, options: StageOptions): Planned {
  const read = withoutUnread(planOrders(given, options), given, options);
  const orders = withoutThereAlready(read, given, (number) => disabledBy(given, number));
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

function peopleStage(given: Prepared, before: Planned, options: StageOptions): Planned {
  const block = given.observed.unread?.people;
  const people = block === undefined ? planPeople(given, before, options) : peopleWaiting(given, block);
  return { ...before, people: joined(before.people, people) };
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

/** What the CRM comes to ask for, as people do: it is sent once it is written down. */
function wishesStage(given: Prepared, before: Planned, options: StageOptions): Planned {
  const part = ({ changes, blocks }: CrmWishes): Part => ({ operations: [], changes, blocks: new Map(blocks) });
  return {
    ...before,
    orders: joined(before.orders, part(wishedLocks(given, options))),
    people: joined(before.people, part(wishedLoans(given, options))),
  };
}

/** What else is said of a person, such as of what they still hold, comes before what is said of their account. */
function leaversStage(given: Prepared, before: Planned, options: StageOptions): Planned {
  const { meant, changes, blocks } = planLeavers(given, before.people, options);
  const { operations, refused } = options.rejections.operations(meant);
  return {
    ...before,
    people: joined(before.people, { operations, changes, blocks: firstBlocks([...blocks, ...refused]) }),
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
