import { canonicalJson, toJson } from "../base/canonical-json.ts";
import type { AssumptionSettings } from "../contract/assumption-settings.ts";
import { missingAssumptions } from "../contract/assumptions/missing.ts";
import { fillTemplate } from "../contract/template.ts";
import { formatKey } from "../crm/keys.ts";
import type { Desired, DesiredCustomer, DesiredOrder, OrderWithTree } from "../operation/desired.ts";
import type { MeantOperation } from "../operation/operation.ts";
import type { Known } from "../operation/state.ts";
import type { Block, BlockedRecord } from "./block.ts";
import type { Observed } from "./input.ts";
import { newBuyRecords, orderableFields, PayloadBuild } from "./order-records.ts";
import { selectionBlock } from "./platform-customer.ts";
import type { Prepared } from "./prepared.ts";
import { instancesFault } from "./validate.ts";

/** What the orders stage looks at. */
type Given = Pick<Prepared, "customer" | "desiredCustomer" | "orders" | "numbers" | "renumbered"> & {
  known: Pick<Known, "link" | "placedOrders" | "platformCustomers">;
  observed: Pick<Observed, "unclearOrders">;
};

type Placement = MeantOperation<"place-order">;

/** What the orders stage comes to. An order that is neither placed nor blocked leaves nothing to do. */
export interface OrderStage {
  meant: Placement[];
  blocks: BlockedRecord[];
}

const amendment = (what: string): Block => ({
  code: "amendment.not-enabled",
  reason: `amendment not enabled: ${what}`,
  again: false,
});

/**
 * Decides each pending order of a customer: place it (E5), leave it, or say why it waits. An order whose record waits
 * in quarantine is not decided at all: nothing of it is sent, and its last good form stands for nothing.
 */
export function planOrders(given: Given, settings: AssumptionSettings): OrderStage {
  const owners = new Map<string, string>();
  for (const [key, placed] of given.known.placedOrders) owners.set(placed.channelOrderId, key);
  const stage: OrderStage = { meant: [], blocks: [] };
  for (const order of given.orders) {
    if (order.state === "quarantined") continue;
    const key = formatKey(order.key);
    const decided = decide(given, order, settings);
    if (decided === "nothing-to-do") continue;
    if (!("kind" in decided)) {
      stage.blocks.push([key, decided]);
      continue;
    }
    const { channelOrderId } = decided.payload;
    const owner = owners.get(channelOrderId);
    if (owner !== undefined) stage.blocks.push([key, sameChannelNumber(channelOrderId, owner)]);
    else {
      owners.set(channelOrderId, key);
      stage.meant.push(decided);
    }
  }
  return stage;
}

/** The channel order number of an order: the CRM's own, or the one the template makes (A16). */
function channelOrderIdOf(order: Desired<DesiredOrder>, settings: AssumptionSettings): string {
  const { namespace, id } = order.key;
  return order.body.channelOrderId ?? fillTemplate(settings.channelOrderIdTemplate, { id, namespace });
}

function sameChannelNumber(channelOrderId: string, owner: string): Block {
  return {
    code: "order.same-channel-number",
    reason: `the channel order number ${channelOrderId} belongs to the order ${owner}; two orders may not share one`,
    again: true,
  };
}

function decide(given: Given, order: OrderWithTree, settings: AssumptionSettings): Placement | Block | "nothing-to-do" {
  const placed = given.known.placedOrders.get(formatKey(order.key));
  if (placed !== undefined) {
    if (formatKey(placed.customer) !== formatKey(given.customer)) {
      return amendment(`the order moved here in the CRM and stays placed for ${formatKey(placed.customer)}`);
    }
    if (order.state === "absent") return amendment("the order is gone from the CRM and stays placed");
    if (order.body.cancelled) return amendment("the order was cancelled in the CRM and stays placed");
    if (placed.bodyHash !== order.bodyHash) {
      if (placed.body !== undefined && asOrdered(placed.body) === asOrdered(order.body)) return "nothing-to-do";
      return amendment("the order's lines changed in the CRM after it was placed");
    }
    return "nothing-to-do";
  }
  const unclear = given.observed.unclearOrders?.get(formatKey(order.key));
  if (unclear !== undefined) return unclear;
  if (order.state === "absent" || order.body.cancelled) return "nothing-to-do";
  return placement(given, order, settings);
}

/** What of an order the platform is told: no price, and no date of the CRM. */
function asOrdered({ channelOrderId, instances }: DesiredOrder): string {
  return canonicalJson({
    channelOrderId,
    instances: instances.map((instance) =>
      toJson("amount" in instance ? { ...instance, amount: undefined } : instance),
    ),
  });
}

function placement(given: Given, order: OrderWithTree, settings: AssumptionSettings): Placement | Block {
  const { customer, desiredCustomer } = given;
  if (desiredCustomer === undefined)
    return { code: "customer.unknown", reason: "the CRM has not given the order's customer yet", again: true };
  if (given.renumbered !== undefined) return { ...given.renumbered, again: true };
  const channelOrderId = channelOrderIdOf(order, settings);
  const made = orderRecords(given, desiredCustomer.body, order, settings);
  if ("code" in made) return made;
  return {
    kind: "place-order",
    customer,
    subject: `order:${formatKey(order.key)}`,
    records: [{ stream: "orders", ...order.key }],
    target: {},
    payload: {
      channelCode: settings.channelCode ?? "",
      channelOrderId,
      syncMode: settings.syncMode,
      orderList: made.map((record) => record.record),
    },
    reason: "the order is new in the CRM",
    before: null,
    after: {
      version: order.version,
      bodyHash: order.bodyHash,
      assets: order.tree.assets.map((asset) => ({
        id: asset.id,
        licenseType: asset.licenseType,
        quantity: asset.quantity,
        given: asset.assetNumbers,
      })),
    },
  };
}

/** The order records of a purchase, or why they cannot be made as they have to be. */
function orderRecords(
  { numbers, known }: Given,
  body: DesiredCustomer,
  order: OrderWithTree,
  settings: AssumptionSettings,
): ReturnType<typeof newBuyRecords> | Block {
  const lacking = orderableFields.filter((field) => body[field] === undefined);
  if (lacking.length > 0) {
    return {
      code: "customer.not-orderable",
      reason: `the customer cannot be ordered for yet: the CRM gives no ${lacking.join(", ")}`,
      again: true,
    };
  }
  const { assets, faults } = order.tree;
  const [fault] = faults;
  if (fault !== undefined) return { code: `order.${fault.code}`, reason: fault.message, again: false };
  const build = new PayloadBuild(settings);
  const records = newBuyRecords(build, { order: order.key, numbers, body, assets });
  const [missing] = missingAssumptions(settings, "E5", build.uses);
  if (missing !== undefined) {
    return {
      code: "assumption.missing",
      reason: `the setting assumptions.${missing.key} (${missing.row}) has no value: ${missing.choices.join(" or ")}`,
      again: true,
    };
  }
  const unfit = instancesFault(order.body.instances, settings);
  if (unfit !== undefined) return { code: `order.${unfit.code}`, reason: unfit.message, again: true };
  const [wrong] = build.faults;
  if (wrong !== undefined) {
    const reason = `instance ${wrong.instanceId}, ${wrong.field}: ${wrong.message}`;
    return { code: "order.not-sendable", reason, again: true };
  }
  const types = records.map((record) => record.licenseType);
  return selectionBlock(known, types, settings) ?? records;
}
