import {
  type ReadOptions,
  type Reads,
  type CustomerInput,
  type LoadedCustomer,
  type PlanOptions,
  planInputOf,
} from "../../engine/plan/input.ts";
import type { AbsentOf } from "../../engine/model/resource.ts";
import { formatKey } from "../../crm/keys.ts";
import { planOrders } from "./plan.ts";
import { amendedNumbers } from "./there-already.ts";
import { Limits } from "./terms.ts";
import { Sights } from "./removal-sights.ts";

/**
 * Asset numbers whose M7 decides removals and purchases; `all` if the ledger does not know a number. `ends`: something
 * may be removed. Undefined if nothing depends on M7.
 */
function contentsNeeded(input: LoadedCustomer, options: Pick<PlanOptions, "settings" | "policies">): Reads["contents"] {
  const nothing = { enterprises: undefined, members: undefined, assets: undefined };
  const stage = planOrders(planInputOf({ ...input, observed: nothing }, options.settings), options);
  const parts = stage.endings.flatMap((ending) => ending.parts);
  const numbers = new Set(amendedNumbers(stage, input));
  const ends = parts.length > 0;
  if (stage.readsAll) return { numbers: "all", ends };
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

/** Products to remove that M7 does not show, by order. An order without such products is listed too. */
export function absentProducts(
  input: CustomerInput,
  options: Pick<PlanOptions, "settings" | "policies">,
): Map<string, AbsentOf> {
  const prepared = planInputOf(input, options.settings);
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
