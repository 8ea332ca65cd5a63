import { standardRules } from "../support/world/rules.ts";
import type { Json, JsonObject } from "../../src/base/canonical-json.ts";
import { batchOrderRequestSchema } from "../../src/contract/order-record.ts";
import type { AssumptionSettings } from "../../src/contract/assumption-settings.ts";
import { customerKeyOf, formatKey } from "../../src/crm/keys.ts";
import type { Customer, Order, RecordKey } from "../../src/crm/model.ts";
import { bind } from "../../src/engine/deliver.ts";
import {
  withTree,
  type Desired,
  type DesiredCustomer,
  type DesiredInstance,
  type DesiredOrder,
} from "../../src/engine/model/desired.ts";
import { type PrivateMarker, markerKey } from "../../src/engine/model/references.ts";
import { planOrders } from "../../src/resources/order/plan.ts";
import { planInputOf } from "../../src/engine/plan/input.ts";
import { createBatchSchema } from "../../src/sandbox/order-bodies.ts";
import { checkAsset } from "../../src/sandbox/orders.ts";
import { nothingKnown } from "../support/world/records.ts";

const sandboxBatch = createBatchSchema(true);

/**
 * The E5 bodies of orders (and those orders), planned as if nothing had been sent yet and accepted by the contract and
 * by the sandbox; and why the others wait, as `namespace/id code`.
 */
export function ordersOf(
  records: { customers: readonly Customer[]; orders: readonly Order[] },
  settings: AssumptionSettings,
): { bodies: JsonObject[]; placed: Order[]; waiting: string[] } {
  const customers = new Map(records.customers.map((customer) => [formatKey(customer), customer]));
  const bodies: JsonObject[] = [];
  const placed: Order[] = [];
  const waiting: string[] = [];
  for (const order of records.orders) {
    const values = new Map<string, Json>();
    const key = customerKeyOf("orders", order);
    const customer = customers.get(formatKey(key));
    const input = planInputOf(
      {
        customer: key,
        desiredCustomer: customer === undefined ? undefined : desired(customer, hideCustomer(customer, values)),
        orders: [withTree(desired(order, hideOrder(order, values)))],
        staff: [],
        known: nothingKnown,
        observed: { enterprises: undefined, members: undefined, assets: undefined },
        privateValues: new Map(),
        rejections: [],
        quarantinedInScope: 0,
        sourceWithStrayRecord: undefined,
      },
      settings,
    );
    const { meant, blocks } = planOrders(input, { ...standardRules, settings });
    const placement = meant.find((item) => item.kind === "place-order");
    if (placement === undefined) {
      waiting.push(`${formatKey(order)} ${blocks[0]?.[1].code ?? "nothing to do"}`);
      continue;
    }
    const bound = bind(placement.payload, {
      reference: (reference) => ("of" in reference ? `${reference.$ref} of ${reference.of}` : reference.$ref),
      privateValue: (marker) => values.get(markerKey(marker)),
      initialPassword: () => undefined,
      newPassword: () => undefined,
    });
    if (!bound.ok) throw new Error(`${formatKey(order)} cannot be bound: ${JSON.stringify(bound.missing)}`);
    batchOrderRequestSchema.parse(bound.wire);
    for (const record of sandboxBatch.parse(bound.wire).orderList) {
      if (record.orderType === "new_buy") record.assets.forEach((asset) => checkAsset(asset, formatKey(order)));
    }
    bodies.push(bound.wire);
    placed.push(order);
  }
  return { bodies, placed, waiting };
}

function desired<Body>(key: RecordKey, body: Body): Desired<Body> {
  return {
    key: { namespace: key.namespace, id: key.id },
    version: 1,
    since: "",
    bodyHash: "",
    state: "current",
    pending: true,
    body,
  };
}

function hide(key: RecordKey, field: string, value: Json, values: Map<string, Json>): PrivateMarker {
  const marker = { $private: formatKey(key), field, version: 1, commitment: "" };
  values.set(markerKey(marker), value);
  return marker;
}

function hideCustomer(customer: Customer, values: Map<string, Json>): DesiredCustomer {
  const { name, enterpriseName, address, adminName, adminAccount, adminEmail, adminMobile, purchaserMobile, ...open } =
    customer;
  const given = { enterpriseName, address, adminName, adminAccount, adminEmail, adminMobile, purchaserMobile };
  const markers: Record<string, PrivateMarker> = {};
  for (const [field, value] of Object.entries(given)) {
    if (value !== undefined) markers[field] = hide(customer, field, value, values);
  }
  return { ...open, ...markers, name: hide(customer, "name", name, values) };
}

function hideOrder(order: Order, values: Map<string, Json>): DesiredOrder {
  const instances = order.instances.map((instance): DesiredInstance => {
    if (instance.kind !== "product") return instance;
    const { passwords, ...open } = instance;
    if (passwords === undefined) return open;
    return { ...open, passwords: hide(order, `instances[${instance.id}].passwords`, passwords, values) };
  });
  return { ...order, instances };
}
