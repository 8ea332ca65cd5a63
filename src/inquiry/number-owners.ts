import { sql } from "kysely";
import type { RecordKey } from "../crm/model.ts";
import type { ReadOnlyLedger } from "./read-only-ledger.ts";

/** An order of which a unit has an asset number, and the customer whose it is. */
export interface NumberOwner {
  order: RecordKey;
  customer: RecordKey;
}

type OwnerRow = Record<"namespace" | "id" | "customerNamespace" | "customerId", string> & { ended: number };

/**
 * The orders that have an asset number now, the newest first: the one that it is fixed to, and those that renewed it.
 * Where its unit ended in all of them, all of them.
 */
export async function ordersOfNumber({ db }: ReadOnlyLedger, number: string): Promise<NumberOwner[]> {
  const { rows } = await sql<OwnerRow>`
    with held (namespace, id, since) as (
      select n.namespace, n.order_id, 0 from asset_number n where n.wire_number = ${number} and n.fixed_at is not null
      union all
      select s.namespace, s.order_id, s.number from asset_number n
        join order_step s on s.customer_namespace = n.customer_namespace and s.customer_id = n.customer_id
        join json_each(s.items) i on i.value ->> 'number' = n.wire_number and i.value ->> 'continues' is not null
        where n.wire_number = ${number} and n.fixed_at is not null and s.kind = 'bought'
          and s.forgotten_at is null)
    select h.namespace, h.id, coalesce(n.customer_namespace, r.customer_namespace) as customerNamespace,
      coalesce(n.customer_id, r.customer_id) as customerId,
      exists (select 1 from order_step e, json_each(e.items) j where e.namespace = h.namespace and e.order_id = h.id
        and e.kind = 'removed' and e.forgotten_at is null and e.number > h.since
        and j.value ->> 'number' = n.wire_number
        and j.value ->> 'product' is null) as ended
    from held h cross join asset_number n on n.wire_number = ${number} and n.fixed_at is not null
    cross join record r on r.stream = 'orders' and r.namespace = h.namespace and r.id = h.id
    order by h.since desc, h.namespace, h.id`.execute(db);
  const present = rows.filter(({ ended }) => ended === 0);
  const owners = new Map(
    (present.length === 0 ? rows : present).map(({ namespace, id, customerNamespace, customerId }) => [
      JSON.stringify([namespace, id]),
      { order: { namespace, id }, customer: { namespace: customerNamespace, id: customerId } },
    ]),
  );
  return [...owners.values()];
}
