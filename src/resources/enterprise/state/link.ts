import type { Writes } from "../../../engine/model/resource.ts";
import type { RecordKey } from "../../../crm/model.ts";
import { oneByOne, isSameKey, type ChangeContext } from "../../../engine/model/state.ts";
import type { Sqlite } from "../../../ledger/database/database.ts";
import { sqlOf } from "../../../ledger/database/statements.ts";
import type { KnownFacts } from "../state.ts";

type LinkChanges = { [One in LinkChange as One["type"]]: One };
declare module "../../../engine/model/resource.ts" {
  interface ChangeShapes extends LinkChanges {}
  interface ResourceTables {
    link: LinkTable;
    unlinked: UnlinkedTable;
  }
}
declare module "../../../engine/model/state.ts" {
  interface Known extends KnownLink {}
}

export interface Link {
  enterpriseGlobalId: string;
  channelCode: string;
  channelCustomerId: string;
  origin: "created" | "bound" | "adopted";
  /** Adopted enterprise: its assets were read, so its existing orders are known. */
  examined: boolean;
  since?: string | undefined;
}

export interface KnownLink {
  link: Link | undefined;
  /** A person unlinked the customer: nothing is searched or created until it is linked again. */
  unlinked?: Unlinked | undefined;
}

export interface Unlinked {
  at: string;
  by: string;
  reason: string;
}

export type LinkChange =
  | { type: "linked"; customer: RecordKey; link: Link }
  | { type: "unlinked"; customer: RecordKey; enterpriseGlobalId: string; by: string; reason: string }
  | { type: "examined"; customer: RecordKey };

type KnownWithLink = KnownLink & KnownFacts;

const link = oneByOne<KnownWithLink, LinkChange>((known, change, context) => {
  if (!isSameKey(change.customer, context.customer)) return known;
  if (change.type === "linked") return linkedWith(known, change.link, context);
  if (change.type === "unlinked") return unlinkedFrom(known, { at: context.at, by: change.by, reason: change.reason });
  return known.link === undefined ? known : { ...known, link: { ...known.link, examined: true } };
});

export const linkParts = { linked: link, unlinked: link, examined: link };

/** Facts of another enterprise do not apply, except those that the ledger has of the new one. */
function linkedWith<Whole extends KnownWithLink>(known: Whole, made: Link, { at, enterprise }: ChangeContext): Whole {
  const isNew = known.link?.enterpriseGlobalId !== made.enterpriseGlobalId;
  const facts = isNew ? { platformCustomers: [], enterpriseCode: undefined, ...enterprise } : known;
  return {
    ...known,
    link: { ...made, since: at },
    unlinked: undefined,
    platformCustomers: facts.platformCustomers,
    enterpriseCode: facts.enterpriseCode,
    protectedMembers: new Set([...known.protectedMembers, ...(enterprise?.protectedMembers ?? [])]),
  };
}

/** Protected members stay protected. */
function unlinkedFrom<Whole extends KnownWithLink>(known: Whole, unlinked: Unlinked): Whole {
  if (known.link === undefined && known.unlinked === undefined) return known;
  return { ...known, link: undefined, unlinked, platformCustomers: [], enterpriseCode: undefined };
}

export interface LinkTable {
  namespace: string;
  customer_id: string;
  from_at: string;
  to_at: string | null;
  enterprise_global_id: string;
  channel_code: string;
  channel_customer_id: string;
  origin: Link["origin"];
  examined: number;
}

export interface UnlinkedTable {
  namespace: string;
  customer_id: string;
  at: string;
  by: string;
  reason: string;
  enterprise_global_id: string;
  ended_at: string | null;
}

/** `link` undefined: the link has ended. */
export interface LinkedCustomer {
  customer: RecordKey;
  link: Link | undefined;
}

export class LinkRows {
  readonly #sql;

  constructor(database: Sqlite) {
    this.#sql = sqlOf(database, texts);
  }

  known({ namespace, id }: RecordKey): KnownLink {
    const row = this.#sql.row<LinkRow>("link", [namespace, id]);
    if (row !== undefined) return { link: linkOf(row) };
    return { link: undefined, unlinked: this.#sql.row<Unlinked>("unlinked", [namespace, id]) };
  }

  customerOfEnterprise(enterpriseGlobalId: string): RecordKey | undefined {
    const row = this.#sql.row<OwnerRow>("customerOfEnterprise", [enterpriseGlobalId]);
    return row === undefined ? undefined : { namespace: row.namespace, id: row.customer_id };
  }

  lastOrigin({ namespace, id }: RecordKey, enterpriseGlobalId: string): Link["origin"] | undefined {
    return this.#sql.row<Pick<LinkTable, "origin">>("lastOrigin", [namespace, id, enterpriseGlobalId])?.origin;
  }

  readonly writes = {
    linked: ({ customer: { namespace, id }, link }, at) => {
      const { enterpriseGlobalId, channelCode, channelCustomerId, origin, examined } = link;
      const row = [namespace, id, at, enterpriseGlobalId, channelCode, channelCustomerId, origin, examined ? 1 : 0];
      if (this.#sql.change("beginFirst", [...row, namespace, id, namespace, id]) === 1) return;
      this.#sql.change("end", [at, namespace, id, namespace, id]);
      this.#sql.change("begin", [...row]);
      this.#sql.change("endUnlinked", [at, namespace, id]);
    },
    unlinked: ({ customer: { namespace, id }, enterpriseGlobalId, by, reason }, at) => {
      this.#sql.change("endDifferences", [at, namespace, id]);
      this.#sql.change("end", [at, namespace, id, namespace, id]);
      this.#sql.change("endUnlinked", [at, namespace, id]);
      this.#sql.change("beginUnlinked", [namespace, id, at, by, reason, enterpriseGlobalId]);
    },
    examined: ({ customer: { namespace, id } }) => {
      this.#sql.change("examined", [namespace, id, namespace, id]);
    },
  } satisfies Writes;
}

/** The newest row, unless the clock was set back. */
const live = `select from_at from link where namespace = +? and customer_id = +? and to_at is null
  order by from_at desc limit 1`;

export type LinkRow = Pick<
  LinkTable,
  "enterprise_global_id" | "channel_code" | "channel_customer_id" | "origin" | "examined" | "from_at"
>;
export type OwnerRow = Pick<LinkTable, "namespace" | "customer_id">;

export const linkColumns = "enterprise_global_id, channel_code, channel_customer_id, origin, examined, from_at";

export function linkedCustomer(row: OwnerRow & LinkRow): LinkedCustomer {
  return { customer: { namespace: row.namespace, id: row.customer_id }, link: linkOf(row) };
}

function linkOf(row: LinkRow): Link {
  return {
    enterpriseGlobalId: row.enterprise_global_id,
    channelCode: row.channel_code,
    channelCustomerId: row.channel_customer_id,
    origin: row.origin,
    examined: row.examined === 1,
    since: row.from_at,
  };
}

const linkedWhere = (condition: string): string =>
  `insert into link (namespace, customer_id, from_at, enterprise_global_id, channel_code, channel_customer_id, origin,
     examined)
   select ?, ?, ?, ?, ?, ?, ?, ? where ${condition}
   on conflict (namespace, customer_id, from_at) do update
     set to_at = null, enterprise_global_id = excluded.enterprise_global_id, channel_code = excluded.channel_code,
     channel_customer_id = excluded.channel_customer_id, origin = excluded.origin, examined = excluded.examined`;

const texts = {
  link: `select ${linkColumns} from link where namespace = +? and customer_id = +? and to_at is null
    order by from_at desc limit 1`,
  customerOfEnterprise: "select namespace, customer_id from link where enterprise_global_id = +? and to_at is null",
  endDifferences: "update difference set ended_at = ? where namespace = +? and customer_id = +? and ended_at is null",
  lastOrigin: `select origin from link where namespace = +? and customer_id = +? and enterprise_global_id = +?
    order by from_at desc limit 1`,
  end: `update link set to_at = ? where namespace = +? and customer_id = +? and from_at = (${live})`,
  begin: linkedWhere("true"),
  beginFirst: linkedWhere(`not exists (select 1 from link where namespace = +? and customer_id = +? and to_at is null)
          and not exists (select 1 from unlinked where namespace = +? and customer_id = +? and ended_at is null)`),
  unlinked: "select at, by, reason from unlinked where namespace = +? and customer_id = +? and ended_at is null",
  endUnlinked: "update unlinked set ended_at = ? where namespace = +? and customer_id = +? and ended_at is null",
  beginUnlinked: `insert into unlinked (namespace, customer_id, at, by, reason, enterprise_global_id)
    values (?, ?, ?, ?, ?, ?) on conflict (namespace, customer_id, at) do update
      set ended_at = null, by = excluded.by, reason = excluded.reason,
      enterprise_global_id = excluded.enterprise_global_id`,
  examined: `update link set examined = 1 where namespace = +? and customer_id = +? and from_at = (${live})`,
};
