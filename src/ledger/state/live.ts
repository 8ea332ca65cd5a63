import { physicalLockTypes } from "../../contract/limits.ts";
import type { RecordKey } from "../../crm/model.ts";
import type { StateRows as ResourceRows } from "../../engine/resource.ts";
import type { TakenThing } from "../../operation/taking.ts";
import type { Sqlite } from "../database/database.ts";
import { statements } from "../database/statements.ts";

interface Count {
  count: number;
}

/** How many things stand that could be taken away: what a share of a limit is of. Reads only. */
export class LiveRows {
  readonly #of;
  readonly #all;
  readonly #resources: ReadonlyMap<string, ResourceRows>;

  constructor(database: Sqlite, resources: ReadonlyMap<string, ResourceRows>) {
    this.#resources = resources;
    const count = (sql: string) => () => database.prepare<[{ namespace: string; id: string }], Count>(sql);
    const countAll = (sql: string) => () => database.prepare<[], Count>(sql);
    const of = "customer_namespace = +@namespace and customer_id = +@id";
    this.#of = statements.onUse({
      products: count(`select coalesce(sum(products), 0) as count from placed_order where to_at is null and ${of}`),
      accounts: count(`select count(*) as count from staff_link where to_at is null and ${of} and origin = 'created'`),
      locks: count(
        `${liveByType} and p.customer_namespace = +@namespace and p.customer_id = +@id
          and n.customer_namespace = +@namespace and n.customer_id = +@id`,
      ),
    });
    this.#all = statements.onUse({
      products: countAll("select count from tally where name = 'product'"),
      accounts: countAll(
        `select sum(iif(name = 'staff_link', count, 0 - count)) as count from tally
          where name in ('staff_link', 'staff_link adopted')`,
      ),
      locks: countAll(liveByType),
    });
  }

  /** Those of a customer, or of all of them. */
  count(thing: TakenThing, customer: RecordKey | undefined): number {
    for (const rows of this.#resources.values()) {
      const count = rows.count(thing, customer);
      if (count !== undefined) return count;
    }
    if (thing === "seats") return 0;
    const row =
      customer === undefined
        ? this.#all[thing].get()
        : this.#of[thing].get({ namespace: customer.namespace, id: customer.id });
    return row?.count ?? 0;
  }
}

/** Numbers of physical locks, by the form that their order was placed with: from the orders on, each read once. */
export const liveByType = `select count(*) as count from placed_order p
  cross join record_version v on v.stream = 'orders' and v.namespace = p.namespace and v.id = p.order_id
    and v.version = p.version
  cross join json_each(v.body, '$.instances') i
  cross join asset_number n on n.namespace = p.namespace and n.order_id = p.order_id
    and n.instance_id = i.value ->> 'id'
  where i.value ->> 'kind' = 'asset'
    and i.value ->> 'licenseType' in (${physicalLockTypes.map((type) => `'${type}'`).join(", ")})
    and n.fixed_at is not null and n.ended_at is null and p.to_at is null`;
