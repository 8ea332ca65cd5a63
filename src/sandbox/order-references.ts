import { Refusal } from "./answers.ts";
import { cloudTypes } from "./assumptions.ts";
import { rowOf } from "./identifiers.ts";
import type { OrderRecord } from "./order-bodies.ts";
import type { OrderContext, Placement } from "./order-context.ts";

/** What an order record refers to: 13004 for what is not there. */
export function referencesOf(
  context: OrderContext,
  order: OrderRecord,
  place: string,
): Omit<Placement, "order" | "licenseOrder"> {
  const enterprise = rowOf("enterprise", order.enterpriseGlobalId);
  if (enterprise === undefined || context.findEnterprise.get(enterprise) === undefined) {
    throw new Refusal("13004", `${place}.enterpriseGlobalId: no such enterprise`);
  }
  return {
    enterprise,
    customer: customerOf(context, order, enterprise, place),
    sourceOrder: sourceOrderOf(context, order, enterprise, place),
  };
}

function customerOf(context: OrderContext, order: OrderRecord, enterprise: number, place: string): number {
  if (order.customerId === null || order.customerId === undefined) {
    const found = context.findCustomerOfDeletion.get(enterprise, order.channelCustomerId);
    if (found === undefined) throw new Refusal("13004", `${place}.channelCustomerId: not a customer of the enterprise`);
    return found.id;
  }
  const found = context.findCustomer.get(rowOf("customer", order.customerId) ?? -1, enterprise);
  if (found === undefined) throw new Refusal("13004", `${place}.customerId: not a customer of the enterprise`);
  if (found.channel_customer_id !== order.channelCustomerId) {
    throw new Refusal("13004", `${place}.channelCustomerId: not the number of this customer`);
  }
  return found.id;
}

function sourceOrderOf(context: OrderContext, order: OrderRecord, enterprise: number, place: string): number | null {
  const source = order.srcLicenseOrderId ?? "";
  if (source === "") {
    if (order.orderType !== "new_buy" && cloudTypes.includes(order.licenseType)) {
      throw new Refusal("13004", `${place}.srcLicenseOrderId: required for a cloud authorization type`);
    }
    return null;
  }
  return existingOrder(context, source, enterprise, `${place}.srcLicenseOrderId`);
}

export function existingOrder(context: OrderContext, identifier: string, enterprise: number, place: string): number {
  const found = context.findOrder.get(rowOf("licenseOrder", identifier) ?? -1, enterprise);
  if (found === undefined) throw new Refusal("13004", `${place}: no such order of the enterprise`);
  return found.id;
}
