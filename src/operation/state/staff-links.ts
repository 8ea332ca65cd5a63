import { formatKey } from "../../crm/keys.ts";
import type { RecordKey } from "../../crm/model.ts";
import type { PrivateMarker } from "../references.ts";
import { together } from "./part.ts";
import { inKeyOrder } from "./row-order.ts";
import { isSameKey } from "./same-key.ts";

/**
 * Commitments to what the CRM said of a staff member when the account was made, adopted or edited; `null` where it said
 * nothing.
 */
export interface StaffProfile {
  userName: string;
  name: string;
  remark: string | null;
  mobile: string | null;
  departmentId: string | null;
  /** What M2 set of it and M5 was not compared with yet. */
  unread?: readonly ShownField[];
}

/** What of a person M5 shows back, besides the account name. */
export type ShownField = "name" | "remark" | "mobile" | "departmentId";

export interface StaffLink {
  key: RecordKey;
  memberGlobalId: string;
  origin: "created" | "adopted";
  profile: StaffProfile;
  /** The account name as it was then, where the CRM gives another one now; filled in when a customer is loaded. */
  login?: PrivateMarker | undefined;
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

/** M2 set what is said of the member that a person is, or M5 shows it. */
export interface StaffEdited {
  type: "staff-edited";
  staff: RecordKey;
  customer: RecordKey;
  profile: StaffProfile;
}

/** A person is no member of the customer's enterprise any more: an operation deleted the account, or somebody did. */
export interface StaffUnlinked {
  type: "staff-unlinked";
  staff: RecordKey;
  customer: RecordKey;
  operationId: string | null;
}

export type StaffChange = StaffLinked | StaffEdited | StaffUnlinked;

const staffLinks = together<KnownStaffLinks, StaffChange>((known, changes, context) => {
  const all = new Map(known.staffLinks);
  for (const change of changes) {
    const key = formatKey(change.staff);
    // What a person is at another customer says nothing of the account here.
    if (!isSameKey(change.customer, context.customer)) continue;
    const link = all.get(key);
    if (change.type === "staff-unlinked") all.delete(key);
    else if (change.type === "staff-linked") {
      const { staff, memberGlobalId, origin, profile } = change;
      all.set(key, { key: staff, memberGlobalId, origin, profile });
    } else if (link !== undefined) all.set(key, { ...link, profile: change.profile });
  }
  return { ...known, staffLinks: inKeyOrder(all) };
});

export const staffLinksParts = { "staff-linked": staffLinks, "staff-edited": staffLinks, "staff-unlinked": staffLinks };
