import { canonicalJson, sha256 } from "../../base/canonical-json.ts";
import type { RecordKey } from "../../crm/model.ts";
import type { ProductInstance } from "../../contract/asset-contents.ts";
import { stored } from "../database/damage.ts";
import type { Sqlite } from "../database/database.ts";
import { prepared, sql, table } from "../database/statements.ts";
import type { Writes } from "../../engine/model/resource.ts";
import { handedIn } from "../../engine/model/registry.ts";

export type ShownForm = {
  [
    Field in
      | "productUri"
      | "gmsPid"
      | "appKey"
      | "limitConcurrent"
      | "limitStartTime"
      | "limitEndTime"
      | "trial"
      | "timeDurationExpression"
  ]: Exclude<ProductInstance[Field], undefined>;
};

export interface ShownOrder {
  licenceOrders: ReadonlyMap<string, string>;
  products: ReadonlyMap<string, readonly string[]>;
  forms: ReadonlyMap<string, readonly ShownForm[]>;
}

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

/** `shown_at` and `shown_hash` are of the last complete reading. */
export interface ObservationReadTable {
  customer_namespace: string;
  customer_id: string;
  seen_at: string;
  complete: number;
  shown_at: string | null;
  shown_hash: string | null;
}

type CustomerReadingTable = Omit<ObservationReadTable, "shown_hash">;

export const observationTables = {
  customer_reading: table<CustomerReadingTable>(),
  observation: table<ObservationTable>(),
  observation_read: table<ObservationReadTable>(),
};

export const shownOrderKind = "order";

export const candidatesKind = "candidates";

/** The kind for parts missing from readings of an order that should be removed. */
export const absentKind = "absent";

export interface Absences {
  form: string;
  left: Record<string, { since: string; readings: number }>;
}

/** The kind that marks a customer with work left by a rebuild. */
export const rebuiltKind = "rebuilt";

interface Thing {
  kind: string;
  subject: string;
  text: string;
}

export class ObservationRows {
  readonly #statements;

  constructor(database: Sqlite) {
    this.#statements = prepared(database, texts);
  }

  shownOrder(customer: RecordKey, channelOrderId: string): ShownOrder | undefined {
    const row = this.#statements.shownOrder.get(customer.namespace, customer.id, shownOrderKind, channelOrderId);
    if (row === undefined) return undefined;
    const { licenceOrders, products, forms } = stored<{
      licenceOrders: Record<string, string>;
      products: Record<string, string[]>;
      forms: Record<string, ShownForm[]>;
    }>(row.body);
    return {
      licenceOrders: new Map(Object.entries(licenceOrders)),
      products: new Map(Object.entries(products)),
      forms: new Map(Object.entries(forms)),
    };
  }

  absences(customer: RecordKey, order: string): Absences | undefined {
    const row = this.#statements.shownOrder.get(customer.namespace, customer.id, absentKind, order);
    return row === undefined ? undefined : stored<Absences>(row.body);
  }

  shownNumbers({ namespace, id }: RecordKey): string[] {
    return this.#statements.standing.all(namespace, id, JSON.stringify([shownOrderKind])).map(({ subject }) => subject);
  }

  hasOrders(): boolean {
    return this.#statements.anyOrder.get() !== undefined;
  }

  /** Other customers' enterprises that show this number, or one with this beginning, in key order. */
  shownElsewhere(
    { namespace, id }: RecordKey,
    { number, beginning }: { number: string; beginning: string },
  ): { customer: RecordKey; number: string }[] {
    const rows = this.#statements.elsewhere.all({ namespace, id, number, beginning, end: `${beginning}\u{10ffff}` });
    return rows.map((row) => ({ customer: { namespace: row.namespace, id: row.id }, number: row.number }));
  }

  #observe({ namespace, id }: RecordKey, { kind, subject, text }: Thing, at: string): void {
    const run = this.#statements;
    const hash = sha256(text);
    if (run.seenAgain.run(at, namespace, id, kind, subject, hash).changes === 1) return;
    run.end.run(at, namespace, id, kind, subject);
    this.#begin({ namespace, id }, { kind, subject, text }, hash, at);
  }

  #begin({ namespace, id }: RecordKey, { kind, subject, text }: Thing, hash: string, at: string): void {
    this.#statements.begin.run(namespace, id, kind, subject, at, at, text, hash);
  }

  readonly writes = {
    observed: ({ customer, kind, subject, body }, at) => {
      this.#statements.forgetShown.run(customer.namespace, customer.id);
      this.#observe(customer, { kind, subject, text: canonicalJson(body) }, at);
    },
    "observed-all": ({ customer, kinds, shown }, at) => {
      const things = new Map<string, Thing>();
      for (const { kind, subject, body } of shown)
        things.set(JSON.stringify([kind, subject]), { kind, subject, text: canonicalJson(body) });
      const { namespace, id } = customer;
      const run = this.#statements;
      const hash = sha256(JSON.stringify([kinds, [...things].map(([name, { text }]) => name + text).sort()]));
      // Usually nothing changed. Then one statement is enough and the rows stay.
      if (run.shownAgain.run(at, at, namespace, id, hash).changes === 1) return;
      const before = new Set<string>();
      for (const { kind, subject } of run.standing.all(namespace, id, JSON.stringify(kinds))) {
        const name = JSON.stringify([kind, subject]);
        before.add(name);
        if (!things.has(name)) run.end.run(at, namespace, id, kind, subject);
      }
      for (const [name, thing] of things)
        if (before.has(name)) this.#observe(customer, thing, at);
        else this.#begin(customer, thing, sha256(thing.text), at);
      run.shown.run(namespace, id, at, at, hash);
    },
    "observation-ended": ({ customer: { namespace, id }, kind, subject }, at) => {
      this.#statements.forgetShown.run(namespace, id);
      this.#statements.end.run(at, namespace, id, kind, subject);
    },
    "observation-failed": ({ customer: { namespace, id } }, at) => {
      this.#statements.failed.run(namespace, id, at);
    },
  } satisfies Writes;
}

const elsewhere = `select customer_namespace as namespace, customer_id as id, subject as number
  from observation indexed by observation_of_order
  where kind = '${shownOrderKind}' and to_at is null and not (customer_namespace = @namespace and customer_id = @id)`;

const texts = {
  anyOrder: sql`select 1 from observation indexed by observation_of_order where kind = '${shownOrderKind}'
    and to_at is null and subject >= '' limit 1`,
  elsewhere: sql<
    [{ namespace: string; id: string; number: string; beginning: string; end: string }],
    RecordKey & { number: string }
  >`
    ${elsewhere} and subject = @number union ${elsewhere} and subject between @beginning and @end
      order by 1, 2, 3`,
  shownOrder: sql<[string, string, string, string], Pick<ObservationTable, "body">>`
    select body from observation where customer_namespace = +? and customer_id = +? and kind = +? and subject = +?
      and to_at is null`,
  seenAgain: sql`update observation set seen_at = ? where customer_namespace = +? and customer_id = +? and kind = +?
    and subject = +? and to_at is null
    and body_hash = +?`,
  standing: sql<[string, string, string], Pick<ObservationTable, "kind" | "subject">>`
    select kind, subject from observation where customer_namespace = +? and customer_id = +?
      and kind in (select value from json_each(?)) and to_at is null`,
  shownAgain: sql`update observation_read set seen_at = ?, shown_at = ?
    where customer_namespace = +? and customer_id = +? and complete = 1 and shown_hash = +?`,
  forgetShown: sql`update observation_read set shown_hash = null
    where customer_namespace = +? and customer_id = +? and shown_hash is not null`,
  end: sql`update observation set to_at = ? where customer_namespace = +? and customer_id = +? and kind = +?
    and subject = +? and to_at is null`,
  begin: sql`insert into observation (customer_namespace, customer_id, kind, subject, from_at, seen_at, body, body_hash)
    values (?, ?, ?, ?, ?, ?, ?, ?)
    on conflict do update set to_at = null, seen_at = excluded.seen_at, body = excluded.body,
    body_hash = excluded.body_hash`,
  shown: sql`insert into observation_read (customer_namespace, customer_id, seen_at, complete, shown_at, shown_hash)
       values (?, ?, ?, 1, ?, ?)
    on conflict (customer_namespace, customer_id) do update set seen_at = excluded.seen_at, complete = 1,
      shown_at = excluded.shown_at, shown_hash = excluded.shown_hash`,
  failed: sql`insert into observation_read (customer_namespace, customer_id, seen_at, complete) values (?, ?, ?, 0)
    on conflict (customer_namespace, customer_id) do update set seen_at = excluded.seen_at, complete = 0`,
};

export interface Held {
  [resource: string]: number;
  open: number;
  waits: number;
  held: number;
  asked: number;
  rejected: number;
  /** Somebody's row is in quarantine. */
  quarantined: number;
  /** After a rebuild: earlier decisions are unknown, and operations are left. */
  rebuilt: number;
  unread: number;
}

/** One query instead of many: most customers of a first run have no rows. Reads only. */
export class HeldRows {
  readonly #statements;

  constructor(database: Sqlite) {
    this.#statements = prepareStatements(database);
  }

  of({ namespace, id }: RecordKey): Held {
    const held = this.#statements.held.get({ namespace, id });
    if (held === undefined) throw new Error("a question that always has an answer had none");
    return held;
  }
}

function prepareStatements(database: Sqlite) {
  const resources = handedIn().resources.flatMap(({ state }) =>
    Object.entries(state?.holds ?? {}).map(([name, holds]) => `${holds} as ${name}, `),
  );
  const of = "customer_namespace = +@namespace and customer_id = +@id";
  return prepared(database, {
    held: sql<[RecordKey], Held>`select ${resources.join("")}
      exists (select 1 from operation where state in ('sending', 'unknown', 'parked') and ${of}) as open,
      exists (select 1 from operation where state in ('planned', 'held') and ${of}) as waits,
      exists (select 1 from hold where state in ('asked', 'approved', 'rejected') and ${of}) as held,
      exists (select 1 from manual_request where ${of}) as asked,
      exists (select 1 from rejection where ${of}) as rejected,
      exists (select 1 from quarantine where state <> 'resolved') as quarantined,
      exists (select 1 from observation where ${of} and kind = '${rebuiltKind}' and to_at is null) as rebuilt,
      exists (select 1 from unread_customer where namespace = +@namespace and id = +@id and ended_at is null)
        as unread`,
  });
}
