import { sql, type RawBuilder } from "kysely";
import { formatKey, parseKey } from "../../crm/keys.ts";
import type { Row, StatementRequest } from "../../report/statement/shape.ts";
import type { ReadOnlyLedger } from "../read-only-ledger.ts";
import type { CustomersThen } from "./filters.ts";
import type { proofs } from "./proof.ts";

interface AssignmentRow {
  at: string;
  event: "granted" | "grant-adopted" | "revoked" | "found-gone";
  assetNumber: string;
  staffNamespace: string;
  staffId: string;
  memberGlobalId: string;
  customerNamespace: string;
  customerId: string;
  operationId: string | null;
  source: string | null;
  orderNamespace: string | null;
  orderId: string | null;
  channelOrderId: string | null;
  beganAt: string;
}

export function* licenceRows(
  ledger: ReadOnlyLedger,
  { period, filters }: StatementRequest,
  {
    dates,
    customers,
    proofOf,
  }: { dates: (instant: string) => string | null; customers: CustomersThen; proofOf: ReturnType<typeof proofs> },
): Generator<Row, void, void> {
  const begun = sql`iif(a.origin = 'granted', 'granted', 'grant-adopted')`;
  const ended = sql`iif(a.ended_by is null, 'found-gone', 'revoked')`;
  const query = sql<AssignmentRow>`
    ${assignments({ at: sql`a.from_at`, event: begun, operation: sql`a.operation_id` }, { period, filters })}
    union all ${assignments({ at: sql`a.to_at`, event: ended, operation: sql`a.ended_by` }, { period, filters })}
    order by 1, 3, 2`;
  for (const row of ledger.rows(query)) {
    const customer = { namespace: row.customerNamespace, id: row.customerId };
    const branch = customers.branchAt(customer, row.at);
    if (filters.branch !== undefined && branch !== filters.branch) continue;
    const { run, auditSequence } = proofOf({ ...row, customer });
    yield {
      event: row.event,
      date: dates(row.at),
      at: row.at,
      customer: formatKey(customer),
      branch,
      source: row.source,
      staff: formatKey({ namespace: row.staffNamespace, id: row.staffId }),
      member_global_id: row.memberGlobalId,
      asset_number: row.assetNumber,
      enterprise_global_id: customers.enterpriseAt(customer, row.beganAt),
      crm_order:
        row.orderNamespace === null || row.orderId === null
          ? null
          : formatKey({ namespace: row.orderNamespace, id: row.orderId }),
      channel_order_id: row.channelOrderId,
      operation: row.operationId,
      run,
      audit_sequence: auditSequence,
    };
  }
}

/** The unit of the number when the seat began: `e` before it went to another unit, otherwise `n`. */
function of(column: "namespace" | "order_id" | "instance_id"): RawBuilder<unknown> {
  return sql`iif(e.wire_number is null, ${sql.ref(`n.${column}`)}, ${sql.ref(`e.${column}`)})`;
}

function assignments(
  { at, event, operation }: Record<"at" | "event" | "operation", RawBuilder<unknown>>,
  { period: { from, to }, filters: { source, customer, product } }: Pick<StatementRequest, "period" | "filters">,
): RawBuilder<unknown> {
  const key = customer === undefined ? undefined : parseKey(customer);
  return sql`select ${at} as at, ${event} as event, a.asset_number as assetNumber, a.namespace as staffNamespace,
      a.staff_id as staffId, a.member_global_id as memberGlobalId, a.customer_namespace as customerNamespace,
      a.customer_id as customerId, ${operation} as operationId, r.source as source,
      ${of("namespace")} as orderNamespace, ${of("order_id")} as orderId,
      p.channel_order_id as channelOrderId, a.from_at as beganAt
    from assignment a
    left join record r on r.stream = 'staff' and r.namespace = a.namespace and r.id = a.staff_id
    left join asset_number n on n.wire_number = a.asset_number and n.fixed_at is not null
    left join earlier_number e on e.wire_number = a.asset_number and e.left_at = (select min(l.left_at)
      from earlier_number l where l.wire_number = a.asset_number and l.left_at > a.from_at)
    left join placed_order p on p.namespace = ${of("namespace")} and p.order_id = ${of("order_id")} and p.to_at is null
    where ${at} >= ${from} and ${at} < ${to}
      and ${source === undefined ? sql`1` : sql`r.source = ${source}`}
      and ${key === undefined ? sql`1` : sql`a.customer_namespace = ${key.namespace} and a.customer_id = ${key.id}`}
      and ${product === undefined ? sql`1` : holds(product)}`;
}

function holds(product: string): RawBuilder<unknown> {
  return sql`exists (
    select 1 from record_version v, json_each(v.body, '$.instances') x
    where v.stream = 'orders' and v.namespace = p.namespace and v.id = p.order_id
      and (v.version = p.version or v.version in (select s.version from order_step s
        where s.namespace = p.namespace and s.order_id = p.order_id and s.kind = 'bought'
          and s.forgotten_at is null))
      and x.value ->> 'kind' = 'product' and ${product} in (x.value ->> 'gmsPid', x.value ->> 'appKey')
      and ${of("instance_id")} in (
        with recursive above (id) as (
          select x.value ->> 'parentId'
          union
          select u.value ->> 'parentId' from above, json_each(v.body, '$.instances') u
          where u.value ->> 'id' = above.id)
        select id from above))`;
}
