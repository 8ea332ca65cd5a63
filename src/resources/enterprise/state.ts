import { toJson } from "../../base/canonical-json.ts";
import type { StateRows, StateStore, Writes } from "../../engine/model/resource.ts";
import {
  type Known,
  type EnterpriseFacts,
  type LinkedEnterprise,
  oneByOne,
  compareBytes,
  isSameKey,
} from "../../engine/model/state.ts";
import type { Sqlite } from "../../ledger/database/database.ts";
import { ReadingRows } from "./state/readings.ts";
import { LinkRows, linkParts } from "./state/link.ts";
import type { RecordKey } from "../../crm/model.ts";
import { sqlOf } from "../../ledger/database/statements.ts";
import type { PlatformCustomer } from "../../platform/snapshot.ts";
import type { DesiredCustomer } from "../../engine/model/desired.ts";
import { stored } from "../../ledger/database/damage.ts";

type FactChange = PlatformCustomersChange | EnterpriseCodeChange | MembersProtected | AcknowledgedChange;
type FactChanges = { [One in FactChange as One["type"]]: One };
declare module "../../engine/model/resource.ts" {
  interface ChangeShapes extends FactChanges {}
  interface ResourceRows {
    enterprise: EnterpriseRows;
  }
  interface ResourceTables {
    platform_customer: PlatformCustomerTable;
    enterprise_code: EnterpriseCodeTable;
    protected_member: ProtectedMemberTable;
    acknowledged: AcknowledgedTable;
  }
}
declare module "../../engine/model/state.ts" {
  interface Known extends KnownFacts, KnownAcknowledged {}
}

export interface KnownFacts {
  platformCustomers: PlatformCustomer[];
  /** The ending that the platform appends to user names (A29); undefined until learned. */
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

export interface KnownAcknowledged {
  /** Commitments of the fields that the platform last acknowledged, by E2 or E4. */
  acknowledged: { name: string; branchName: string; address: string | null } | undefined;
}

export type AcknowledgedFields = NonNullable<KnownAcknowledged["acknowledged"]>;

export function acknowledgedFields({ name, branchName, address }: DesiredCustomer): AcknowledgedFields {
  return { name: name.commitment, branchName, address: address?.commitment ?? null };
}

/** `acknowledged-ended`: the fields belong to an enterprise that is no longer linked. */
export type AcknowledgedChange =
  | { type: "acknowledged"; customer: RecordKey; fields: AcknowledgedFields }
  | { type: "acknowledged-ended"; customer: RecordKey };

const acknowledged = oneByOne<KnownAcknowledged, AcknowledgedChange>((known, change, { customer }) => {
  if (!isSameKey(change.customer, customer)) return known;
  return { ...known, acknowledged: change.type === "acknowledged" ? change.fields : undefined };
});

export interface AcknowledgedTable {
  namespace: string;
  customer_id: string;
  from_at: string;
  to_at: string | null;
  fields: string;
}

const acknowledgedWhere = (condition: string): string =>
  `insert into acknowledged (namespace, customer_id, from_at, fields) select ?, ?, ?, ? where ${condition}
   on conflict (namespace, customer_id, from_at) do update set to_at = null, fields = excluded.fields`;

const texts = {
  customers: `select customer_id as customerId, is_default as isDefault, channel_code as channelCode,
      channel_customer_id as channelCustomerId
    from platform_customer where enterprise_global_id = +? order by customer_id`,
  keepCustomers: `insert into platform_customer (enterprise_global_id, customer_id, is_default, channel_code,
      channel_customer_id, seen_at)
    select ?, value ->> 'customerId', value ->> 'isDefault', value ->> 'channelCode', value ->> 'channelCustomerId', ?
    from json_each(?) where true on conflict (enterprise_global_id, customer_id) do update
      set is_default = excluded.is_default,
      channel_code = excluded.channel_code, channel_customer_id = excluded.channel_customer_id,
      seen_at = excluded.seen_at`,
  code: "select code from enterprise_code where enterprise_global_id = +?",
  keepCode: `insert into enterprise_code (enterprise_global_id, code, recorded_at) values (?, ?, ?) on conflict do nothing`,
  // Includes earlier enterprises of the customer, even under an unusable id.
  membersOfCustomer: `select p.member_global_id as member from link l
    join protected_member p on p.enterprise_global_id = l.enterprise_global_id
    where l.namespace = +? and l.customer_id = +?`,
  members: "select member_global_id as member from protected_member where enterprise_global_id = +?",
  protect: `insert into protected_member (enterprise_global_id, reason, seen_at, member_global_id)
    select ?, ?, ?, value from json_each(?) where true on conflict do nothing`,
  acknowledged: `select fields from acknowledged where namespace = +? and customer_id = +? and to_at is null
    order by from_at desc limit 1`,
  // The newest row, unless the clock was set back.
  endAcknowledged: `update acknowledged set to_at = ? where namespace = +? and customer_id = +? and from_at = (
    select from_at from acknowledged where namespace = +? and customer_id = +? and to_at is null
    order by from_at desc limit 1)`,
  beginAcknowledged: acknowledgedWhere("true"),
  beginFirst: acknowledgedWhere(
    "not exists (select 1 from acknowledged where namespace = +? and customer_id = +? and to_at is null)",
  ),
};

class FactRows {
  readonly #sql;

  constructor(database: Sqlite) {
    this.#sql = sqlOf(database, texts);
  }

  known(enterprise: string): Omit<KnownFacts, "protectedMembers"> {
    const customers = this.#sql.rows<Omit<PlatformCustomer, "isDefault"> & { isDefault: number }>("customers", [
      enterprise,
    ]);
    return {
      platformCustomers: customers.map((customer) => ({ ...customer, isDefault: customer.isDefault === 1 })),
      enterpriseCode: this.#sql.value<string>("code", [enterprise]),
    };
  }

  protectedOf({ namespace, id }: RecordKey): Pick<KnownFacts, "protectedMembers"> {
    const rows = this.#sql.rows<{ member: string }>("membersOfCustomer", [namespace, id]);
    return { protectedMembers: new Set(rows.map(({ member }) => member)) };
  }

  of(enterprise: string): EnterpriseFacts {
    const members = this.#sql.rows<{ member: string }>("members", [enterprise]);
    return { ...this.known(enterprise), protectedMembers: members.map(({ member }) => member) };
  }

  acknowledged({ namespace, id }: RecordKey): KnownAcknowledged {
    const fields = this.#sql.value<string>("acknowledged", [namespace, id]);
    return { acknowledged: fields === undefined ? undefined : stored<AcknowledgedFields>(fields) };
  }

  #end({ namespace, id }: RecordKey, at: string): void {
    this.#sql.change("endAcknowledged", [at, namespace, id, namespace, id]);
  }

  readonly writes = {
    acknowledged: ({ customer, fields }, at) => {
      const row = [customer.namespace, customer.id, at, JSON.stringify(fields)];
      if (this.#sql.change("beginFirst", [...row, customer.namespace, customer.id]) === 1) return;
      this.#end(customer, at);
      this.#sql.change("beginAcknowledged", row);
    },
    "acknowledged-ended": ({ customer }, at) => this.#end(customer, at),
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

const changes = {
  ...linkParts,
  acknowledged,
  "acknowledged-ended": acknowledged,
  "platform-customers": platformCustomers,
  "enterprise-code": enterpriseCode,
  "members-protected": protectedMembers,
};

export interface EnterpriseRows extends StateRows {
  readonly links: LinkRows;
  readonly readings: ReadingRows;
  readonly facts: (enterpriseGlobalId: string) => EnterpriseFacts;
}

const nothing: Pick<
  Known,
  "link" | "unlinked" | "acknowledged" | "platformCustomers" | "enterpriseCode" | "protectedMembers"
> = {
  link: undefined,
  unlinked: undefined,
  acknowledged: undefined,
  platformCustomers: [],
  enterpriseCode: undefined,
  protectedMembers: new Set<string>(),
};

export const state = {
  tables: [
    "link",
    "unlinked",
    "acknowledged",
    "platform_customer",
    "enterprise_code",
    "protected_member",
    "confirmed_correlation",
  ],
  nothing,
  changes,
  facts: {
    enterprise: {
      of: ({ link }) => (link === undefined ? [] : [["", link.enterpriseGlobalId]]),
      moved: () => ["it is linked with another enterprise", "it is linked no more", "it was linked"],
    },
    acknowledged: {
      of: ({ acknowledged }) => (acknowledged === undefined ? [] : [["", toJson(acknowledged)]]),
      moved: () => {
        const other = "the enterprise was changed";
        return [other, other, "the enterprise was made or changed"];
      },
    },
  },
  holds: {
    linked: "exists (select 1 from link where namespace = +@namespace and customer_id = +@id)",
    acknowledged: "exists (select 1 from acknowledged where namespace = +@namespace and customer_id = +@id)",
  },
  open,
} satisfies StateStore<keyof typeof changes, EnterpriseRows>;

/** The only code that writes links and facts of enterprises. */
function open(database: Sqlite): EnterpriseRows {
  const links = new LinkRows(database);
  const facts = new FactRows(database);
  return {
    links,
    readings: new ReadingRows(database),
    load(customer, held) {
      const linked = held["linked"] === 1 ? links.known(customer) : undefined;
      const enterprise = linked?.link?.enterpriseGlobalId;
      return {
        ...linked,
        ...(held["acknowledged"] === 1 && facts.acknowledged(customer)),
        ...(enterprise !== undefined && facts.known(enterprise)),
        ...(linked !== undefined && facts.protectedOf(customer)),
      };
    },
    writes: { ...links.writes, ...facts.writes },
    facts: (enterprise) => facts.of(enterprise),
  };
}
