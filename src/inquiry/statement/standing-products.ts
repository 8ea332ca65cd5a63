import { formatKey } from "../../crm/keys.ts";
import type { RecordKey } from "../../crm/model.ts";
import type { DesiredOrder } from "../../engine/desired.ts";
import { standingOf } from "../../resources/order/order-standing.ts";
import type { StandingUnit } from "../../resources/order/order-standing.ts";
import type { FixedNumber } from "../../resources/order/state/asset-numbers.ts";
import type { OrderHistory } from "./order-lines.ts";

/** Units of an order that stand for a customer at a moment. */
export interface StandingAt {
  customer: RecordKey;
  units: readonly StandingUnit[];
}

/**
 * What stood of an order before a moment, for each customer that it was ever for, as everything that amends orders sees
 * it. Nothing is known of a form that is not kept any more. Numbers are looked up where `withNumbers` says so.
 */
export function standingBefore(history: OrderHistory, moment: string, withNumbers: boolean): StandingAt[] {
  const { order, placing, steps } = history;
  if (placing.at >= moment) return [];
  const before = steps.filter(({ at }) => at < moment);
  const forms = new Map<number, DesiredOrder>();
  if (placing.form !== undefined) forms.set(placing.version, placing.form);
  for (const step of before) if (step.kind !== "removed" && step.form !== undefined) forms.set(step.version, step.form);
  const customers = new Map([placing, ...before].map(({ customer }) => [formatKey(customer), customer]));
  return [...customers.values()].flatMap((customer): StandingAt[] => {
    const standing = standingOf(
      {
        key: order,
        customer: placing.customer,
        channelOrderId: placing.channelOrderId,
        version: placing.version,
        bodyHash: "",
        origin: placing.origin,
      },
      {
        forms,
        numbers: withNumbers ? numbersOf(history, customer, forms.values()) : [],
        licenceOrders: placing.licenceOrders,
        steps: before,
        placedFor: placing.customer,
        customer,
      },
    );
    return "lost" in standing ? [] : [{ customer, units: standing.units }];
  });
}

function numbersOf(history: OrderHistory, customer: RecordKey, forms: Iterable<DesiredOrder>): FixedNumber[] {
  const { namespace, id: orderId } = history.order;
  const numbers: FixedNumber[] = [];
  for (const { instances } of forms) {
    for (const asset of instances) {
      if (asset.kind !== "asset") continue;
      const product = instances.find((item) => item.kind === "product" && item.parentId === asset.id);
      for (let unit = 0; unit < asset.quantity; unit += 1) {
        const of = { customer, instanceId: asset.id, unit, product: product?.kind === "product" ? product.id : "" };
        const number = history.numberOf(of);
        if (number !== undefined) numbers.push({ number, namespace, orderId, instanceId: asset.id, unit });
      }
    }
  }
  return numbers;
}
