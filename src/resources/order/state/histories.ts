import { standingOf } from "../fold.ts";
import type { OrderHistory, StandingParts } from "../fold.ts";
import type { LicenseType, RecordKey } from "../../../crm/model.ts";
import { formatKey } from "../../../crm/keys.ts";
import { withTree } from "../../../engine/model/desired.ts";
import type { DesiredOrder } from "../../../engine/model/desired.ts";
import type { Known } from "../../../engine/model/state.ts";
import type { DesiredRows } from "../../../ledger/state/desired.ts";
import type { OrderStanding } from "../model.ts";
import type { OrderStepRows } from "./order-step-rows.ts";
import type { PlacedOrder } from "./placed-orders.ts";

/** What happened to orders since they were placed, and what stands of them. Reads only. */
export class OrderHistories {
  readonly #steps: OrderStepRows;
  readonly #desired: DesiredRows;

  constructor(steps: OrderStepRows, desired: DesiredRows) {
    this.#steps = steps;
    this.#desired = desired;
  }

  /** What stands of a placed order for a customer. */
  standing(placed: PlacedOrder, customer: RecordKey, known: Pick<Known, "numbers">): OrderStanding | { lost: string } {
    return standingOf(placed, this.#partsOf(placed, customer, known));
  }

  /** Everything that happened to an order that is placed for a customer. */
  of(customer: RecordKey, order: RecordKey, known: Pick<Known, "placedOrders" | "numbers">): OrderHistory | undefined {
    const placed = known.placedOrders.get(formatKey(order));
    if (placed === undefined) return undefined;
    const parts = this.#partsOf(placed, customer, known);
    const common = { key: order, since: "", bodyHash: "", state: "current" as const, pending: false };
    const forms = [...parts.forms].map(([version, body]) => [version, withTree({ ...common, version, body })] as const);
    const row = this.#desired.order(order);
    const owner = row && { namespace: row.customer_namespace, id: row.customer_id };
    return { placed, owner, parts, forms: new Map(forms), operations: this.#steps.operationsOf(order) };
  }

  /** The licence type of each asset number of placed orders, also of adopted ones. */
  licenceTypes({ placedOrders, numbers }: Pick<Known, "placedOrders" | "numbers">): Map<string, LicenseType> {
    const types = new Map<string, LicenseType>();
    for (const { key, version } of placedOrders.values()) {
      const bought = this.#steps.of(key).flatMap((step) => (step.kind === "bought" ? [step.version] : []));
      const forms = [...new Set([version, ...bought])].map((of) => this.#desired.orderVersion(key, of));
      for (const instance of forms.flatMap((form) => form?.instances ?? [])) {
        if (instance.kind !== "asset") continue;
        for (const number of instance.assetNumbers) types.set(number, instance.licenseType);
        for (const item of numbers)
          if (item.instanceId === instance.id && item.orderId === key.id && item.namespace === key.namespace)
            types.set(item.number, instance.licenseType);
      }
    }
    return types;
  }

  #partsOf(
    { key, version, placedFor }: PlacedOrder,
    customer: RecordKey,
    { numbers }: Pick<Known, "numbers">,
  ): StandingParts {
    const steps = this.#steps.of(key);
    const forms = new Map<number, DesiredOrder>();
    for (const of of [version, ...steps.flatMap((step) => (step.kind === "bought" ? [step.version] : []))]) {
      const form = forms.get(of) ?? this.#desired.orderVersion(key, of);
      if (form !== undefined) forms.set(of, form);
    }
    return { forms, numbers, licenceOrders: this.#steps.licenceOrders(key), steps, placedFor, customer };
  }
}
