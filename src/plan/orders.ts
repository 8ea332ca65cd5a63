import { canonicalJson, toJson } from "../base/canonical-json.ts";
import { missingAssumptions } from "../contract/assumptions/missing.ts";
import { selectCustomer } from "../contract/selection.ts";
import type { AssumptionSettings } from "../contract/assumption-settings.ts";
import { fillTemplate } from "../contract/template.ts";
import { formatKey } from "../crm/keys.ts";
import type { RecordKey } from "../crm/model.ts";
import { instancesFault } from "./validate.ts";
import type { Block } from "./block.ts";
import { otherNumber } from "./enterprise.ts";
import type { CustomerInput } from "./input.ts";
import type { Desired, DesiredCustomer, DesiredOrder, OrderWithTree } from "../operation/desired.ts";
import type { Known } from "../operation/state.ts";
import { customerNumbers, newBuyRecords, orderableFields, PayloadBuild } from "./order-records.ts";
import type { Operation } from "../operation/operation.ts";
import { operation } from "../operation/new-operation.ts";

/** What became of one pending order in the plan. */
export interface OrderDecision {
  key: RecordKey;
  operation: Operation | undefined;
  block: Block | undefined;
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
export function planOrders(input: CustomerInput, settings: AssumptionSettings): OrderDecision[] {
  const owners = new Map<string, string>();
  for (const [key, placed] of input.known.placedOrders) owners.set(placed.channelOrderId, key);
  return input.orders
    .filter((order) => order.state !== "quarantined")
    .map((order) => {
      const decided = decide(input, order, settings);
      if (decided === "nothing-to-do") return { key: order.key, operation: undefined, block: undefined };
      if (!("endpoint" in decided)) return { key: order.key, operation: undefined, block: decided };
      const channelOrderId = channelOrderIdOf(order, settings);
      const owner = owners.get(channelOrderId);
      if (owner !== undefined) {
        return { key: order.key, operation: undefined, block: sameChannelNumber(channelOrderId, owner) };
      }
      owners.set(channelOrderId, formatKey(order.key));
      return { key: order.key, operation: decided, block: undefined };
    });
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

function decide(
  input: CustomerInput,
  order: OrderWithTree,
  settings: AssumptionSettings,
): Operation | Block | "nothing-to-do" {
  const placed = input.known.placedOrders.get(formatKey(order.key));
  if (placed !== undefined) {
    if (formatKey(placed.customer) !== formatKey(input.customer)) {
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
  const unclear = input.observed.unclearOrders?.get(formatKey(order.key));
  if (unclear !== undefined) return unclear;
  if (order.state === "absent" || order.body.cancelled) return "nothing-to-do";
  return placement(input, order, settings);
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

function placement(input: CustomerInput, order: OrderWithTree, settings: AssumptionSettings): Operation | Block {
  const customer = input.desiredCustomer;
  if (customer === undefined)
    return { code: "customer.unknown", reason: "the CRM has not given the order's customer yet", again: true };
  const { link } = input.known;
  if (link !== undefined) {
    const numbers = customerNumbers(input.customer, customer.body.channelCustomerId, settings);
    const other = otherNumber(link, numbers.channelCustomerId);
    if (other !== undefined) return { ...other, again: true };
  }
  const made = orderRecords(input, customer.body, order, settings);
  if ("code" in made) return made;
  return operation("place-order", {
    customer: input.customer,
    subject: `order:${formatKey(order.key)}`,
    records: [{ stream: "orders", ...order.key }],
    target: {},
    payload: {
      channelCode: settings.channelCode ?? "",
      channelOrderId: channelOrderIdOf(order, settings),
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
  });
}

/** The order records of a purchase, or why they cannot be made as they have to be. */
function orderRecords(
  input: CustomerInput,
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
  const records = newBuyRecords(build, { order: order.key, customer: input.customer, body, assets });
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
  return selectionBlock(input.known, types, settings) ?? records;
}

/**
 * Blocks an order whose customers on the platform are known and do not give exactly one hit for a licence type (A12).
 */
function selectionBlock(
  known: Known,
  types: readonly Parameters<typeof selectCustomer>[1][],
  settings: AssumptionSettings,
): Block | undefined {
  if (known.link === undefined || known.platformCustomers.length === 0) return undefined;
  for (const licenseType of types) {
    const selected = selectPlatformCustomer(known, licenseType, settings);
    if ("code" in selected) return selected;
  }
  return undefined;
}

/** The platform customer that takes orders of a licence type, or why there is not exactly one (A12). */
export function selectPlatformCustomer(
  known: Pick<Known, "platformCustomers" | "link">,
  licenseType: Parameters<typeof selectCustomer>[1],
  settings: AssumptionSettings,
): { customerId: string } | Block {
  const enterpriseGlobalId = known.link?.enterpriseGlobalId ?? "";
  const selected = selectCustomer(
    known.platformCustomers.map((item) => ({ ...item, enterpriseGlobalId, enterpriseName: null })),
    licenseType,
    settings,
  );
  if (selected.ok) return { customerId: selected.value.customerId };
  return {
    code: "enterprise.no-single-customer",
    reason:
      `${selected.error.hits} ${selected.error.selector} customers of the enterprise fit the licence ` +
      `type ${licenseType}; exactly one must (A12)`,
    again: true,
  };
}
