import type { PlatformCustomer } from "../../platform/snapshot.ts";
import { oneByOne } from "./part.ts";
import type { LinkedEnterprise } from "./part.ts";
import { compareBytes } from "./row-order.ts";

export interface KnownPlatformCustomers {
  platformCustomers: PlatformCustomer[];
}

export interface PlatformCustomersChange {
  type: "platform-customers";
  enterpriseGlobalId: string;
  customers: PlatformCustomer[];
}

const platformCustomers = oneByOne<LinkedEnterprise & KnownPlatformCustomers, PlatformCustomersChange>(
  (known, { enterpriseGlobalId, customers }) => {
    if (known.link?.enterpriseGlobalId !== enterpriseGlobalId) return known;
    return { ...known, platformCustomers: merged(known.platformCustomers, customers) };
  },
);

export const platformCustomersParts = { "platform-customers": platformCustomers };

function merged(before: readonly PlatformCustomer[], shown: readonly PlatformCustomer[]): PlatformCustomer[] {
  const all = new Map([...before, ...shown].map((item) => [item.customerId, item]));
  return [...all.values()].toSorted((one, other) => compareBytes(one.customerId, other.customerId));
}
