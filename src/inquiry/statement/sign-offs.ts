import { sql } from "kysely";
import { signOffRow } from "../../report/statement/sign-offs.ts";
import type { SignOffFacts } from "../../report/statement/sign-offs.ts";
import type { PartRow, StatementRequest } from "../../report/statement/shape.ts";
import type { ReadOnlyLedger } from "../read-only-ledger.ts";

/** What was signed off so that a period could be closed, in the order of its audit entries. */
export function* signOffRows(
  ledger: ReadOnlyLedger,
  { period, filters }: StatementRequest,
): Generator<PartRow, void, void> {
  if (Object.values(filters).some((filter) => filter !== undefined)) return;
  const said = (field: string) => sql`json_extract(a.body, ${sql.lit(`$.${field}`)})`;
  const query = sql<SignOffFacts>`
    select a.at, ${said("blocker")} as blocker, ${said("what")} as what, ${said("by")} as "by",
      ${said("reason")} as reason, ${said("facts")} as facts, a.sequence as auditSequence
    from audit a where a.subject = ${`period:${period.label}`} and a.kind = 'signed-off' order by a.sequence`;
  for (const facts of ledger.rows({ compile: () => query.compile(ledger.db) })) yield signOffRow(facts);
}
