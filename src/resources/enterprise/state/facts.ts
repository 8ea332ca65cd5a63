import type { Writes } from "../../../engine/model/resource.ts";
import type { RecordKey } from "../../../crm/model.ts";
import { oneByOne, compareBytes, isSameKey } from "../../../engine/model/state-part.ts";
import type { EnterpriseFacts, LinkedEnterprise } from "../../../engine/model/state-part.ts";
import type { Sqlite } from "../../../ledger/database/database.ts";
import { sqlOf, table } from "../../../ledger/database/statements.ts";
import type { PlatformCustomer } from "../../../platform/snapshot.ts";
import type { DesiredCustomer } from "../../../engine/model/desired.ts";
import { stored } from "../../../ledger/database/damage.ts";

type FactChanges = { [One in PlatformCustomersChange | EnterpriseCodeChange | MembersProtected as One["type"]]: One };
declare module "../../../engine/model/resource.ts" {
  interface ChangeShapes extends FactChanges {}
  interface ResourceTables {
    platform_customer: PlatformCustomerTable;
    enterprise_code: EnterpriseCodeTable;
    protected_member: ProtectedMemberTable;
  }
}
declare module "../../../engine/model/state.ts" {
  interface Known extends KnownFacts {}
}

/** What is known of the enterprise of a customer. */
export interface KnownFacts {
  platformCustomers: PlatformCustomer[];
  /** What the platform appends to the user names of an enterprise, once it was learned (A29). */
  enterpriseCode: string | undefined;
  protectedMembers: ReadonlySet<string>;
}

export interface PlatformCustomersChange {
  type: "platform-customers";
  enterpriseGlobalId: string;
  customers: PlatformCustomer[];
}

export interface EnterpriseCodeChange {
  type: "enterprise-code";
  enterpriseGlobalId: string;
  code: string;
}

export interface MembersProtected {
  type: "members-protected";
  enterpriseGlobalId: string;
  memberGlobalIds: string[];
  reason: string;
}

type Part = LinkedEnterprise & KnownFacts;

const platformCustomers = oneByOne<Part, PlatformCustomersChange>((known, { enterpriseGlobalId, customers }) => {
  if (known.link?.enterpriseGlobalId !== enterpriseGlobalId) return known;
  return { ...known, platformCustomers: merged(known.platformCustomers, customers) };
});

function merged(before: readonly PlatformCustomer[], shown: readonly PlatformCustomer[]): PlatformCustomer[] {
  const all = new Map([...before, ...shown].map((item) => [item.customerId, item]));
  return [...all.values()].toSorted((one, other) => compareBytes(one.customerId, other.customerId));
}

const enterpriseCode = oneByOne<Part, EnterpriseCodeChange>((known, { enterpriseGlobalId, code }) => {
  if (known.link?.enterpriseGlobalId !== enterpriseGlobalId) return known;
  return { ...known, enterpriseCode: known.enterpriseCode ?? code };
});

const protectedMembers = oneByOne<Part, MembersProtected>((known, { enterpriseGlobalId, memberGlobalIds }) => {
  if (known.link?.enterpriseGlobalId !== enterpriseGlobalId) return known;
  return { ...known, protectedMembers: new Set([...known.protectedMembers, ...memberGlobalIds]) };
});

export const factParts = {
  "platform-customers": platformCustomers,
  "enterprise-code": enterpriseCode,
  "members-protected": protectedMembers,
};

export interface PlatformCustomerTable {
  enterprise_global_id: string;
  customer_id: string;
  is_default: number;
  channel_code: string;
  channel_customer_id: string;
  seen_at: string;
}

export interface EnterpriseCodeTable {
  enterprise_global_id: string;
  code: string;
  recorded_at: string;
}

export interface ProtectedMemberTable {
  member_global_id: string;
  enterprise_global_id: string;
  reason: string;
  seen_at: string;
}

export const factTables = {
  platform_customer: table<PlatformCustomerTable>(),
  enterprise_code: table<EnterpriseCodeTable>(),
  protected_member: table<ProtectedMemberTable>(),
};

const texts = {
  customers: `select customer_id, is_default, channel_code, channel_customer_id from platform_customer
    where enterprise_global_id = +?
    order by customer_id`,
  keepCustomers: `insert into platform_customer (enterprise_global_id, customer_id, is_default, channel_code,
      channel_customer_id, seen_at)
    select ?, value ->> 'customerId', value ->> 'isDefault', value ->> 'channelCode', value ->> 'channelCustomerId', ?
    from json_each(?) where true on conflict (enterprise_global_id, customer_id) do update
      set is_default = excluded.is_default,
      channel_code = excluded.channel_code, channel_customer_id = excluded.channel_customer_id,
      seen_at = excluded.seen_at`,
  code: "select code from enterprise_code where enterprise_global_id = +?",
  keepCode: `insert into enterprise_code (enterprise_global_id, code, recorded_at) values (?, ?, ?) on conflict do nothing`,
  // Of every enterprise that the customer was ever linked with, also under an id that could not be used.
  membersOfCustomer: `select p.member_global_id from link l
    join protected_member p on p.enterprise_global_id = l.enterprise_global_id
    where l.namespace = +? and l.customer_id = +?`,
  members: "select member_global_id from protected_member where enterprise_global_id = +?",
  protect: `insert into protected_member (enterprise_global_id, reason, seen_at, member_global_id)
    select ?, ?, ?, value from json_each(?) where true on conflict do nothing`,
};

/** The customers of each enterprise as E3 showed them, its code, and its members that are never taken away from it. */
export class FactRows {
  readonly #sql;

  constructor(database: Sqlite) {
    this.#sql = sqlOf(database, texts);
  }

  known(enterprise: string): Omit<KnownFacts, "protectedMembers"> {
    const customers = this.#sql
      .rows<Pick<PlatformCustomerTable, "customer_id" | "is_default" | "channel_code" | "channel_customer_id">>(
        "customers",
        [enterprise],
      )
      .map((row) => ({
        customerId: row.customer_id,
        isDefault: row.is_default === 1,
        channelCode: row.channel_code,
        channelCustomerId: row.channel_customer_id,
      }));
    return {
      platformCustomers: customers,
      enterpriseCode: this.#sql.row<Pick<EnterpriseCodeTable, "code">>("code", [enterprise])?.code,
    };
  }

  /** Of every enterprise that a customer was ever linked with. */
  protectedOf({ namespace, id }: RecordKey): Pick<KnownFacts, "protectedMembers"> {
    const rows = this.#sql.rows<Pick<ProtectedMemberTable, "member_global_id">>("membersOfCustomer", [namespace, id]);
    return { protectedMembers: new Set(rows.map((row) => row.member_global_id)) };
  }

  of(enterprise: string): EnterpriseFacts {
    const members = this.#sql
      .rows<Pick<ProtectedMemberTable, "member_global_id">>("members", [enterprise])
      .map((row) => row.member_global_id);
    return { ...this.known(enterprise), protectedMembers: members };
  }

  readonly writes = {
    "platform-customers": ({ enterpriseGlobalId, customers }, at) => {
      this.#sql.change("keepCustomers", [enterpriseGlobalId, at, JSON.stringify(customers)]);
    },
    "enterprise-code": ({ enterpriseGlobalId, code }, at) => {
      this.#sql.change("keepCode", [enterpriseGlobalId, code, at]);
    },
    "members-protected": ({ enterpriseGlobalId, memberGlobalIds, reason }, at) => {
      this.#sql.change("protect", [enterpriseGlobalId, reason, at, JSON.stringify(memberGlobalIds)]);
    },
  } satisfies Writes;
}

type AcknowledgedChanges = { [One in AcknowledgedChange as One["type"]]: One };
declare module "../../../engine/model/resource.ts" {
  interface ChangeShapes extends AcknowledgedChanges {}
  interface ResourceTables {
    acknowledged: AcknowledgedTable;
  }
}
declare module "../../../engine/model/state.ts" {
  interface Known extends KnownAcknowledged {}
}

export interface KnownAcknowledged {
  /** Commitments of the fields that the platform acknowledged last by E2 or E4. */
  acknowledged: { name: string; branchName: string; address: string | null } | undefined;
}

export type AcknowledgedFields = NonNullable<KnownAcknowledged["acknowledged"]>;

/** The fields that E2 and E4 carry, as commitments: what is compared with what the platform acknowledged last. */
export function acknowledgedFields({ name, branchName, address }: DesiredCustomer): AcknowledgedFields {
  return { name: name.commitment, branchName, address: address?.commitment ?? null };
}

/** `acknowledged-ended`: it was of another enterprise than the one that is linked now. */
export type AcknowledgedChange =
  | { type: "acknowledged"; customer: RecordKey; fields: AcknowledgedFields }
  | { type: "acknowledged-ended"; customer: RecordKey };

const acknowledged = oneByOne<KnownAcknowledged, AcknowledgedChange>((known, change, { customer }) => {
  if (!isSameKey(change.customer, customer)) return known;
  return { ...known, acknowledged: change.type === "acknowledged" ? change.fields : undefined };
});

export const acknowledgedParts = { acknowledged, "acknowledged-ended": acknowledged };

export interface AcknowledgedTable {
  namespace: string;
  customer_id: string;
  from_at: string;
  to_at: string | null;
  fields: string;
}

export const acknowledgedTables = { acknowledged: table<AcknowledgedTable>() };

/** What the platform acknowledged of each enterprise. */
export class AcknowledgedRows {
  readonly #sql;

  constructor(database: Sqlite) {
    this.#sql = sqlOf(database, ofAcknowledged);
  }

  known({ namespace, id }: RecordKey): KnownAcknowledged {
    const row = this.#sql.row<Pick<AcknowledgedTable, "fields">>("of", [namespace, id]);
    return { acknowledged: row === undefined ? undefined : stored<AcknowledgedFields>(row.fields) };
  }

  #end({ namespace, id }: RecordKey, at: string): void {
    this.#sql.change("end", [at, namespace, id, namespace, id]);
  }

  readonly writes = {
    acknowledged: ({ customer, fields }, at) => {
      const { namespace, id } = customer;
      const row = [namespace, id, at, JSON.stringify(fields)];
      if (this.#sql.change("beginFirst", [...row, namespace, id]) === 1) return;
      this.#end(customer, at);
      this.#sql.change("begin", [...row]);
    },
    "acknowledged-ended": ({ customer }, at) => this.#end(customer, at),
  } satisfies Writes;
}

/** Inserts the acknowledged fields if the condition is true, in one statement. */
const acknowledgedWhere = (condition: string): string =>
  `insert into acknowledged (namespace, customer_id, from_at, fields) select ?, ?, ?, ? where ${condition}
   on conflict (namespace, customer_id, from_at) do update set to_at = null, fields = excluded.fields`;

const ofAcknowledged = {
  of: `select fields from acknowledged where namespace = +? and customer_id = +? and to_at is null
    order by from_at desc limit 1`,
  end: `update acknowledged set to_at = ? where namespace = +? and customer_id = +? and from_at = (
    select from_at from acknowledged where namespace = +? and customer_id = +? and to_at is null
    order by from_at desc limit 1)`,
  begin: acknowledgedWhere("true"),
  beginFirst: acknowledgedWhere(
    "not exists (select 1 from acknowledged where namespace = +? and customer_id = +? and to_at is null)",
  ),
};
