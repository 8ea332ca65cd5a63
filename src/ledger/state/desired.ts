import type { JsonObject } from "../../base/canonical-json.ts";
import { formatKey } from "../../crm/keys.ts";
import type { RecordKey, Stream } from "../../crm/model.ts";
import type { Desired, DesiredOrder, DesiredStaff } from "../../engine/model/desired.ts";
import type { PrivateMarker } from "../../engine/model/references.ts";
import type { CustomerInput } from "../../engine/plan/input.ts";
import type { Sqlite } from "../database/database.ts";
import { prepared, sql } from "../database/statements.ts";
import { stored } from "../database/damage.ts";
import { withMarkers } from "../private/private.ts";
import type { Row } from "../tables.ts";

type DesiredRow = Row<"record", "stream" | "namespace" | "id" | "version" | "body_hash"> &
  Row<"record", "state" | "pending" | "flips" | "missed"> &
  Row<"record_version", "body" | "from_at">;

type InQuarantine = Pick<CustomerInput, "customerInQuarantine" | "quarantinedInScope" | "sourceWithStrayRecord">;

export const nothingInQuarantine: InQuarantine = {
  customerInQuarantine: false,
  quarantinedInScope: 0,
  sourceWithStrayRecord: undefined,
};

export class DesiredRows {
  readonly #statements;

  constructor(database: Sqlite) {
    this.#statements = prepared(database, texts);
  }

  /** Records by stream and key. Without placed orders that are unchanged. */
  of({ namespace, id }: RecordKey): DesiredRow[] {
    return this.#statements.desired.all(namespace, id);
  }

  /** Orders not in `of` that take over a unit of an earlier order, by key. */
  takers({ namespace, id }: RecordKey): DesiredRow[] {
    return this.#statements.takers.all(namespace, id);
  }

  order({ namespace, id }: RecordKey): (DesiredRow & Row<"record", "customer_namespace" | "customer_id">) | undefined {
    return this.#statements.order.get(namespace, id);
  }

  customer({ namespace, id }: RecordKey): DesiredRow | undefined {
    return this.#statements.customer.get(namespace, id);
  }

  /** Why a customer has no enterprise; undefined if it has one, or has no record. */
  noEnterprise({ namespace, id }: RecordKey): string | undefined {
    return this.#statements.noEnterprise.get({ namespace, id })?.code;
  }

  /** Why nothing may be removed from a person who moved: the new customer is unknown or unusable. */
  unclearMove({ namespace, id }: RecordKey): string | undefined {
    const row = this.#statements.unclearMove.get(namespace, id);
    if (row === undefined || row.state === "quarantined") return row && "its record is in quarantine";
    return `the CRM has no usable record of ${formatKey({ namespace: row.customer_namespace, id: row.customer_id })}`;
  }

  /** The customer that an order was placed for, or else its customer in the CRM. */
  customerOf({ namespace, id }: RecordKey): RecordKey | undefined {
    return this.#statements.customerOf.get({ namespace, id });
  }

  /** An order in an earlier version. Undefined if that version is no longer kept. */
  orderVersion({ namespace, id }: RecordKey, version: number): DesiredOrder | undefined {
    const row = this.#statements.orderVersion.get(namespace, id, version);
    return row === undefined ? undefined : marked<DesiredOrder>("orders", { namespace, id }, { version, ...row });
  }

  forms<Body>(stream: Stream, { namespace, id }: RecordKey): Body[] {
    return this.#statements.forms.all(stream, namespace, id).map((row) => marked<Body>(stream, { namespace, id }, row));
  }

  /** The marker of an account name, from the newest form that had this name. */
  accountName({ namespace, id }: RecordKey, commitment: string): PrivateMarker | undefined {
    const row = this.#statements.accountName.get(namespace, id, commitment);
    return row === undefined ? undefined : marked<DesiredStaff>("staff", { namespace, id }, row).userName;
  }

  quarantine({ namespace, id }: RecordKey): InQuarantine {
    const run = this.#statements;
    return {
      customerInQuarantine: run.customerInQuarantine.get(namespace, id) !== undefined,
      quarantinedInScope: run.quarantined.get({ namespace, id })?.count ?? 0,
      sourceWithStrayRecord: run.stray.get({ namespace, id }),
    };
  }
}

export function desired<Body>(row: DesiredRow): Desired<Body> {
  return {
    key: { namespace: row.namespace, id: row.id },
    version: row.version,
    since: row.from_at,
    bodyHash: row.body_hash,
    state: row.state,
    pending: row.pending === 1,
    ...(row.missed > 0 && row.state !== "absent" ? { missing: true } : {}),
    ...(row.flips === 0 ? {} : { flips: row.flips }),
    body: marked<Body>(row.stream, row, row),
  };
}

// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the caller knows the shape of a stream's records
function marked<Body>(
  stream: Stream,
  key: RecordKey,
  { version, body }: Row<"record_version", "version" | "body">,
): Body {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as above
  return withMarkers(stream, key, version, stored<JsonObject>(body)) as Body;
}

/** A source that was removed from the configuration blocks nothing. Before the first run every source counts. */
const configured = `(not exists (select 1 from source_stream)
  or exists (select 1 from source_stream s where s.source = q.source and s.stream = q.stream))`;

const columns = `r.stream, r.namespace, r.id, r.version, r.body_hash, r.state, r.pending, r.flips, r.missed, v.body,
  v.from_at`;
const withForm = `record r
  join record_version v on v.stream = r.stream and v.namespace = r.namespace and v.id = r.id
    and v.version = r.version`;
const record = `select ${columns} from ${withForm}
  where r.customer_namespace = +? and r.customer_id = +?`;

const takersOfCustomer = `${record} and +r.stream = 'orders' and r.pending = 0 and r.state = 'current'
  and exists (select 1 from json_each(v.body, '$.instances') i
    where json_extract(i.value, '$.transferredFrom') is not null or json_extract(i.value, '$.continues') is not null)
  order by r.namespace, r.id`;

const texts = {
  desired: sql<[string, string], DesiredRow>`
    ${record} and (r.stream <> 'orders' or r.pending = 1) order by r.stream, r.namespace, r.id`,
  takers: sql<[string, string], DesiredRow>`${takersOfCustomer}`,
  order: sql<[string, string], DesiredRow & Row<"record", "customer_namespace" | "customer_id">>`
    select ${columns}, r.customer_namespace, r.customer_id from ${withForm}
      where r.stream = 'orders' and r.namespace = +? and r.id = +?`,
  customer: sql<[string, string], DesiredRow>`
    select ${columns} from ${withForm} where r.stream = 'customers' and r.namespace = +? and r.id = +?`,
  noEnterprise: sql<[RecordKey], { code: string }>`select 'enterprise.unlinked' as code from unlinked
      where namespace = +@namespace and customer_id = +@id and ended_at is null
    union all
    select coalesce(deferred_code, 'not looked for yet') from record r
      where stream = 'customers' and namespace = +@namespace and id = +@id
      and not exists (select 1 from link l where l.namespace = r.namespace and l.customer_id = r.id
        and l.to_at is null)
    limit 1`,
  unclearMove: sql<[string, string], Row<"record", "state" | "customer_namespace" | "customer_id">>`
    select state, customer_namespace, customer_id from record r
      where stream = 'staff' and namespace = +? and id = +? and state <> 'absent' and (state = 'quarantined'
        or not exists (select 1 from record c where c.stream = 'customers' and c.namespace = r.customer_namespace
          and c.id = r.customer_id and c.state = 'current'))`,
  orderVersion: sql<[string, string, number], Row<"record_version", "body">>`
    select body from record_version where stream = 'orders' and namespace = +? and id = +?
      and version = +?`,
  customerOf: sql<[RecordKey], RecordKey>`select customer_namespace as namespace, customer_id as id from placed_order
      where namespace = +@namespace and order_id = +@id and to_at is null
    union all
    select customer_namespace, customer_id from record
      where stream = 'orders' and namespace = +@namespace and id = +@id limit 1`,
  forms: sql<[string, string, string], Row<"record_version", "version" | "body">>`
    select version, body from record_version where stream = +? and namespace = +? and id = +? order by version desc`,
  accountName: sql<[string, string, string], Row<"record_version", "version" | "body">>`
    select version, body from record_version where stream = 'staff' and namespace = +? and id = +?
      and json_extract(body, '$.userName.commitment') = ? order by version desc limit 1`,
  customerInQuarantine: sql<[string, string], Row<"quarantine", "id">>`
    select id from quarantine where stream = 'customers' and namespace = +? and record_id = +?
      and state <> 'resolved' limit 1`,
  // Rows of this customer, and rows of records that belonged to it in their last good form.
  quarantined: sql<[{ namespace: string; id: string }], { count: number }>`select count(*) as count from (
    select q.id from quarantine q where q.customer_namespace = +@namespace and q.customer_id = +@id
      and q.state <> 'resolved'
      and ${configured}
    union
    select q.id from record r join quarantine q on q.stream = r.stream and q.namespace = r.namespace
      and q.record_id = r.id
    where r.customer_namespace = +@namespace and r.customer_id = +@id and r.state = 'quarantined'
      and q.state <> 'resolved'
      and ${configured})`,
  // A source of this customer's staff, or of people with assets here, with a quarantined row of unknown customer.
  stray: sql<[{ namespace: string; id: string }], { source: string; row: string }>`select own.source, q.id as row from (
      select source from record where customer_namespace = +@namespace and customer_id = +@id and +stream = 'staff'
      union
      select r.source from assignment a join record r on r.stream = 'staff' and r.namespace = a.namespace
        and r.id = a.staff_id
      where a.customer_namespace = +@namespace and a.customer_id = +@id and a.to_at is null) own
    join quarantine q on q.source = own.source and q.stream = 'staff' and q.customer_id is null
      and q.state <> 'resolved' and ${configured}
    limit 1`,
};
