import type { ReadOptions, Reads } from "../../engine/plan/input.ts";
import type { AbsentOf } from "../../engine/model/resource.ts";
import { formatKey } from "../../crm/keys.ts";
import { lastsAnything } from "../../engine/plan/drift.ts";
import type { CustomerInput, LoadedCustomer, PlanOptions } from "../../engine/plan/input.ts";
import type { OrderStanding } from "./model.ts";
import { planOrders } from "./placing.ts";
import type { OrderStage } from "./placing.ts";
import { repairedNumbers } from "./drift.ts";
import { amendedNumbers } from "./there-already.ts";
import { prepare } from "../../engine/plan/input.ts";
import { Limits } from "./removal-sight.ts";
import { Sights } from "./removal-sights.ts";

/**
 * The asset numbers whose contents (M7) decide what is taken away of orders, and whether something more is bought under
 * them: all of them where the ledger does not know under which something stands. `ends`: something may be taken away.
 * Undefined where nothing depends on M7.
 */
function contentsNeeded(
  input: LoadedCustomer,
  options: Pick<PlanOptions, "settings" | "policies" | "repairs">,
): Reads["contents"] {
  const nothing = { enterprises: undefined, members: undefined, assets: undefined };
  const stage = planOrders(prepare({ ...input, observed: nothing }, options.settings), options);
  const parts = stage.endings.flatMap((ending) => ending.parts);
  const numbers = new Set(driftedOrders(input, options).flatMap(repairedNumbers));
  const ends = parts.length > 0 || numbers.size > 0;
  if (stage.readsAll) return { numbers: "all", ends };
  for (const number of amendedNumbers(stage, input)) numbers.add(number);
  if (!ends && numbers.size === 0) return undefined;
  for (const part of parts) {
    const needed = part.by === undefined ? [part.unit.number] : [part.unit.number, part.by.unit.number];
    for (const number of needed) {
      if (number === undefined) return { numbers: "all", ends };
      numbers.add(number);
    }
  }
  return { numbers, ends };
}

/** Orders of which something was read back otherwise than it was left. */
function driftedOrders(
  { drift, standings }: Pick<LoadedCustomer, "drift" | "standings">,
  { repairs }: Pick<PlanOptions, "repairs">,
): OrderStanding[] {
  if (!lastsAnything(drift, repairs)) return [];
  return [...(standings?.values() ?? [])].flatMap((standing) => ("lost" in standing ? [] : standing));
}

/** Orders that may need a repair; M6 and M7 decide that. */
export function ordersToRepair(...given: Parameters<typeof driftedOrders>): string[] {
  return driftedOrders(...given)
    .filter((standing) => repairedNumbers(standing).length > 0)
    .map(({ order }) => formatKey(order));
}

/** Orders of which something is planned that rests on M7: what ends, what is bought under a number, what is repaired. */
export function ordersByContents(
  { meant, endings }: Pick<OrderStage, "meant" | "endings">,
  input: Pick<LoadedCustomer, "drift" | "standings">,
  options: Pick<PlanOptions, "repairs">,
): Set<string> {
  const bought = meant.filter((one) => amendedNumbers({ meant: [one] }, input).length > 0);
  return new Set([
    ...bought.flatMap(({ records }) => records.map(formatKey)),
    ...endings.map(({ order }) => formatKey(order.order)),
    ...ordersToRepair(input, options),
  ]);
}

/** What is to go and M7 leaves out, by order; of an order that stands there with nothing, M7 shows all of it. */
export function absentProducts(
  input: CustomerInput,
  options: Pick<PlanOptions, "settings" | "policies">,
): Map<string, AbsentOf> {
  const prepared = prepare(input, options.settings);
  const forms = new Map(input.orders.map(({ key, since, state }) => [formatKey(key), `${state} ${since}`]));
  const absent = new Map<string, AbsentOf>();
  for (const ending of planOrders(prepared, options).endings) {
    const key = formatKey(ending.order.order);
    const sights = new Sights(prepared, ending, new Limits(options.settings));
    const names = ending.parts.flatMap((part) => sights.absent(part));
    const earlier = absent.get(key)?.names ?? [];
    absent.set(key, { form: forms.get(key) ?? "", names: [...earlier, ...names] });
  }
  return absent;
}

export function reads(loaded: LoadedCustomer, options: ReadOptions): Reads {
  return options.instead === undefined ? { contents: contentsNeeded(loaded, options) } : {};
}
