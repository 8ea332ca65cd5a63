import type { RecordKey } from "../../crm/model.ts";
import type { FixedNumber, KnownAssetNumbers, NumbersTaken } from "../../operation/state/asset-numbers.ts";
import type { Sqlite } from "../database/database.ts";
import { statements } from "../database/statements.ts";
import { table } from "../database/table.ts";
import type { Full } from "../database/table.ts";
import type { Writes } from "./writes.ts";

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
}

export const assetNumberTables = { asset_number: table<AssetNumberTable>() };

/**
 * The asset instances of an order that need numbers; `given` are those the CRM has, `wireNumber` makes a number from
 * digits of the pool.
 */
export interface WantedNumbers {
  instanceId: string;
  quantity: number;
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

  /** Those that are fixed to the units of a customer's orders. */
  known({ namespace, id }: RecordKey): KnownAssetNumbers {
    const numbers = this.#statements.of.all(namespace, id).map((row): FixedNumber => ({
      number: row.number,
      namespace: row.namespace,
      orderId: row.order_id,
      instanceId: row.instance_id,
      unit: row.unit,
    }));
    return { numbers };
  }

  /** Fixes numbers to the units of instances that have none yet: those the CRM gave, else free ones of the pool. */
  fixNumbers(order: RecordKey, wanted: readonly WantedNumbers[], at: string): FixedNumbers {
    const run = this.#statements;
    let lacking = 0;
    const clashing: string[] = [];
    const now: FixedNumber[] = [];
    for (const item of wanted) {
      const { instanceId } = item;
      const fix = (number: string, unit: number): void =>
        void now.push({ number, namespace: order.namespace, orderId: order.id, instanceId, unit });
      const fixed = run.fixedOf.all(order.namespace, order.id, item.instanceId);
      const units = new Set(fixed.map((row) => row.unit));
      for (let unit = 0; unit < item.quantity; unit += 1) {
        if (units.has(unit)) continue;
        const given = item.given[unit];
        if (given !== undefined) {
          if (run.byWire.get(given, given) !== undefined) clashing.push(given);
          else {
            run.fixGiven.run(given, at, at, given, order.namespace, order.id, instanceId, unit);
            fix(given, unit);
          }
          continue;
        }
        const free = this.#takeFree(item, at);
        if (free === undefined) {
          lacking += 1;
          continue;
        }
        run.fix.run(at, free.wire, order.namespace, order.id, instanceId, unit, free.digits);
        fix(free.wire, unit);
      }
    }
    return { lacking, clashing, fixed: now };
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

  poolSize(): number {
    return this.#statements.poolSize.get()?.count ?? 0;
  }

  readonly writes: Writes<NumbersTaken> = {
    "numbers-taken": ({ numbers, operationId }, at) => {
      for (const number of numbers) this.#statements.take.run(number, operationId, at);
    },
  };
}

function prepareStatements(database: Sqlite) {
  return statements.onUse({
    of: () =>
      database.prepare<
        [string, string],
        Full<AssetNumberTable, "number" | "namespace" | "order_id" | "instance_id" | "unit">
      >(
        `select n.wire_number as number, n.namespace, n.order_id, n.instance_id, n.unit from asset_number n
       join record r on r.stream = 'orders' and r.namespace = n.namespace and r.id = n.order_id
       where r.customer_namespace = +? and r.customer_id = +? and n.fixed_at is not null
       order by n.namespace, n.order_id, n.instance_id, n.unit`,
      ),
    fixedOf: () =>
      database.prepare<[string, string, string], Full<AssetNumberTable, "unit" | "number">>(
        `select unit, number from asset_number where namespace = +? and order_id = +? and instance_id = +?
          and fixed_at is not null`,
      ),
    fixGiven: () =>
      database.prepare(
        `insert into asset_number (number, origin, taken_at, fixed_at, wire_number, namespace, order_id, instance_id,
         unit)
       values (?, 'crm', ?, ?, ?, ?, ?, ?, ?)`,
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
        `update asset_number set fixed_at = ?, wire_number = ?, namespace = ?, order_id = ?, instance_id = ?, unit = ?
          where number = +? and fixed_at is null`,
      ),
    poolSize: () =>
      database.prepare<[], { count: number }>("select count(*) as count from asset_number where fixed_at is null"),
  });
}
