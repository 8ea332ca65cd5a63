import { formatKey } from "../../crm/keys.ts";
import type { CustomerInput } from "../../engine/plan/input.ts";
import type { PlanOptions } from "../../engine/plan/options.ts";
import { planOrders } from "./orders.ts";
import { prepare } from "../../engine/plan/prepared.ts";
import { Limits } from "./removal-sight.ts";
import { Sights } from "./removal-sights.ts";

/** What M7 leaves out of an order that wants it gone. `form`: what the CRM says of the order, and since when. */
export interface AbsentOf {
  form: string;
  /** By `absentName`. */
  names: string[];
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
