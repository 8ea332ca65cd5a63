import { formatKey } from "../../crm/keys.ts";
import type { RecordKey } from "../../crm/model.ts";
import type { Earlier, ResourcePlan } from "../../engine/model/resource.ts";
import type { BlockedRecord } from "../../engine/plan/records.ts";
import { goingWithout, waitsForNeeds } from "../../engine/plan/needs-of-operations.ts";
import type { PlanOptions, Prepared } from "../../engine/plan/input.ts";
import { ordersByContents, ordersToRepair } from "./needs.ts";
import { planOrders } from "./placing.ts";
import type { OrderStage } from "./placing.ts";
import { planRemovals } from "./removals.ts";
import type { RemovalStage } from "./removals.ts";
import { withoutThereAlready } from "./there-already.ts";

const nothingRemoved: RemovalStage = { meant: [], blocks: [], changes: [], endingNumbers: new Set() };

/** Places, amends and removes the orders of a customer. */
export function plan(given: Prepared, { make }: Earlier, options: PlanOptions): ResourcePlan {
  const read = withoutUnread(planOrders(given, options), given, options);
  // Only what an order has already can be there already.
  const orders = given.standings?.size ? withoutThereAlready(read, given) : read;
  const { people, contents } = given.observed.unread ?? {};
  const takingBlocked = options.takingBlocked ?? people ?? contents;
  const removals =
    orders.endings.length === 0
      ? nothingRemoved
      : planRemovals(given, orders.endings, { ...options, takingBlocked, buys: orders.meant.length > 0 });
  const made = make([...orders.meant, ...removals.meant]);
  const isNeedy = made.operations.some(({ needs }) => needs.length > 0);
  const operations = isNeedy ? goingWithout(made.operations, made.left) : made.operations;
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
    records: "orders",
    operations,
    changes: [...orders.changes, ...removals.changes],
    blocks: [...orders.blocks, ...removals.blocks, ...made.refused, ...waits],
    endingNumbers:
      orders.leaving.length === 0 ? removals.endingNumbers : removals.endingNumbers.union(new Set(orders.leaving)),
  };
}

/**
 * What of an order rests on M7 waits where that gave nothing; what another order is to have goes on. If M5 or M6 gave
 * nothing, the next run looks again at orders that may need a repair.
 */
function withoutUnread(stage: OrderStage, given: Prepared, options: PlanOptions): OrderStage {
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
