import { formatKey } from "../../crm/keys.ts";
import type { RecordKey } from "../../crm/model.ts";
import { together } from "./part.ts";
import { inKeyOrder } from "./row-order.ts";
import { isSameKey } from "./same-key.ts";
import { usable } from "./usable.ts";

/**
 * Commitments to what the CRM said of a staff member when the account was made or adopted; `null` where it said
 * nothing.
 */
export interface StaffProfile {
  userName: string;
  name: string;
  remark: string | null;
  mobile: string | null;
  departmentId: string | null;
}

export interface StaffLink {
  key: RecordKey;
  memberGlobalId: string;
  origin: "created" | "adopted";
  profile: StaffProfile;
}

export interface KnownStaffLinks {
  staffLinks: ReadonlyMap<string, StaffLink>;
}

export interface StaffLinked {
  type: "staff-linked";
  staff: RecordKey;
  customer: RecordKey;
  enterpriseGlobalId: string;
  memberGlobalId: string;
  origin: "created" | "adopted";
  profile: StaffProfile;
}

const staffLinks = together<KnownStaffLinks, StaffLinked>((known, changes, context) => {
  const all = new Map(known.staffLinks);
  for (const { staff: key, customer, memberGlobalId, origin, profile } of changes) {
    if (isSameKey(customer, context.customer) && usable(memberGlobalId))
      all.set(formatKey(key), { key, memberGlobalId, origin, profile });
    else all.delete(formatKey(key));
  }
  return { ...known, staffLinks: inKeyOrder(all) };
});

export const staffLinksParts = { "staff-linked": staffLinks };
