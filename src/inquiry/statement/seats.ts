import { formatKey } from "../../crm/keys.ts";
import type { RecordKey } from "../../crm/model.ts";
import { isSameKey } from "../../engine/model/state.ts";
import { crmDate } from "../../report/crm-date.ts";
import { instantBeside } from "../../report/statement/period.ts";
import type { StatementRequest } from "../../report/statement/shape.ts";
import type { Moved, OrderChange, UnitProduct } from "./amounts.ts";
import type { OrderHistory } from "./order-history.ts";
import { type ReadOnlyLedger, asked } from "../read-only-ledger.ts";

export interface Assignment {
  assetNumber: string;
  from: string;
  to: string | null;
  customer: RecordKey;
  isGranted: boolean;
  isRevoked: boolean;
}

interface Edge {
  at: string;
  isOurs: boolean;
}

interface Life {
  came: Moved;
  of: UnitProduct;
  customer: RecordKey;
  begun: Edge;
  ended: Edge | undefined;
}

interface Seat {
  life: Life;
  begun: Edge;
  ended: Edge | undefined;
}

export type AssignmentsOf = (
  owners: ReadonlyMap<string, ReadonlySet<string>>,
) => ReadonlyMap<string, readonly Assignment[]>;

/** The CRM's date if there is one, otherwise the time of the placing. */
export function placedBy({ by, period }: StatementRequest, { at, form }: OrderHistory["placing"]): string {
  const dated = by === "happened" ? null : crmDate(form?.placedAt, form?.zones, "placedAt");
  return dated === null ? at : instantBeside(dated, period);
}

/** When an event counts: never before `placedAt`. */
export function countedAt({ number, at }: OrderChange, placedAt: string): string {
  return number === 0 || at < placedAt ? placedAt : at;
}

export function livesOf(changes: Iterable<OrderChange>, placedAt: string): Life[] {
  const lives: Life[] = [];
  const open = new Map<string, Life>();
  for (const change of changes) {
    const { customer, moved, origin } = change;
    const edge = { at: countedAt(change, placedAt), isOurs: origin === "sent" };
    for (const came of moved) {
      const { of, units } = came;
      if (units === 0) continue;
      const place = placeOf(customer, of);
      if (units === 1) {
        const life: Life = { came, of, customer, begun: edge, ended: undefined };
        lives.push(life);
        open.set(place, life);
        continue;
      }
      const life = open.get(place);
      if (life !== undefined) life.ended = edge;
      open.delete(place);
    }
  }
  return lives;
}

export function* seatsOf(lives: readonly Life[], assignmentsOf: AssignmentsOf): Generator<Seat, void, void> {
  const owners = new Map<string, Set<string>>();
  for (const { of, customer } of lives) {
    if (of.unit.number === undefined) continue;
    const known = owners.get(of.unit.number) ?? new Set();
    owners.set(of.unit.number, known.add(formatKey(customer)));
  }
  const assignments = assignmentsOf(owners);
  if (assignments.size === 0) return;
  for (const life of lives) {
    for (const one of assignments.get(life.of.unit.number ?? "") ?? []) {
      if (!isSameKey(one.customer, life.customer)) continue;
      const begun = one.from >= life.begun.at ? { at: one.from, isOurs: one.isGranted } : life.begun;
      const own = one.to === null ? undefined : { at: one.to, isOurs: one.isRevoked };
      const ended = own === undefined || (life.ended !== undefined && life.ended.at < own.at) ? life.ended : own;
      if (ended === undefined || ended.at > begun.at) yield { life, begun, ended };
    }
  }
}

function placeOf(customer: RecordKey, { unit, product, channelOrderId }: UnitProduct): string {
  return JSON.stringify([formatKey(customer), unit.instanceId, unit.unit, product.id, channelOrderId]);
}

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
