import type { RecordKey } from "../../crm/model.ts";
import type { ReadOnlyLedger } from "../read-only-ledger.ts";
import { asked } from "./asked.ts";

/** What proves an event. */
export interface Proof {
  run: string | null;
  auditSequence: number | null;
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
