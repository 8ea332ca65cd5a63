import { formatKey } from "../../crm/keys.ts";
import type { ReadOnlyLedger } from "../read-only-ledger.ts";
import { asked } from "./asked.ts";
import type { Assignment } from "./product-lives.ts";

interface AssignmentRow {
  assetNumber: string;
  from: string;
  to: string | null;
  namespace: string;
  customerId: string;
  isGranted: 0 | 1;
  isRevoked: 0 | 1;
  source: string | null;
}

const columns = `a.asset_number as assetNumber, a.from_at as "from", a.to_at as "to", a.customer_namespace as namespace,
  a.customer_id as customerId, a.origin = 'granted' as isGranted, a.ended_by is not null as isRevoked`;

const ofNumbers = asked<{ numbers: string }, AssignmentRow>(`select ${columns}, null as source
  from json_each(@numbers) j cross join assignment a on a.asset_number = j.value order by a.asset_number, a.from_at`);

const after = asked<{ assetNumber: string; from: string; page: number }, AssignmentRow>(
  `select ${columns}, r.source as source
  from assignment a left join record r on r.stream = 'staff' and r.namespace = a.namespace and r.id = a.staff_id
  where (a.asset_number, a.from_at) > (@assetNumber, @from) order by a.asset_number, a.from_at limit @page`,
);

/** The assignments of asset numbers to members of the customers that had them, by number. */
export function assignmentsOf(
  ledger: ReadOnlyLedger,
  owners: ReadonlyMap<string, ReadonlySet<string>>,
): Map<string, Assignment[]> {
  if (owners.size === 0) return new Map();
  const rows = ofNumbers(ledger, { numbers: JSON.stringify([...owners.keys()]) }).map(assignmentOf);
  const own = rows.filter(({ assetNumber, customer }) => owners.get(assetNumber)?.has(formatKey(customer)));
  return Map.groupBy(own, ({ assetNumber }) => assetNumber);
}

const page = 1000;

/** All assignments, by page, with the source of the staff record. */
export function* allAssignments(
  ledger: ReadOnlyLedger,
): Generator<{ assignment: Assignment; source: string | null }, void, void> {
  let last: Pick<AssignmentRow, "assetNumber" | "from"> | undefined = { assetNumber: "", from: "" };
  while (last !== undefined) {
    const rows: AssignmentRow[] = after(ledger, { assetNumber: last.assetNumber, from: last.from, page });
    for (const row of rows) yield { assignment: assignmentOf(row), source: row.source };
    last = rows.length < page ? undefined : rows.at(-1);
  }
}

function assignmentOf({
  assetNumber,
  from,
  to,
  namespace,
  customerId,
  isGranted,
  isRevoked,
}: AssignmentRow): Assignment {
  const customer = { namespace, id: customerId };
  return { assetNumber, from, to, customer, isGranted: isGranted === 1, isRevoked: isRevoked === 1 };
}
