import { hashOf } from "../base/canonical-json.ts";
import { formatKey } from "../crm/keys.ts";
import type { LoadedCustomer } from "./input.ts";

/** One fingerprint for each customer: desired versions and states, and what is known. */
export function fingerprintOf(input: LoadedCustomer): string {
  const { known } = input;
  return hashOf([
    input.desiredCustomer === undefined ? null : [input.desiredCustomer.bodyHash, input.desiredCustomer.state],
    input.orders.map((order) => [formatKey(order.key), order.bodyHash, order.state]),
    input.staff.map((staff) => [formatKey(staff.key), staff.bodyHash, staff.state]),
    known.link === undefined ? null : known.link.enterpriseGlobalId,
    known.acknowledged ?? null,
    [...known.placedOrders.keys()],
    known.assignments.map((item) => [item.assetNumber, item.memberGlobalId]),
    [...known.staffLinks.values()].map((link) => link.memberGlobalId),
    ...(known.requests.length === 0
      ? []
      : [known.requests.map(({ of, about, wanted, askedAt }) => [of, about, wanted, askedAt])]),
  ]);
}
