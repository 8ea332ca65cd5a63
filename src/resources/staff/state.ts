import { formatKey } from "../../crm/keys.ts";
import type { RecordKey } from "../../crm/model.ts";
import type { DesiredStaff } from "../../engine/model/desired.ts";
import { markerKey, type PrivateMarker } from "../../engine/model/references.ts";
import type { Gathered, StateRows, StateStore } from "../../engine/model/resource.ts";
import { together, inKeyOrder, isSameKey } from "../../engine/model/state.ts";
import type { LoadedCustomer } from "../../engine/plan/input.ts";
import type { Sqlite } from "../../ledger/database/database.ts";
import { sqlOf } from "../../ledger/database/statements.ts";
import { stored } from "../../ledger/database/damage.ts";
import { desired } from "../../ledger/state/desired.ts";
import type { LedgerRows } from "../../ledger/state/registry.ts";
import { subjectOf } from "../../report/reconciliation/case.ts";
import { leftProfile, type ClearProfile } from "./profile.ts";

export interface StaffLinkTable {
  namespace: string;
  staff_id: string;
  from_at: string;
  to_at: string | null;
  customer_namespace: string;
  customer_id: string;
  enterprise_global_id: string;
  member_global_id: string;
  origin: StaffLink["origin"];
  profile: string;
  ended_by: string | null;
}

/** Commitments of the last sent or adopted values. Null: the CRM gave none. */
export interface StaffProfile {
  userName: string;
  name: string;
  remark: string | null;
  mobile: string | null;
  departmentId: string | null;
  /** Fields that M2 set and M5 has not confirmed yet. */
  unread?: readonly ShownField[];
}

export type ShownField = "name" | "remark" | "mobile" | "departmentId";

export interface StaffLink {
  key: RecordKey;
  memberGlobalId: string;
  origin: "created" | "adopted";
  profile: StaffProfile;
  /** The earlier account name, if the CRM changed it. Filled in when a customer is loaded. */
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

export interface StaffEdited {
  type: "staff-edited";
  staff: RecordKey;
  customer: RecordKey;
  profile: StaffProfile;
}

/** The account no longer exists. `operationId` null: somebody else deleted it. */
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
    // Links at another customer do not affect the account here.
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

const changes = { "staff-linked": staffLinks, "staff-edited": staffLinks, "staff-unlinked": staffLinks };

export interface StaffRows extends StateRows {
  /** Prefers the account at the person's present customer, otherwise the newest account. */
  readonly accountOf: (staff: RecordKey) => { customer: RecordKey; memberGlobalId: string; since: string } | undefined;
  /** By member id; in clear, only in memory. */
  readonly leftProfiles: (customer: RecordKey) => ReadonlyMap<string, ClearProfile>;
}

declare module "../../engine/model/resource.ts" {
  interface ChangeShapes {
    "staff-linked": StaffLinked;
    "staff-edited": StaffEdited;
    "staff-unlinked": StaffUnlinked;
  }
  interface ResourceRows {
    staff: StaffRows;
  }
  interface ResourceTables {
    staff_link: StaffLinkTable;
  }
}
declare module "../../engine/model/state.ts" {
  interface Known extends KnownStaffLinks {}
}
declare module "../../engine/plan/input.ts" {
  interface CustomerInput {
    /** By key: people whose accounts differ from the sent or adopted values. */
    changedAccounts?: ReadonlySet<string> | undefined;
  }
}

const nothing: KnownStaffLinks = { staffLinks: new Map() };

export const state = {
  tables: ["staff_link"],
  nothing,
  changes,
  facts: {
    link: {
      of: ({ staffLinks }) => [...staffLinks].map(([key, link]) => [key, link.memberGlobalId]),
      moved: (staff) => [
        `the account of staff ${staff} is another`,
        `staff ${staff} has no account any more`,
        `staff ${staff} got an account`,
      ],
    },
  },
  holds: {
    staff:
      "exists (select 1 from staff_link where to_at is null and customer_namespace = +@namespace and customer_id = +@id)",
    changedAccounts: `exists (select 1 from difference where namespace = +@namespace and customer_id = +@id
      and ended_at is null and class = 'different' and level = 'staff')`,
  },
  open,
} satisfies StateStore<keyof typeof changes, StaffRows>;

const texts = {
  of: `select namespace, staff_id as id, member_global_id as memberGlobalId, origin, profile from staff_link
    where customer_namespace = +? and customer_id = +? and to_at is null order by namespace, staff_id`,
  elsewhere: `select s.namespace, s.staff_id as id from link l join staff_link s
      on s.customer_namespace = l.namespace and s.customer_id = l.customer_id and s.to_at is null
    where l.namespace = +@namespace and l.customer_id = +@id and l.to_at is null
      and s.enterprise_global_id <> l.enterprise_global_id`,
  ofStaff: `select l.customer_namespace as namespace, l.customer_id as id, l.member_global_id as memberGlobalId,
      l.from_at as since from staff_link l
    left join record r on r.stream = 'staff' and r.namespace = l.namespace and r.id = l.staff_id
      and r.customer_namespace = l.customer_namespace and r.customer_id = l.customer_id
    where l.namespace = +? and l.staff_id = +? and l.to_at is null
    order by r.id is null, l.from_at desc limit 1`,
  count: `select count(*) from staff_link
    where to_at is null and customer_namespace = +? and customer_id = +? and origin = 'created'`,
  all: `select sum(iif(name = 'staff_link', count, 0 - count)) from tally
    where name in ('staff_link', 'staff_link adopted')`,
  end: `update staff_link set to_at = ?, ended_by = ? where namespace = +? and staff_id = +? and to_at is null
    and customer_namespace = +? and customer_id = +?`,
  edit: `update staff_link set profile = ? where namespace = +? and staff_id = +? and to_at is null
    and customer_namespace = +? and customer_id = +?`,
  begin: `insert into staff_link (namespace, staff_id, from_at, customer_namespace, customer_id, enterprise_global_id,
    member_global_id, origin, profile) values (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
};

type LinkRow = RecordKey & Pick<StaffLink, "memberGlobalId" | "origin"> & { profile: string };

function linkOf({ namespace, id, profile, ...link }: LinkRow): [string, StaffLink] {
  const key = { namespace, id };
  return [formatKey(key), { ...link, key, profile: stored<StaffProfile>(profile) }];
}

/** The only code that writes the table `staff_link`. */
function open(database: Sqlite, ledger: LedgerRows): StaffRows {
  const sql = sqlOf(database, texts);
  const accounts = ({ namespace, id }: RecordKey): ReadonlyMap<string, StaffLink> =>
    new Map(sql.rows<LinkRow>("of", [namespace, id]).map(linkOf));
  const end = (staff: RecordKey, customer: RecordKey, operationId: string | null, at: string): void => {
    sql.change("end", [at, operationId, staff.namespace, staff.id, customer.namespace, customer.id]);
  };
  return {
    load: (customer) => ({ staffLinks: accounts(customer) }),
    ofLink({ staffLinks }, customer) {
      const keys = new Set(
        sql.rows<RecordKey>("elsewhere", { namespace: customer.namespace, id: customer.id }).map(formatKey),
      );
      return keys.size === 0 ? {} : { staffLinks: new Map([...staffLinks].filter(([key]) => !keys.has(key))) };
    },
    gather: (given) => ({
      ...withLogins(given, ledger),
      ...(given.held["changedAccounts"] === 1 && { changedAccounts: changedAccounts(given, ledger) }),
    }),
    writes: {
      "staff-linked": ({ staff, customer, enterpriseGlobalId, memberGlobalId, origin, profile }, at) => {
        end(staff, customer, null, at);
        const whose = [customer.namespace, customer.id, enterpriseGlobalId, memberGlobalId] as const;
        sql.change("begin", [staff.namespace, staff.id, at, ...whose, origin, JSON.stringify(profile)]);
      },
      "staff-unlinked": ({ staff, customer, operationId }, at) => end(staff, customer, operationId, at),
      "staff-edited": ({ staff, customer, profile }, at) => {
        // After an accepted M2, a new difference must be shown again before it is repaired.
        if (profile.unread !== undefined) ledger.differences.setAgain(customer, staff, at);
        sql.change("edit", [JSON.stringify(profile), staff.namespace, staff.id, customer.namespace, customer.id]);
      },
    },
    count(thing, customer) {
      if (thing !== "accounts") return undefined;
      return (customer === undefined ? sql.value("all") : sql.value("count", [customer.namespace, customer.id])) ?? 0;
    },
    accountOf(staff) {
      const row = sql.row<RecordKey & { memberGlobalId: string; since: string }>("ofStaff", [
        staff.namespace,
        staff.id,
      ]);
      if (row === undefined) return undefined;
      const { memberGlobalId, since } = row;
      return { customer: { namespace: row.namespace, id: row.id }, memberGlobalId, since };
    },
    leftProfiles(customer) {
      const links = accounts(customer);
      const left = new Map<string, ClearProfile>();
      if (links.size === 0) return left;
      const privateValues = ledger.private.ofCustomer(customer);
      for (const row of ledger.desired.of(customer)) {
        if (row.stream !== "staff" || row.state !== "current") continue;
        const { key, body } = desired<DesiredStaff>(row);
        const link = links.get(formatKey(key));
        if (link !== undefined) left.set(link.memberGlobalId, leftProfile(privateValues, body, link.profile));
      }
      return left;
    },
  };
}

function changedAccounts({ customer, staff }: Gathered, { differences }: LedgerRows): ReadonlySet<string> {
  const found = differences.of(customer).filter((one) => one.level === "staff" && one.class === "different");
  const subjects = new Set(found.map(({ subject }) => subject));
  return new Set(staff.flatMap(({ key }) => (subjects.has(subjectOf({ staff: key })) ? [formatKey(key)] : [])));
}

/** If the CRM changed an account name, M2 needs the earlier one. Adds that to the private values. */
function withLogins({ known, staff, privateValues }: Gathered, ledger: LedgerRows): Partial<LoadedCustomer> {
  const changed = new Map<string, StaffLink>();
  const clear = new Map(privateValues);
  for (const { key, body } of staff) {
    const name = formatKey(key);
    const link = known.staffLinks.get(name);
    if (link === undefined || link.profile.userName === body.userName.commitment) continue;
    const login = ledger.desired.accountName(key, link.profile.userName);
    if (login === undefined) continue;
    const text = ledger.private.clearText(login);
    if (text !== undefined) clear.set(markerKey(login), text);
    changed.set(name, { ...link, login });
  }
  if (changed.size === 0) return {};
  return { known: { ...known, staffLinks: new Map([...known.staffLinks, ...changed]) }, privateValues: clear };
}
