import type { ShownOrder } from "../ledger/state/observations.ts";
import { formatKey } from "../crm/keys.ts";
import type { RecordKey } from "../crm/model.ts";
import type { OrderWithTree } from "../engine/desired.ts";
import type { ApplyDependencies } from "./dependencies.ts";
import { channelNumberOf } from "./channel-number.ts";
import { beginningOf, shownAmendments, shownTogether } from "./shown-amendments.ts";
import type { ShownAmendment } from "./shown-amendments.ts";

/** What the enterprise of one customer shows of an order. */
export interface ShownAt {
  customer: RecordKey;
  /** All of it. */
  shown: ShownOrder;
  /** Under the order's own number. */
  own: ShownOrder | undefined;
  amendments: readonly ShownAmendment[];
}

type Dependencies = Pick<ApplyDependencies, "ledger" | "settings">;

/**
 * What enterprises of other customers than the order's own showed of it when they were looked at: under its own channel
 * order number and under those of its amendments. The first of them is the one that it stands for: where its own number
 * is shown, else the one with its latest amendment.
 */
export async function shownElsewhere(
  deps: Dependencies,
  customer: RecordKey,
  order: OrderWithTree,
): Promise<ShownAt[]> {
  const { state } = deps.ledger;
  const channelOrderId = channelNumberOf(deps, order);
  const named = { order: order.key, channelOrderId };
  const beginning = beginningOf(deps.settings, named);
  const found = Map.groupBy(await state.shownElsewhere(customer, { number: channelOrderId, beginning }), (row) =>
    formatKey(row.customer),
  );
  const places: ShownAt[] = [];
  for (const rows of found.values()) {
    const [{ customer: other } = { customer }] = rows;
    const numbers = rows.map(({ number }) => number);
    const shownUnder = async (number: string): Promise<ShownOrder | undefined> => await state.shownOrder(other, number);
    const others = await ownNumbers(deps, other, numbers);
    const own = numbers.includes(channelOrderId) ? await shownUnder(channelOrderId) : undefined;
    const amendments = await shownAmendments(deps.settings, { ...named, others, numbers }, shownUnder);
    const under = [...(own === undefined ? [] : [own]), ...amendments.map((item) => item.shown)];
    if (under.length > 0) places.push({ customer: other, shown: shownTogether(under), own, amendments });
  }
  return places.toSorted((one, other) => rank(other) - rank(one));
}

/** Which of these numbers are not those of amendments, since orders have them as their own. */
async function ownNumbers(deps: Dependencies, customer: RecordKey, numbers: readonly string[]): Promise<Set<string>> {
  const { orders } = await deps.ledger.state.load(customer);
  const own = new Set(orders.map((order) => channelNumberOf(deps, order)));
  for (const number of numbers)
    if (await deps.ledger.state.read((rows) => rows.order.placed.isPlaced(number))) own.add(number);
  return own;
}

function rank({ own, amendments }: ShownAt): number {
  return own === undefined ? (amendments.at(-1)?.n ?? 0) : Infinity;
}
