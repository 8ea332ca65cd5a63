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

/** Something that was shown, as a row keeps it. */
interface Thing {
  kind: string;
  subject: string;
  text: string;
  hash: string;
}

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

  #observe({ namespace, id }: RecordKey, { kind, subject, text, hash }: Thing, at: string): void {
    const run = this.#statements;
    if (run.seenAgain.run(at, namespace, id, kind, subject, hash).changes === 1) return;
    run.end.run(at, namespace, id, kind, subject);
    run.begin.run(namespace, id, kind, subject, at, at, text, hash);
  }

  readonly writes: Writes<ObservationChange> = {
    observed: ({ customer, kind, subject, body }, at) => {
      const text = canonicalJson(body);
      this.#observe(customer, { kind, subject, text, hash: sha256(text) }, at);
    },
    "observed-all": ({ customer, kinds, shown }, at) => {
      const things = new Map<string, Thing>();
      for (const { kind, subject, body } of shown) {
        const text = canonicalJson(body);
        things.set(JSON.stringify([kind, subject]), { kind, subject, text, hash: sha256(text) });
      }
      const { namespace, id } = customer;
      const run = this.#statements;
      const before = run.standing.all(namespace, id, JSON.stringify(kinds));
      // Mostly the same is shown as before: then one statement says so.
      if (
        before.length === things.size &&
        before.every((row) => things.get(JSON.stringify([row.kind, row.subject]))?.hash === row.body_hash)
      ) {
        if (before.length > 0) run.allSeenAgain.run(at, namespace, id, JSON.stringify(kinds));
        return;
      }
      for (const thing of things.values()) this.#observe(customer, thing, at);
      for (const { kind, subject } of before)
        if (!things.has(JSON.stringify([kind, subject]))) run.end.run(at, namespace, id, kind, subject);
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
    standing: () =>
      database.prepare<[string, string, string], Pick<ObservationTable, "kind" | "subject" | "body_hash">>(
        `select kind, subject, body_hash from observation where customer_namespace = +? and customer_id = +?
       and kind in (select value from json_each(?)) and to_at is null`,
      ),
    allSeenAgain: () =>
      database.prepare(
        `update observation set seen_at = ? where customer_namespace = +? and customer_id = +?
       and kind in (select value from json_each(?)) and to_at is null`,
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
    read: () =>
      database.prepare(
        `insert into observation_read (customer_namespace, customer_id, seen_at, complete) values (?, ?, ?, ?)
       on conflict (customer_namespace, customer_id) do update
         set seen_at = excluded.seen_at, complete = excluded.complete`,
      ),
  });
}
