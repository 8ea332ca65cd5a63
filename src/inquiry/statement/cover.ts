import { sql } from "kysely";
import { formatKey, parseKey } from "../../crm/keys.ts";
import type { RecordKey } from "../../crm/model.ts";
import type { PartRow, StatementRequest } from "../../report/statement/shape.ts";
import type { ReadOnlyLedger } from "../read-only-ledger.ts";

type CoverRow = RecordKey & { name: string | null; erased: number; branch: string | null };

/** Every customer with its name, by key: the one statement that reads private values. */
export function* coverRows(ledger: ReadOnlyLedger, { filters }: StatementRequest): Generator<PartRow, void, void> {
  const { branch, source } = filters;
  const key = filters.customer === undefined ? undefined : parseKey(filters.customer);
  const query = sql<CoverRow>`select r.namespace, r.id, p.body ->> '$.name' as name,
      p.body is null and p.wiped_at is not null as erased, v.body ->> '$.branchCode' as branch
    from record r
    left join record_version v on v.stream = r.stream and v.namespace = r.namespace and v.id = r.id
      and v.version = r.version
    left join private_value p on p.ref = 'customers/' || r.namespace || '/' || r.id and p.version = r.version
    where r.stream = 'customers'
      and (${key === undefined ? sql`1` : sql`r.namespace = ${key.namespace} and r.id = ${key.id}`})
      and (${branch === undefined ? sql`1` : sql`v.body ->> '$.branchCode' = ${branch}`})
      and (${source === undefined ? sql`1` : sql`r.source = ${source}`})
    order by r.namespace, r.id`;
  for (const { name, erased, branch: own, ...customer } of ledger.rows({ compile: () => query.compile(ledger.db) }))
    yield {
      part: "cover",
      row: { customer: formatKey(customer), name: erased === 1 ? "erased" : name, branch: own },
    };
}
