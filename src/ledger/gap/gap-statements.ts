import type { Known } from "../../engine/model/state.ts";
import type { RecordKey } from "../../crm/model.ts";
import type { EarlierUnit } from "../../engine/model/references.ts";
import { holdLife, holdStates } from "../decisions/hold-life.ts";
import type { Sqlite } from "../database/database.ts";
import type { StateRows } from "../state/registry.ts";
import { commitsKey, gapKeys } from "../database/newest.ts";
import { stored } from "../database/damage.ts";
import { WorkTables } from "../records/work.ts";

export interface GapPlace {
  enterpriseGlobalId: string;
  members: readonly string[];
  holders: readonly { assetNumber: string; memberGlobalId: string }[];
}

export interface OpenOperation {
  id: string;
  endpoint: string;
  subject: string;
}

interface RestoreNote {
  backup: string;
  at: string;
  unknown: boolean;
}

export interface OrderAside {
  order: RecordKey;
  channelOrderId: string;
  agrees: boolean;
}

export type NumberAside = Known["numbers"][number] & { channelOrderId: string };

const setAside =
  "p.to_at = @at and p.to_at is not null and p.customer_namespace = +@namespace and p.customer_id = +@id";

const open = "('sending', 'unknown', 'parked')";

const restored = holdStates
  .flatMap((state) => {
    const then = holdLife[state].restored;
    return then === "keep" ? [] : [`when '${state}' then '${then}'`];
  })
  .join(" ");

/**
 * Ends everything at the instant of the gap (`@at`). That instant distinguishes these ends from others. Values that the
 * platform acknowledged go on: no reading shows them, and sending them again does no harm.
 */
const ended: Readonly<Record<string, string>> = {
  links: "update link set to_at = @at where to_at is null",
  orders: "update placed_order set to_at = @at where to_at is null",
  steps: "update order_step set forgotten_at = @at where forgotten_at is null",
  moved: "update moved_order set ended_at = @at where ended_at is null",
  numbers: "update asset_number set ended_at = @at where fixed_at is not null and ended_at is null",
  // A free number may have been used after the backup.
  unusedNumbers: "update asset_number set fixed_at = @at, ended_at = @at, wire_number = number where fixed_at is null",
  amendmentNumbers: "update amendment_number set used_at = @at where used_at is null",
  accounts: "update staff_link set to_at = @at where to_at is null",
  assignments: "update assignment set to_at = @at where to_at is null",
  requests: "update manual_request set to_at = @at, due = 0 where to_at is null and due = 1",
  observations: "update observation set to_at = @at where to_at is null",
  differences: "update difference set ended_at = @at where ended_at is null",
  // Approvals and questions may have been answered after the backup.
  holds: `update hold set state = case state ${restored} end, ended_at = @at, ended_why = @why
    where state in ('asked', 'approved')`,
  questions: `update question set state = iif(exists (select 1 from hold h where h.question_id = question.id
      and h.state = 'rejected'), 'rejected', 'moot'), decided_at = @at, reason = @why
    where state in ('open', 'approved')`,
  operations: `update operation set state = 'dropped', updated_at = @at, outcome_message = @why
    where state in ${open} or state in ('planned', 'held')`,
};

/** Writes run inside the writer's transaction. */
export class GapStatements {
  readonly #database: Sqlite;
  readonly #resources: StateRows["resources"];

  constructor(database: Sqlite, { resources }: Pick<StateRows, "resources">) {
    this.#database = database;
    this.#resources = resources;
  }

  openSince(): string | undefined {
    return this.#meta(gapKeys.open);
  }

  gap(): string | undefined {
    return this.#meta(gapKeys.gap);
  }

  restored(): RestoreNote | undefined {
    const text = this.#meta(gapKeys.restored);
    return text === undefined ? undefined : stored<RestoreNote>(text);
  }

  commits(): number {
    return Number(this.#meta(commitsKey) ?? 0);
  }

  lastEntryAt(): string | undefined {
    return this.#database.prepare<[], string>("select at from audit order by sequence desc limit 1").pluck().get();
  }

  /** An instant at which nothing has ended yet. */
  momentAfter(now: string): string {
    const taken = this.#database
      .prepare<[{ now: string }], string | null>(
        `select max(at) from (select max(to_at) as at from placed_order union all select max(to_at) from link
          union all select max(to_at) from staff_link union all select max(to_at) from assignment
          union all select max(forgotten_at) from order_step union all select max(ended_at) from asset_number
          union all select max(ended_at) from moved_order)
          where at >= @now`,
      )
      .pluck()
      .get({ now });
    return taken === null || taken === undefined ? now : new Date(Date.parse(taken) + 1).toISOString();
  }

  inDoubt(): OpenOperation[] {
    return this.#database
      .prepare<[], OpenOperation>(
        `select id, endpoint, subject from operation where state in ${open} order by created_at, id`,
      )
      .all();
  }

  /** Ends all known state and marks every customer for work. Returns the number of rows by name. */
  setAside(at: string, why: string): Record<string, number> {
    const counts: Record<string, number> = {};
    for (const [name, sql] of Object.entries(ended)) {
      const values = sql.includes("@why") ? { at, why } : { at };
      counts[name] = this.#database.prepare(sql).run(values).changes;
    }
    this.#database.prepare("update observation_read set shown_hash = null").run();
    new WorkTables(this.#database).markPending("all");
    return counts;
  }

  notLookedAt({ namespace, id }: RecordKey, at: string): void {
    this.#database
      .prepare(
        `insert into unread_customer (namespace, id, since, all_orders, why) values (?, ?, ?, 1, ?)
         on conflict do update set since = excluded.since, all_orders = 1, why = excluded.why, ended_at = null`,
      )
      .run(namespace, id, at, "the ledger was restored, and not all customers were looked at");
  }

  /** From now on this ledger is the newest one, and only a rebuild may open it. */
  keep(gap: { at: string }, commits: number): void {
    const set = this.#database.prepare(
      "insert into meta (key, value) values (?, ?) on conflict (key) do update set value = excluded.value",
    );
    set.run(gapKeys.gap, JSON.stringify(gap));
    set.run(gapKeys.open, gap.at);
    set.run(commitsKey, String(commits));
  }

  close(): void {
    this.#database.prepare("delete from meta where key in (?, ?)").run(gapKeys.open, gapKeys.restored);
  }

  orders({ namespace, id }: RecordKey, at: string): OrderAside[] {
    return this.#database
      .prepare<
        [{ namespace: string; id: string; at: string }],
        { namespace: string; id: string; channelOrderId: string; agrees: number }
      >(
        // A moving order is read again: several customers may have it.
        `select p.namespace, p.order_id as id, p.channel_order_id as channelOrderId,
           coalesce(p.agreed_hash, p.body_hash) = r.body_hash and r.state = 'current' as agrees
         from placed_order p
         left join record r on r.stream = 'orders' and r.namespace = p.namespace and r.id = p.order_id
         where ${setAside}
           and (r.id is null or (r.customer_namespace = p.customer_namespace and r.customer_id = p.customer_id))
           and p.placed_for_id is null
           and not exists (select 1 from placed_order n where n.namespace = p.namespace and n.order_id = p.order_id
             and n.to_at is null)
           and not exists (select 1 from moved_order m where m.namespace = p.namespace and m.order_id = p.order_id
             and (m.ended_at is null or m.ended_at = @at))
         order by p.from_at, p.namespace, p.order_id`,
      )
      .all({ namespace, id, at })
      .map((row) => ({
        order: { namespace: row.namespace, id: row.id },
        channelOrderId: row.channelOrderId,
        agrees: row.agrees === 1,
      }));
  }

  numbers({ namespace, id }: RecordKey, at: string): NumberAside[] {
    const owned = (table: string, column: string): string =>
      `select n.wire_number as number, n.namespace, n.order_id as orderId, n.instance_id as instanceId, n.unit,
         p.channel_order_id as channelOrderId, null as continues
       from placed_order p cross join ${table} n on n.namespace = p.namespace and n.order_id = p.order_id
         and n.customer_namespace = p.customer_namespace and n.customer_id = p.customer_id and n.unit is not null
       where ${setAside} and n.${column} = @at and n.fixed_at is not null`;
    return this.#database
      .prepare<[{ namespace: string; id: string; at: string }], NumberAside & { continues: string | null }>(
        `${owned("asset_number", "ended_at")} union ${owned("earlier_number", "left_at")}
         union select i.value ->> 'number', s.namespace, s.order_id, i.value ->> 'instanceId', i.value ->> 'unit',
           p.channel_order_id, i.value ->> 'continues'
         from placed_order p cross join order_step s on s.namespace = p.namespace and s.order_id = p.order_id
           and s.customer_namespace = p.customer_namespace and s.customer_id = p.customer_id
           join json_each(s.items) i
         where ${setAside} and s.forgotten_at = @at and s.kind = 'bought' and i.value ->> 'continues' is not null
           and i.value ->> 'number' is not null
         order by 2, 3, 4, 5, 7`,
      )
      .all({ namespace, id, at })
      .map(({ continues, ...item }) =>
        continues === null ? item : { ...item, continues: stored<EarlierUnit[]>(continues) },
      );
  }

  /** `unitStands`: the unit that first had this number also still exists. */
  bringNumber(number: string, unitStands: boolean, at: string): void {
    if (!unitStands) this.#resources.order.numbers.keepEarlier(number, at);
    this.#database
      .prepare(
        `update asset_number set ended_at = null, unit = case when @stands = 1 then unit end
          where wire_number = @number and ended_at = @at and fixed_at is not null and order_id is not null`,
      )
      .run({ number, at, stands: unitStands ? 1 : 0 });
  }

  wasPlaced({ namespace, id }: RecordKey, at: string): boolean {
    return (
      this.#database
        .prepare("select 1 from placed_order where to_at = ? and namespace = +? and order_id = +?")
        .get(at, namespace, id) !== undefined
    );
  }

  /** Brings an order back (from the instant of the gap to null), or sets it aside again. */
  changeOrder({ namespace, id }: RecordKey, { from, to }: { from: string | null; to: string | null }): void {
    for (const [table, column] of [
      ["placed_order", "to_at"],
      ["order_step", "forgotten_at"],
      ["asset_number", "ended_at"],
    ])
      this.#database
        .prepare(
          `update ${table} set ${column} = @to where namespace = @namespace and order_id = @id and ${column} is @from
            ${table === "asset_number" ? "and fixed_at is not null" : ""}`,
        )
        .run({ namespace, id, to, from });
  }

  bringPeople({ namespace, id }: RecordKey, { enterpriseGlobalId, members, holders }: GapPlace, at: string): void {
    const of = { namespace, id, at };
    this.#database
      .prepare(
        `update staff_link set to_at = null, ended_by = null
          where customer_namespace = +@namespace and customer_id = +@id and to_at = @at
          and to_at is not null and enterprise_global_id = @enterprise
          and member_global_id in (select value from json_each(@members))
          and not exists (select 1 from staff_link n where n.to_at is null
            and n.member_global_id = staff_link.member_global_id)
          and not exists (select 1 from staff_link n where n.to_at is null and n.namespace = staff_link.namespace
            and n.staff_id = staff_link.staff_id and n.customer_namespace = @namespace and n.customer_id = @id)`,
      )
      .run({ ...of, enterprise: enterpriseGlobalId, members: JSON.stringify(members) });
    this.#database
      .prepare(
        `update assignment set to_at = null
          where customer_namespace = +@namespace and customer_id = +@id and to_at = @at and to_at is not null
          and (asset_number, member_global_id) in (
            select value ->> 'assetNumber', value ->> 'memberGlobalId' from json_each(@holders))
          and not exists (select 1 from assignment n where n.asset_number = assignment.asset_number
            and n.to_at is null)
          and exists (select 1 from staff_link s where s.member_global_id = assignment.member_global_id
            and s.to_at is null and s.namespace = assignment.namespace and s.staff_id = assignment.staff_id)`,
      )
      .run({ ...of, holders: JSON.stringify(holders) });
  }

  #meta(key: string): string | undefined {
    return this.#database.prepare<[string], string>("select value from meta where key = +?").pluck().get(key);
  }
}
