import type { EndedAsset } from "../model.ts";
import type { Writes } from "../../../engine/model/resource.ts";
import type { RecordKey } from "../../../crm/model.ts";
import { unitsOf, byUnit } from "../../../engine/model/references.ts";
import type { EarlierUnit, FixedNumber } from "../../../engine/model/references.ts";
import type { KnownAssetNumbers } from "./asset-numbers.ts";
import { goneForm } from "./placed-orders.ts";
import type { Sqlite } from "../../../ledger/database/database.ts";
import { statements } from "../../../ledger/database/statements.ts";
import { stored } from "../../../ledger/database/damage.ts";
import { table } from "../../../ledger/database/statements.ts";
import type { Full } from "../../../ledger/database/statements.ts";

declare module "../../../engine/model/resource.ts" {
  interface ResourceTables {
    asset_number: AssetNumberTable;
    earlier_number: EarlierNumberTable;
  }
}

export interface AssetNumberTable {
  number: string;
  origin: "pool" | "crm";
  operation_id: string | null;
  taken_at: string;
  fixed_at: string | null;
  wire_number: string | null;
  namespace: string | null;
  order_id: string | null;
  instance_id: string | null;
  unit: number | null;
  /** Whose it is since it was fixed, whoever the CRM says that the order belongs to now. */
  customer_namespace: string | null;
  customer_id: string | null;
  /** When its asset ended: a number of the pool is not used again. */
  ended_at: string | null;
}

/** Whose an asset number was before it went to another unit, until `left_at`. */
interface EarlierNumberTable {
  wire_number: string;
  left_at: string;
  fixed_at: string;
  ended_at: string | null;
  namespace: string;
  order_id: string;
  instance_id: string;
  unit: number | null;
  customer_namespace: string;
  customer_id: string;
}

export const assetNumberTables = {
  asset_number: table<AssetNumberTable>(),
  earlier_number: table<EarlierNumberTable>(),
};

/**
 * The asset instances of an order that need numbers; `given` are those the CRM has, `wireNumber` makes a number from
 * digits of the pool.
 */
export interface WantedNumbers {
  instanceId: string;
  quantity: number;
  /** Which units; the first ones where it is not said. */
  units?: number[] | undefined;
  given: readonly string[];
  wireNumber: (digits: string) => string;
}

export interface FixedNumbers {
  /** How many are lacking; 0 where every unit has its number. */
  lacking: number;
  /** Given numbers that belong to another instance already. */
  clashing: string[];
  /** What was fixed now. */
  fixed: FixedNumber[];
}

/** Asset numbers: the free ones of the pool, and which instance each of the others belongs to for good. */
export class AssetNumberRows {
  readonly #statements;

  constructor(database: Sqlite) {
    this.#statements = prepareStatements(database);
  }

  /** Those of a customer that are fixed to units of orders, and whose assets have not ended. */
  known({ namespace, id }: RecordKey): KnownAssetNumbers {
    const numbers = this.#statements.of.all(namespace, id).map((row): FixedNumber => ({
      number: row.number,
      namespace: row.namespace,
      orderId: row.order_id,
      instanceId: row.instance_id,
      unit: row.unit,
    }));
    return { numbers: this.#withRenewed({ namespace, id }, numbers) };
  }

  /**
   * With the units that have the number of an earlier one, and without those that ended since a number was renewed: it
   * stays fixed to the unit that had it first while any unit has it.
   */
  #withRenewed({ namespace, id }: RecordKey, fixed: FixedNumber[]): FixedNumber[] {
    const renewed = this.#statements.renewed.all(namespace, id);
    if (renewed.length === 0) return fixed;
    const endedAt = new Map<string, number>();
    for (const row of this.#statements.endedWhole.all(namespace, id)) endedAt.set(nameOf(row), row.step);
    const since = new Map<string, number>();
    for (const { number, step } of renewed) since.set(number, Math.min(step, since.get(number) ?? step));
    const stands = (item: FixedNumber, from: number | undefined): boolean =>
      from === undefined || (endedAt.get(nameOf(item)) ?? 0) < from;
    const latest = new Map<string, { item: FixedNumber; step: number }>();
    for (const { step, continues, ...item } of renewed)
      latest.set(nameOf(item), { item: { ...item, continues: stored<EarlierUnit[]>(continues) }, step });
    return [
      ...fixed.filter((item) => stands(item, since.get(item.number))),
      ...[...latest.values()].flatMap(({ item, step }) => (stands(item, step) ? [item] : [])),
    ].toSorted(byUnit);
  }

  /** What was taken away of a customer's placed orders that stand as the CRM says by now. */
  ended({ namespace, id }: RecordKey): EndedAsset[] {
    return this.#statements.ended.all(namespace, id, namespace, id);
  }

  /**
   * Fixes numbers of a customer to the units of instances that are to be bought and have none yet: those the CRM gave,
   * also again where their asset ended, else free ones of the pool. A unit that the CRM gives another number by now, as
   * after a refusal, gets that one; the number before is not used again. What is in doubt keeps its numbers.
   */
  fixNumbers(order: RecordKey, customer: RecordKey, wanted: readonly WantedNumbers[], at: string): FixedNumbers {
    const run = this.#statements;
    let lacking = 0;
    const clashing: string[] = [];
    const now: FixedNumber[] = [];
    const owner = [customer.namespace, customer.id];
    // Read once: nothing that is fixed here to one instance changes what stands of another.
    let names: ReadonlySet<string> | undefined;
    const standing = (): ReadonlySet<string> => (names ??= new Set(this.known(customer).numbers.map(nameOf)));
    for (const item of wanted) {
      const { instanceId } = item;
      const fix = (number: string, unit: number): void =>
        void now.push({ number, namespace: order.namespace, orderId: order.id, instanceId, unit });
      const units = unitsOf(item).map((unit, index) => ({ unit, given: item.given[index] }));
      const numbers = this.#fixedTo({ order, instanceId, customer }, standing, at);
      for (const { unit, given } of units) {
        const number = numbers.get(unit);
        if (number === undefined || given === undefined || number === given) continue;
        if (run.free.run(at, number).changes > 0) numbers.delete(unit);
      }
      for (const { unit, given } of units) {
        if (numbers.has(unit)) continue;
        if (given !== undefined) {
          if (this.#fixGiven(given, [order.namespace, order.id, instanceId, unit, ...owner], at)) fix(given, unit);
          else clashing.push(given);
          continue;
        }
        const free = this.#takeFree(item, at);
        if (free === undefined) {
          lacking += 1;
          continue;
        }
        run.fix.run(at, free.wire, order.namespace, order.id, instanceId, unit, ...owner, free.digits);
        fix(free.wire, unit);
      }
    }
    return { lacking, clashing, fixed: now };
  }

  /** Fixes a number that the CRM gave, also again where its asset ended; false where it is another instance's. */
  #fixGiven(number: string, place: readonly [namespace: string, order: string, ...unknown[]], at: string): boolean {
    const run = this.#statements;
    if (run.byWire.get(number, number) === undefined) {
      run.fixGiven.run(number, at, at, number, ...place);
      return true;
    }
    run.keepEnded.run({ at, number });
    const [namespace, order] = place;
    return run.fixAgain.run(at, ...place, number, namespace, order).changes > 0;
  }

  /**
   * The numbers of an instance by unit. What goes on under another order since its unit ended is that order's alone: a
   * unit that comes back gets another one.
   */
  #fixedTo(
    { order, instanceId, customer }: { order: RecordKey; instanceId: string; customer: RecordKey },
    standing: () => ReadonlySet<string>,
    at: string,
  ): Map<number, string> {
    const run = this.#statements;
    const fixed = run.fixedOf.all(order.namespace, order.id, instanceId, customer.namespace, customer.id);
    return new Map(
      fixed.flatMap(({ unit, number }) => {
        const item = { namespace: order.namespace, orderId: order.id, instanceId, unit, number };
        if (standing().has(nameOf(item))) return [[unit, number] as const];
        run.keepLeft.run({ at, number });
        run.leave.run(number);
        return [];
      }),
    );
  }

  /** A free number whose form on the wire no asset has yet; one that the CRM gave to an asset by itself is spent. */
  #takeFree(item: WantedNumbers, at: string): { digits: string; wire: string } | undefined {
    const run = this.#statements;
    for (;;) {
      const digits = run.freeNumber.get()?.number;
      if (digits === undefined) return undefined;
      const wire = item.wireNumber(digits);
      if (run.byFixedWire.get(wire) === undefined) return { digits, wire };
      run.spend.run(at, digits);
    }
  }

  /** Keeps whose a number is, where a unit had it, before it is another one's. */
  keepEarlier(number: string, at: string): void {
    this.#statements.keepLeft.run({ at, number });
  }

  poolSize(): number {
    return this.#statements.poolSize.get()?.count ?? 0;
  }

  readonly writes = {
    "numbers-taken": ({ numbers, operationId }, at) => {
      for (const number of numbers) this.#statements.take.run(number, operationId, at);
    },
  } satisfies Writes;
}

/** Names a unit with the number that it has. */
function nameOf({ namespace, orderId, instanceId, unit, number }: FixedNumber): string {
  return JSON.stringify([namespace, orderId, instanceId, unit, number]);
}

/** A unit of an order of a customer, as a step of that order names it. */
const unitOfStep = `i.value ->> 'number' as number, s.namespace, s.order_id as orderId,
  i.value ->> 'instanceId' as instanceId, i.value ->> 'unit' as unit, s.number as step`;

function renewedStatements(database: Sqlite) {
  return {
    renewed: () =>
      database.prepare<[string, string], FixedNumber & { step: number; continues: string }>(
        `select ${unitOfStep}, i.value ->> 'continues' as continues from order_step s, json_each(s.items) i
       where s.customer_namespace = +? and s.customer_id = +? and s.kind = 'bought'
         and s.forgotten_at is null and i.value ->> 'continues' is not null and exists (select 1 from asset_number n
           where n.wire_number = i.value ->> 'number' and n.fixed_at is not null and n.ended_at is null)
       order by s.number`,
      ),
    endedWhole: () =>
      database.prepare<[string, string], FixedNumber & { step: number }>(
        `select ${unitOfStep} from order_step s, json_each(s.items) i
       where s.customer_namespace = +? and s.customer_id = +? and s.kind = 'removed'
         and s.forgotten_at is null and i.value ->> 'product' is null and i.value ->> 'number' is not null
       order by s.number`,
      ),
  };
}

/** The placed order `p` stands as the CRM says by its record `r`. */
const asTheCrmSays = `p.agreed_hash = case coalesce(r.state, 'absent') when 'absent' then '${goneForm}'
  when 'current' then r.body_hash end`;

/** Keeps whose a number is, where a unit had it, before it is another one's. */
const keepEarlier = `insert into earlier_number (wire_number, left_at, fixed_at, ended_at, namespace, order_id,
    instance_id, unit, customer_namespace, customer_id)
  select n.wire_number, @at, n.fixed_at, n.ended_at, n.namespace, n.order_id, n.instance_id, n.unit,
    n.customer_namespace, n.customer_id
  from asset_number n where n.wire_number = +@number and n.fixed_at is not null and n.customer_id is not null
    and (n.unit is not null or exists (select 1 from earlier_number e where e.wire_number = n.wire_number
      and e.namespace = n.namespace and e.order_id = n.order_id))`;

/** When what the ledger knew was set aside, since it was restored: a number of the pool may stand again since. */
const gapAt = "select value ->> 'at' from meta where key = 'gap'";

function anewStatements(database: Sqlite) {
  return {
    keepLeft: () => database.prepare<[{ at: string; number: string }]>(`${keepEarlier} on conflict do nothing`),
    keepEnded: () =>
      database.prepare<[{ at: string; number: string }]>(
        `${keepEarlier} and n.ended_at is not null
          and (n.origin = 'crm' or n.ended_at = (${gapAt})) on conflict do nothing`,
      ),
    ended: () =>
      // A number that the CRM gave to another asset since stands there: the step alone says what ended.
      database.prepare<[string, string, string, string], EndedAsset>(
        `select n.wire_number as number, n.namespace, n.instance_id as instanceId from placed_order p
         join asset_number n on n.namespace = p.namespace and n.order_id = p.order_id
           and n.customer_namespace = p.customer_namespace and n.customer_id = p.customer_id
         left join record r on r.stream = 'orders' and r.namespace = p.namespace and r.id = p.order_id
       where p.customer_namespace = +? and p.customer_id = +? and p.to_at is null
         and ${asTheCrmSays}
         and n.fixed_at is not null and n.ended_at is not null and n.unit is not null
       union
       select i.value ->> 'number', s.namespace, i.value ->> 'instanceId' from order_step s
         join placed_order p on p.namespace = s.namespace and p.order_id = s.order_id and p.to_at is null
           and p.customer_namespace = s.customer_namespace and p.customer_id = s.customer_id
         join json_each(s.items) i
         left join record r on r.stream = 'orders' and r.namespace = p.namespace and r.id = p.order_id
       where s.customer_namespace = +? and s.customer_id = +? and s.kind = 'removed'
         and s.forgotten_at is null and i.value ->> 'product' is null and i.value ->> 'number' is not null
         and ${asTheCrmSays}
       order by 2, 3, 1`,
      ),
    fixAgain: () =>
      database.prepare(
        `update asset_number set fixed_at = ?, namespace = ?, order_id = ?, instance_id = ?, unit = ?,
         customer_namespace = ?, customer_id = ?, ended_at = null
          where wire_number = +? and fixed_at is not null and ended_at is not null and (origin = 'crm'
            or (ended_at = (${gapAt}) and (order_id is null or (namespace = ? and order_id = ?))))`,
      ),
    leave: () =>
      database.prepare<[string]>("update asset_number set unit = null where wire_number = +? and fixed_at is not null"),
    free: () =>
      database.prepare<[string, string]>(
        // No unit ever had it.
        `update asset_number set ended_at = ?, unit = null
          where wire_number = +? and fixed_at is not null and ended_at is null and not exists (
            select 1 from operation_record r join operation o on o.id = r.operation_id
            where r.stream = 'orders' and r.namespace = asset_number.namespace
              and r.record_id = asset_number.order_id
              and o.state in ('sending', 'unknown', 'parked'))`,
      ),
  };
}

function prepareStatements(database: Sqlite) {
  return statements.onUse({
    ...anewStatements(database),
    ...renewedStatements(database),
    of: () =>
      database.prepare<
        [string, string],
        Full<AssetNumberTable, "number" | "namespace" | "order_id" | "instance_id" | "unit">
      >(
        `select n.wire_number as number, n.namespace, n.order_id, n.instance_id, n.unit from asset_number n
       where n.customer_namespace = +? and n.customer_id = +? and n.fixed_at is not null and n.ended_at is null
         and n.unit is not null
       order by n.namespace, n.order_id, n.instance_id, n.unit`,
      ),
    fixedOf: () =>
      database.prepare<[string, string, string, string, string], Full<AssetNumberTable, "unit" | "number">>(
        `select unit, wire_number as number from asset_number
          where namespace = +? and order_id = +? and instance_id = +?
          and customer_namespace = +? and customer_id = +? and fixed_at is not null and ended_at is null`,
      ),
    fixGiven: () =>
      database.prepare(
        `insert into asset_number (number, origin, taken_at, fixed_at, wire_number, namespace, order_id, instance_id,
         unit, customer_namespace, customer_id)
       values (?, 'crm', ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      ),
    byWire: () =>
      database.prepare<[string, string], Pick<AssetNumberTable, "number">>(
        "select number from asset_number where number = +? or (wire_number = +? and fixed_at is not null)",
      ),
    byFixedWire: () =>
      database.prepare<[string], Pick<AssetNumberTable, "number">>(
        "select number from asset_number where wire_number = +? and fixed_at is not null",
      ),
    spend: () => database.prepare("update asset_number set fixed_at = ? where number = +? and fixed_at is null"),
    take: () =>
      database.prepare(
        // A number that is known already is not taken a second time, wherever it came from.
        `insert into asset_number (number, origin, operation_id, taken_at) values (?, 'pool', ?, ?)
          on conflict do nothing`,
      ),
    freeNumber: () =>
      database.prepare<[], Pick<AssetNumberTable, "number">>(
        "select number from asset_number where fixed_at is null order by number limit 1",
      ),
    fix: () =>
      database.prepare(
        `update asset_number set fixed_at = ?, wire_number = ?, namespace = ?, order_id = ?, instance_id = ?, unit = ?,
         customer_namespace = ?, customer_id = ?
          where number = +? and fixed_at is null`,
      ),
    poolSize: () =>
      database.prepare<[], { count: number }>("select count(*) as count from asset_number where fixed_at is null"),
  });
}
