import { sql } from "kysely";
import { activityRow } from "../../report/statement/activity.ts";
import type { ActivityFacts } from "../../report/statement/activity.ts";
import type { PartRow, StatementRequest } from "../../report/statement/shape.ts";
import type { ReadOnlyLedger } from "../read-only-ledger.ts";

/** What people did in a period, and what was run, in the order of time. */
export function* activityRows(
  ledger: ReadOnlyLedger,
  { period, filters }: StatementRequest,
): Generator<PartRow, void, void> {
  const said = (field: string) => sql`json_extract(a.body, ${sql.lit(`$.${field}`)})`;
  const { from, to } = period;
  const query = sql<ActivityFacts>`
    select * from (
      select a.at as at, ${said("by")} as who, null as "trigger", a.kind as kind, a.subject as subject,
        coalesce(${said("customer")}, iif(a.subject like 'customer:%', substr(a.subject, 10), null),
          (select o.customer_namespace || '/' || o.customer_id from operation o where o.id = ${said("operation")}
            and o.customer_id <> '')) as customer,
        ${said("decision")} as decision, ${said("reason")} as reason, ${said("run")} as run, ${said("hold")} as hold,
        ${said("operation")} as operation, a.sequence as auditSequence
      from audit a where a.at >= ${from} and a.at < ${to} and ${said("by")} is not null
      union all
      select r.started_at, json_extract(r.header, '$.by'), r."trigger", r.kind, r.job, null, null, null, r.id, null,
        null, (select max(a.sequence) from audit a where a.subject = 'run:' || r.id and a.kind = 'run')
      from run r where r.started_at >= ${from} and r.started_at < ${to})
    where ${filters.customer ?? null} is null or customer = ${filters.customer ?? null}
    order by at, auditSequence, run`;
  for (const facts of ledger.rows({ compile: () => query.compile(ledger.db) })) yield activityRow(facts);
}
