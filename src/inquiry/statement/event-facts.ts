import type { RecordKey } from "../../crm/model.ts";
import type { ReadOnlyLedger } from "../read-only-ledger.ts";
import { asked } from "./asked.ts";

/** What is known around an event of a customer: who looked after it and where it stood then. */
export interface CustomerFacts {
  branch: string | null;
  enterpriseGlobalId: string | null;
}

/** What proves an event. */
export interface Proof {
  run: string | null;
  auditSequence: number | null;
}

interface OrderFacts {
  source: string | null;
  placedAt: string | null;
}

const linkOf = "from link k where k.namespace = @namespace and k.customer_id = @id";
const formOf = "from record_version c where c.stream = 'customers' and c.namespace = @namespace and c.id = @id";

const customerFactsAt = asked<RecordKey & { at: string }, CustomerFacts>(`select
  coalesce(
    (select k.enterprise_global_id ${linkOf} and k.from_at <= @at order by k.from_at desc limit 1),
    (select k.enterprise_global_id ${linkOf} order by k.from_at limit 1)) as enterpriseGlobalId,
  coalesce(
    (select c.body ->> '$.branchCode' ${formOf} and c.from_at <= @at order by c.version desc limit 1),
    (select c.body ->> '$.branchCode' ${formOf} order by c.version limit 1)) as branch`);

/**
 * The branch that a customer had and the enterprise that it was linked with at a moment, or else those that it had
 * first.
 */
export function customerAt(ledger: ReadOnlyLedger, { namespace, id }: RecordKey, at: string): CustomerFacts {
  const [facts] = customerFactsAt(ledger, { namespace, id, at });
  return facts ?? { branch: null, enterpriseGlobalId: null };
}

const proofOfOperation = asked<{ operation: string }, Proof>(`select o.run_id as run, (
    select max(a.sequence) from audit a
    where a.subject = o.subject and json_extract(a.body, '$.operation') = o.id
      and json_extract(a.body, '$.state') = 'done') as auditSequence
  from operation o where o.id = @operation`);

const proofOfReading = asked<
  { subject: string; at: string },
  Proof
>(`select null as run, min(a.sequence) as auditSequence from audit a
  where a.subject = @subject and a.at = @at and a.kind in ('learned', 'examined')`);

/** The run and the audit entry of an event: of its operation, or of the reading by which it was learned. */
export function proofOf(
  ledger: ReadOnlyLedger,
  { operationId, customer, at }: { operationId: string | null; customer: RecordKey; at: string },
): Proof {
  const rows =
    operationId === null
      ? proofOfReading(ledger, { subject: `customer:${customer.namespace}/${customer.id}`, at })
      : proofOfOperation(ledger, { operation: operationId });
  const [proof] = rows;
  return proof ?? { run: null, auditSequence: null };
}

const factsOfOrder = asked<
  RecordKey & { version: number | null },
  OrderFacts
>(`select r.source as source, json_extract(v.body, '$.placedAt') as placedAt
  from (select 1) left join record r on r.stream = 'orders' and r.namespace = @namespace and r.id = @id
  left join record_version v on v.stream = 'orders' and v.namespace = @namespace and v.id = @id
    and v.version = coalesce(@version, (select p.version from placed_order p
      where p.namespace = @namespace and p.order_id = @id and p.to_at is null))`);

/** The source of an order, and its date by a form of it; without a version by the one that it was placed with. */
export function orderFacts(ledger: ReadOnlyLedger, { namespace, id }: RecordKey, version: number | null): OrderFacts {
  const [facts] = factsOfOrder(ledger, { namespace, id, version });
  return facts ?? { source: null, placedAt: null };
}
