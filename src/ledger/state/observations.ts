import { canonicalJson, sha256 } from "../../base/canonical-json.ts";
import type { RecordKey } from "../../crm/model.ts";
import type { ObservationChange } from "../../operation/state/observations.ts";
import type { ShownOrder } from "../../plan/adoption.ts";
import { stored } from "../database/stored.ts";
import type { Sqlite } from "../database/database.ts";
import { statements } from "../database/statements.ts";
import { table } from "../database/table.ts";
import type { Writes } from "./writes.ts";

export interface ObservationTable {
  customer_namespace: string;
  customer_id: string;
  kind: string;
  subject: string;
  from_at: string;
  to_at: string | null;
  seen_at: string;
  body: string;
  body_hash: string;
}

export interface ObservationReadTable {
  customer_namespace: string;
  customer_id: string;
  seen_at: string;
  complete: number;
}

export const observationTables = {
  observation: table<ObservationTable>(),
  observation_read: table<ObservationReadTable>(),
};

/** Under which kind the orders are observed that an enterprise showed which somebody else made. */
export const shownOrderKind = "order";

/** What the platform showed of each customer. */
export class ObservationRows {
  readonly #statements;

  constructor(database: Sqlite) {
    this.#statements = prepareStatements(database);
  }

  /** What an adopted enterprise showed under a channel order number when it was examined. */
  shownOrder(customer: RecordKey, channelOrderId: string): ShownOrder | undefined {
    const row = this.#statements.shownOrder.get(customer.namespace, customer.id, shownOrderKind, channelOrderId);
    if (row === undefined) return undefined;
    const { licenceOrders, products } = stored<{
      licenceOrders: Record<string, string>;
      products?: Record<string, string[]>;
    }>(row.body);
    return {
      licenceOrders: new Map(Object.entries(licenceOrders)),
      products: products === undefined ? undefined : new Map(Object.entries(products)),
    };
  }

  readonly writes: Writes<ObservationChange> = {
    observed: ({ customer: { namespace, id }, kind, subject, body }, at) => {
      const run = this.#statements;
      const text = canonicalJson(body);
      const hash = sha256(text);
      if (run.seenAgain.run(at, namespace, id, kind, subject, hash).changes === 1) return;
      run.end.run(at, namespace, id, kind, subject);
      run.begin.run(namespace, id, kind, subject, at, at, text, hash);
    },
    "observed-gone": ({ customer: { namespace, id }, kind, subjects }, at) => {
      this.#statements.gone.run(at, namespace, id, kind, JSON.stringify(subjects));
    },
    "observation-read": ({ customer: { namespace, id }, complete }, at) => {
      this.#statements.read.run(namespace, id, at, complete ? 1 : 0);
    },
  };
}

function prepareStatements(database: Sqlite) {
  return statements.onUse({
    shownOrder: () =>
      database.prepare<[string, string, string, string], Pick<ObservationTable, "body">>(
        `select body from observation where customer_namespace = +? and customer_id = +? and kind = +? and subject = +?
          and to_at is null`,
      ),
    seenAgain: () =>
      database.prepare(
        `update observation set seen_at = ? where customer_namespace = +? and customer_id = +? and kind = +?
       and subject = +? and to_at is null
       and body_hash = +?`,
      ),
    end: () =>
      database.prepare(
        `update observation set to_at = ? where customer_namespace = +? and customer_id = +? and kind = +?
          and subject = +? and to_at is null`,
      ),
    begin: () =>
      database.prepare(
        `insert into observation (customer_namespace, customer_id, kind, subject, from_at, seen_at, body, body_hash)
       values (?, ?, ?, ?, ?, ?, ?, ?)
       on conflict do update set to_at = null, seen_at = excluded.seen_at, body = excluded.body,
       body_hash = excluded.body_hash`,
      ),
    gone: () =>
      database.prepare(
        `update observation set to_at = ? where customer_namespace = +? and customer_id = +? and kind = +?
       and to_at is null
       and subject not in (select value from json_each(?))`,
      ),
    read: () =>
      database.prepare(
        `insert into observation_read (customer_namespace, customer_id, seen_at, complete) values (?, ?, ?, ?)
       on conflict (customer_namespace, customer_id) do update
         set seen_at = excluded.seen_at, complete = excluded.complete`,
      ),
  });
}
