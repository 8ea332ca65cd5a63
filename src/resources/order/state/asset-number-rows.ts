import type { RecordKey } from "../../../crm/model.ts";
import { byUnit, unitsOf, type EarlierUnit, type FixedNumber } from "../../../engine/model/references.ts";
import type { Writes } from "../../../engine/model/resource.ts";
import { stored } from "../../../ledger/database/damage.ts";
import type { Sqlite } from "../../../ledger/database/database.ts";
import { sqlOf } from "../../../ledger/database/statements.ts";
import type { EndedAsset } from "../model.ts";
import { goneForm, unitNamed } from "./changes.ts";

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
  /** The customer since the number was fixed, even if the order moved in the CRM. */
  customer_namespace: string | null;
  customer_id: string | null;
  ended_at: string | null;
}

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

/** `given`: numbers from the CRM; `wireNumber` makes a number from pool digits. */
export interface WantedNumbers {
  instanceId: string;
  quantity: number;
  /** Undefined: the first units. */
  units?: number[] | undefined;
  given: readonly string[];
  wireNumber: (digits: string) => string;
}

export interface FixedNumbers {
  lacking: number;
  /** Given numbers that another instance has. */
  clashing: string[];
  fixed: FixedNumber[];
}

type Place = Omit<FixedNumber, "continues"> & { customerNamespace: string; customerId: string };

const unitOfStep = `i.value ->> 'number' as number, s.namespace, s.order_id as orderId,
  i.value ->> 'instanceId' as instanceId, i.value ->> 'unit' as unit, s.number as step`;

const endedWhole = `s.customer_namespace = +@namespace and s.customer_id = +@id and s.kind = 'removed'
  and s.forgotten_at is null and i.value ->> 'product' is null and i.value ->> 'number' is not null`;

const asTheCrmSays = `p.agreed_hash = case coalesce(r.state, 'absent') when 'absent' then '${goneForm}'
  when 'current' then r.body_hash end`;

const keepEarlier = `insert into earlier_number (wire_number, left_at, fixed_at, ended_at, namespace, order_id,
    instance_id, unit, customer_namespace, customer_id)
  select n.wire_number, @at, n.fixed_at, n.ended_at, n.namespace, n.order_id, n.instance_id, n.unit,
    n.customer_namespace, n.customer_id
  from asset_number n where n.wire_number = +@number and n.fixed_at is not null and n.customer_id is not null
    and (n.unit is not null or exists (select 1 from earlier_number e where e.wire_number = n.wire_number
      and e.namespace = n.namespace and e.order_id = n.order_id))`;

/** Time of the last restore gap: pool numbers may be in use again since then. */
const gapAt = "select value ->> 'at' from meta where key = 'gap'";

const texts = {
  of: `select n.wire_number as number, n.namespace, n.order_id as orderId, n.instance_id as instanceId, n.unit
    from asset_number n
    where n.customer_namespace = +? and n.customer_id = +? and n.fixed_at is not null and n.ended_at is null
      and n.unit is not null
    order by n.namespace, n.order_id, n.instance_id, n.unit`,
  renewed: `select ${unitOfStep}, i.value ->> 'continues' as continues from order_step s, json_each(s.items) i
    where s.customer_namespace = +? and s.customer_id = +? and s.kind = 'bought'
      and s.forgotten_at is null and i.value ->> 'continues' is not null and exists (select 1 from asset_number n
        where n.wire_number = i.value ->> 'number' and n.fixed_at is not null and n.ended_at is null)
    order by s.number`,
  endedWhole: `select ${unitOfStep} from order_step s, json_each(s.items) i where ${endedWhole} order by s.number`,
  ended: `select n.wire_number as number, n.namespace, n.instance_id as instanceId from placed_order p
      join asset_number n on n.namespace = p.namespace and n.order_id = p.order_id
        and n.customer_namespace = p.customer_namespace and n.customer_id = p.customer_id
      left join record r on r.stream = 'orders' and r.namespace = p.namespace and r.id = p.order_id
    where p.customer_namespace = +@namespace and p.customer_id = +@id and p.to_at is null
      and ${asTheCrmSays}
      and n.fixed_at is not null and n.ended_at is not null and n.unit is not null
    union
    select i.value ->> 'number', s.namespace, i.value ->> 'instanceId' from order_step s
      join placed_order p on p.namespace = s.namespace and p.order_id = s.order_id and p.to_at is null
        and p.customer_namespace = s.customer_namespace and p.customer_id = s.customer_id
      join json_each(s.items) i
      left join record r on r.stream = 'orders' and r.namespace = p.namespace and r.id = p.order_id
    where ${endedWhole} and ${asTheCrmSays}
    order by 2, 3, 1`,
  free: `update asset_number set ended_at = ?, unit = null
    where wire_number = +? and fixed_at is not null and ended_at is null and not exists (
      select 1 from operation_record r join operation o on o.id = r.operation_id
      where r.stream = 'orders' and r.namespace = asset_number.namespace
        and r.record_id = asset_number.order_id
        and o.state in ('sending', 'unknown', 'parked'))`,
  byWire: "select 1 from asset_number where number = +@number or (wire_number = +@number and fixed_at is not null)",
  fixGiven: `insert into asset_number (number, origin, taken_at, fixed_at, wire_number, namespace, order_id, instance_id,
      unit, customer_namespace, customer_id)
    values (@number, 'crm', @at, @at, @number, @namespace, @orderId, @instanceId,
      @unit, @customerNamespace, @customerId)`,
  keepEnded: `${keepEarlier} and n.ended_at is not null
    and (n.origin = 'crm' or n.ended_at = (${gapAt})) on conflict do nothing`,
  fixAgain: `update asset_number set fixed_at = @at, namespace = @namespace, order_id = @orderId, instance_id = @instanceId,
     unit = @unit, customer_namespace = @customerNamespace, customer_id = @customerId, ended_at = null
    where wire_number = +@number and fixed_at is not null and ended_at is not null and (origin = 'crm'
      or (ended_at = (${gapAt}) and (order_id is null or (namespace = @namespace and order_id = @orderId))))`,
  fixedOf: `select unit, wire_number as number from asset_number
    where namespace = +@namespace and order_id = +@orderId and instance_id = +@instanceId
    and customer_namespace = +@customerNamespace and customer_id = +@customerId
    and fixed_at is not null and ended_at is null`,
  leave: "update asset_number set unit = null where wire_number = +? and fixed_at is not null",
  freeNumber: "select number from asset_number where fixed_at is null order by number limit 1",
  byFixedWire: "select 1 from asset_number where wire_number = +? and fixed_at is not null",
  spend: "update asset_number set fixed_at = ? where number = +? and fixed_at is null",
  fix: `update asset_number set fixed_at = @at, wire_number = @number, namespace = @namespace, order_id = @orderId,
     instance_id = @instanceId, unit = @unit, customer_namespace = @customerNamespace, customer_id = @customerId
    where number = +@digits and fixed_at is null`,
  keepLeft: `${keepEarlier} on conflict do nothing`,
  poolSize: "select count(*) from asset_number where fixed_at is null",
  take: `insert into asset_number (number, origin, operation_id, taken_at) values (?, 'pool', ?, ?)
    on conflict do nothing`,
};

export class AssetNumberRows {
  readonly #sql;

  constructor(database: Sqlite) {
    this.#sql = sqlOf(database, texts);
  }

  known(customer: RecordKey): FixedNumber[] {
    const fixed = this.#sql.rows<FixedNumber>("of", [customer.namespace, customer.id]);
    return this.#withRenewed(customer, fixed);
  }

  /** A renewed number stays fixed to its first unit while any unit has it. */
  #withRenewed({ namespace, id }: RecordKey, fixed: FixedNumber[]): FixedNumber[] {
    const renewed = this.#sql.rows<FixedNumber & { step: number; continues: string }>("renewed", [namespace, id]);
    if (renewed.length === 0) return fixed;
    const ended = this.#sql.rows<FixedNumber & { step: number }>("endedWhole", { namespace, id });
    const endedAt = new Map(ended.map((row) => [unitNamed(row), row.step]));
    const since = new Map(renewed.toReversed().map(({ number, step }) => [number, step]));
    const stands = (item: FixedNumber, from: number | undefined): boolean =>
      from === undefined || (endedAt.get(unitNamed(item)) ?? 0) < from;
    const latest = new Map(renewed.map((row) => [unitNamed(row), row]));
    return [
      ...fixed.filter((item) => stands(item, since.get(item.number))),
      ...[...latest.values()].flatMap(({ step, continues, ...item }): FixedNumber[] =>
        stands(item, step) ? [{ ...item, continues: stored<EarlierUnit[]>(continues) }] : [],
      ),
    ].toSorted(byUnit);
  }

  ended({ namespace, id }: RecordKey): EndedAsset[] {
    // The CRM may have given the number to another asset since, so only the step shows what ended.
    return this.#sql.rows("ended", { namespace, id });
  }

  /**
   * Fixes numbers to units without one: CRM numbers, otherwise free pool numbers. A CRM number may be used again after
   * its
   * asset ended. If the CRM gives another number, the old one is spent, unless an operation is in doubt.
   */
  fixNumbers(
    { namespace, id: orderId }: RecordKey,
    customer: RecordKey,
    wanted: readonly WantedNumbers[],
    at: string,
  ): FixedNumbers {
    let lacking = 0;
    const clashing: string[] = [];
    const fixed: FixedNumber[] = [];
    // Read once: fixing one instance does not change others.
    let names: ReadonlySet<string> | undefined;
    const standing = (): ReadonlySet<string> => (names ??= new Set(this.known(customer).map(unitNamed)));
    for (const item of wanted) {
      const { instanceId } = item;
      const of = { namespace, orderId, instanceId, customerNamespace: customer.namespace, customerId: customer.id };
      const units = unitsOf(item).map((unit, index) => ({ unit, given: item.given[index] }));
      const numbers = this.#fixedTo(of, standing, at);
      for (const { unit, given } of units) {
        const number = numbers.get(unit);
        if (number === undefined || given === undefined || number === given) continue;
        if (this.#free(number, at)) numbers.delete(unit);
      }
      for (const { unit, given } of units) {
        if (numbers.has(unit)) continue;
        const number = given ?? this.#takeFree(item, { ...of, unit }, at);
        if (number === undefined) lacking += 1;
        else if (given !== undefined && !this.#fixGiven({ ...of, unit, number }, at)) clashing.push(number);
        else fixed.push({ number, namespace, orderId, instanceId, unit });
      }
    }
    return { lacking, clashing, fixed };
  }

  /** Ends a number as if no unit ever had it. False if an operation of its order is in doubt. */
  #free(number: string, at: string): boolean {
    const changed = this.#sql.change("free", [at, number]);
    return changed > 0;
  }

  /** False if another instance has the number. */
  #fixGiven(place: Place, at: string): boolean {
    const { number } = place;
    const known = this.#sql.value("byWire", { number });
    if (known === undefined) {
      this.#sql.change("fixGiven", { ...place, at });
      return true;
    }
    this.#sql.change("keepEnded", { at, number });
    const changed = this.#sql.change("fixAgain", { ...place, at });
    return changed > 0;
  }

  /** By unit. If another order continued a number after its unit ended, a returning unit gets a new number. */
  #fixedTo(of: Omit<Place, "unit" | "number">, standing: () => ReadonlySet<string>, at: string): Map<number, string> {
    const rows = this.#sql.rows<{ unit: number; number: string }>("fixedOf", { ...of });
    const own = rows.filter((row) => standing().has(unitNamed({ ...of, ...row })));
    for (const { number } of rows.filter((row) => !own.includes(row))) {
      this.keepEarlier(number, at);
      this.#sql.change("leave", [number]);
    }
    return new Map(own.map(({ unit, number }) => [unit, number]));
  }

  /** Skips pool numbers that the CRM has used. Undefined: the pool is empty. */
  #takeFree(item: WantedNumbers, place: Omit<Place, "number">, at: string): string | undefined {
    for (;;) {
      const digits = this.#sql.value<string>("freeNumber");
      if (digits === undefined) return undefined;
      const number = item.wireNumber(digits);
      const taken = this.#sql.value("byFixedWire", [number]);
      if (taken !== undefined) {
        this.#sql.change("spend", [at, digits]);
        continue;
      }
      this.#sql.change("fix", { ...place, number, digits, at });
      return number;
    }
  }

  keepEarlier(number: string, at: string): void {
    this.#sql.change("keepLeft", { at, number });
  }

  poolSize(): number {
    return this.#sql.value<number>("poolSize") ?? 0;
  }

  readonly writes = {
    "numbers-taken": ({ numbers, operationId }, at) => {
      // Known numbers are ignored, whatever their origin.
      for (const number of numbers) this.#sql.change("take", [number, operationId, at]);
    },
  } satisfies Writes;
}
