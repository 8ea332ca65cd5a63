import type { RecordKey } from "../../../crm/model.ts";
import type { Sqlite } from "../../../ledger/database/database.ts";
import { sqlOf } from "../../../ledger/database/statements.ts";
import { linkColumns, linkedCustomer, type LinkedCustomer, type LinkRow, type OwnerRow } from "./link.ts";

declare module "../../../engine/model/resource.ts" {
  interface ResourceTables {
    confirmed_correlation: ConfirmedCorrelationTable;
  }
}

export interface ConfirmedCorrelationTable {
  correlation: string;
  confirmed_at: string;
}

export interface ReadAt {
  customer: RecordKey;
  seenAt: string;
}

/** `behind`: linked all the time and not read completely since then. */
export interface ReadSince {
  linked: number;
  read: number;
  behind: number;
  oldest: string | null;
}

export interface EnterpriseSize {
  assets: number;
  members: number;
}

/** Also keeps channel number templates under which E3 has shown an enterprise made by E2 (A8). */
export class ReadingRows {
  readonly #sql;

  constructor(database: Sqlite) {
    this.#sql = sqlOf(database, texts);
  }

  /** Linked customers without a reading, in key order after `after`. */
  neverRead(after: RecordKey | undefined, limit: number): LinkedCustomer[] {
    return this.#sql
      .rows<OwnerRow & LinkRow>("neverRead", [after?.namespace ?? "", after?.id ?? "", limit])
      .map(linkedCustomer);
  }

  /** Customers with a reading before `until`, oldest first, after `after`. */
  oldestRead(after: ReadAt | undefined, until: string, limit: number): (LinkedCustomer & ReadAt)[] {
    const { customer = { namespace: "", id: "" }, seenAt = "" } = after ?? {};
    return this.#sql
      .rows<OwnerRow & LinkRow & { seen_at: string }>("oldestRead", { seenAt, ...customer, until, limit })
      .map((row) => ({ ...linkedCustomer(row), seenAt: row.seen_at }));
  }

  newest(): string | undefined {
    return this.#sql.row<{ seenAt: string | null }>("newest")?.seenAt ?? undefined;
  }

  since(since: string): ReadSince {
    return this.#sql.row<ReadSince>("since", { since }) ?? { linked: 0, read: 0, behind: 0, oldest: null };
  }

  /** As last shown. Without a reading: the numbers of its orders and its people. */
  size({ namespace, id }: RecordKey): EnterpriseSize {
    return this.#sql.row<EnterpriseSize>("size", { namespace, id }) ?? { assets: 0, members: 0 };
  }

  isConfirmed(correlation: string): boolean {
    return this.#sql.value("confirmed", [correlation]) !== undefined;
  }

  confirm(correlation: string, at: string): void {
    this.#sql.change("confirm", [correlation, at]);
  }
}

const of = "customer_namespace = +@namespace and customer_id = +@id";

/** Readings of an earlier enterprise do not count. */
const ofTheLink = `join link l on l.namespace = r.customer_namespace and l.customer_id = r.customer_id
  and l.to_at is null and r.seen_at >= l.from_at`;

/** E2 makes an administrator and a first member. */
const membersOfE2 = 2;

const texts = {
  neverRead: `select namespace, customer_id, ${linkColumns} from link
    where to_at is null and (namespace, customer_id) > (?, ?) and not exists (select 1 from observation_read r
      where r.customer_namespace = link.namespace and r.customer_id = link.customer_id)
    order by namespace, customer_id limit ?`,
  oldestRead: `select l.namespace, l.customer_id, ${linkColumns}, r.seen_at
    from observation_read r indexed by observation_read_by_time
    join link l on l.namespace = r.customer_namespace and l.customer_id = r.customer_id and l.to_at is null
    where r.seen_at < @until and r.seen_at >= @seenAt
      and (r.seen_at, r.customer_namespace, r.customer_id) > (@seenAt, @namespace, @id)
    order by r.seen_at, r.customer_namespace, r.customer_id limit @limit`,
  newest: "select max(seen_at) as seenAt from observation_read",
  since: `select coalesce((select count from tally where name = 'link'), 0) as linked,
    (select count(*) from observation_read r indexed by observation_read_by_time ${ofTheLink}
      where r.seen_at >= @since and r.complete = 1) as read,
    (select count(*) from link l indexed by link_by_channel where l.to_at is null and l.from_at < @since
      and not exists (select 1 from observation_read r where r.customer_namespace = l.namespace
        and r.customer_id = l.customer_id and r.complete = 1 and r.seen_at >= @since)) as behind,
    (select r.seen_at from observation_read r indexed by observation_read_by_time ${ofTheLink}
      order by r.seen_at limit 1) as oldest`,
  size: `select iif(is_read, (select count(*) from observation where ${of} and kind = 'asset' and to_at is null),
        (select count(*) from placed_order p join asset_number n on n.namespace = p.namespace
          and n.order_id = p.order_id and n.fixed_at is not null
          where p.customer_namespace = +@namespace and p.customer_id = +@id and p.to_at is null)) as assets,
      iif(is_read, (select count(*) from observation where ${of} and kind = 'member' and to_at is null),
        ${membersOfE2} + (select count(*) from staff_link where ${of} and to_at is null)) as members
    from (select exists (select 1 from observation_read where ${of}) as is_read)`,
  confirmed: "select 1 from confirmed_correlation where correlation = +?",
  confirm: "insert into confirmed_correlation (correlation, confirmed_at) values (?, ?) on conflict do nothing",
};
