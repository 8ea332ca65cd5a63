import type { DateZones, RecordKey, Stream } from "../../crm/model.ts";
import { formatKey } from "../../crm/keys.ts";
import { stored } from "../database/damage.ts";
import { inTemporarySpace, temporaryDatabase, type TemporaryOptions } from "../database/temporary.ts";
import { isJsonObject, parseJsonObject, type JsonObject } from "../../base/canonical-json.ts";
import { namedIn, nameKey } from "../../crm/name-keys.ts";
import { suspectCodes, type SuspectCode } from "../../report/next-steps.ts";
import type { Sqlite } from "../database/database.ts";
import { prepared, sql } from "../database/statements.ts";
import type { Row } from "../tables.ts";

/** A record to take up. `rawHash` covers the raw form and the mapping. */
export interface IngestedRecord {
  rawHash: string;
  place: string;
  key: RecordKey;
  customer: RecordKey;
  record: JsonObject;
  zones?: DateZones | undefined;
  /** Without secrets. */
  raw: string;
}

/** An unusable record. `raw` has no secrets. */
export interface IngestedRejection {
  rawHash: string;
  place: string;
  key: RecordKey | undefined;
  customer: RecordKey | undefined;
  field: string;
  code: string;
  message: string;
  expected: string | undefined;
  raw: string;
  /** The record that it may be, which is therefore not missing. */
  twin?: RecordKey | undefined;
}

export type MappedRow = { record: IngestedRecord } | { rejection: IngestedRejection };

const page = 500;

export function keyOfRow(row: MappedRow): RecordKey | undefined {
  return "record" in row ? row.record.key : row.rejection.key;
}

/** New and changed rows of a read, until it is believed: neither in memory nor in the ledger. */
export class StagedRecords {
  readonly #database;
  readonly #insert;
  #size = 0;

  constructor(options?: TemporaryOptions) {
    const schema = "create table staged (number integer primary key, key text, row text not null) strict";
    this.#database = temporaryDatabase(schema, options);
    this.#insert = this.#database.prepare("insert into staged (key, row) values (?, ?)");
  }

  get size(): number {
    return this.#size;
  }

  put(rows: readonly MappedRow[]): void {
    inTemporarySpace(() => {
      for (const row of rows) {
        const key = keyOfRow(row);
        this.#insert.run(key === undefined ? null : formatKey(key), JSON.stringify(row));
      }
    });
    this.#size += rows.length;
  }

  *pages(): Generator<MappedRow[], void, void> {
    const next = this.#database.prepare<[number, number], { number: number; row: string }>(
      "select number, row from staged where number > ? order by number limit ?",
    );
    for (let last = 0; ;) {
      const found = inTemporarySpace(() => next.all(last, page));
      const end = found.at(-1);
      if (end === undefined) return;
      last = end.number;
      yield found.map(({ row }) => stored<MappedRow>(row));
    }
  }

  /** The last row of each key, by `formatKey`. */
  find(keys: readonly RecordKey[]): Map<string, MappedRow> {
    const rows = inTemporarySpace(() => {
      this.#database.exec("create index if not exists staged_by_key on staged (key)");
      return this.#database
        .prepare<[string], { key: string; row: string }>(
          "select key, row from staged where key in (select value from json_each(?)) order by number",
        )
        .all(JSON.stringify(keys.map(formatKey)));
    });
    return new Map(rows.map(({ key, row }) => [key, stored<MappedRow>(row)]));
  }

  /** The place of an unusable row that may contain this text, or whose form is gone. */
  unusableRow(text: string): string | undefined {
    const row = "(row ->> '$.rejection.raw')";
    const statement = `select row ->> '$.rejection.place' from staged
      where ${row} = '' or ${row} is not null and ${mayName(row, "@text")} limit 1`;
    return inTemporarySpace(() => this.#database.prepare<[{ text: string }], string>(statement).pluck().get({ text }));
  }

  close(): void {
    this.#database.close();
  }
}

/** A record that waits in quarantine until a person confirms it, or until its question is moot. */
export interface Suspect {
  code: SuspectCode;
  message: string;
  /** The record's customer in the ledger. Nothing of this customer is removed meanwhile. */
  customer: RecordKey | undefined;
  /** The similar record that is missing from the read. It does not count as missing meanwhile. */
  twin?: RecordKey | undefined;
}

/** A suspect of an earlier read. With `retry` a person accepted the form with this hash. */
export interface OpenSuspect extends Suspect {
  key: RecordKey;
  rawHash: string;
  state: "open" | "retry";
}

/** SQL: whether only a person may accept a `quarantine` row unchanged. */
export const isSuspectRow = `code in (select value from json_each('${JSON.stringify(suspectCodes)}'))`;

type SuspectRow = Row<"quarantine", "customer_namespace" | "customer_id" | "twin_namespace" | "twin_id"> &
  RecordKey &
  Pick<OpenSuspect, "code" | "message" | "rawHash" | "state">;

/** A record of the ledger with its private values. Erased values and secrets are markers: see `isWithheld`. */
export interface KnownRecord {
  key: RecordKey;
  customer: RecordKey;
  source: string;
  state: Row<"record", "state">["state"];
  rawHash: string;
  lastRead: number;
  /** How many whole reads in a row missed it. */
  missed: number;
  record: JsonObject;
}

interface KnownRow extends Row<
  "record",
  "namespace" | "id" | "source" | "state" | "missed" | "customer_namespace" | "customer_id"
> {
  rawHash: string;
  lastRead: number;
  body: string;
  values: string | null;
}

const columns =
  'r.namespace, r.id, r.customer_namespace, r.customer_id, r.source, r.state, r.missed, r.raw_hash as rawHash, r.last_read as lastRead, v.body, p.body as "values"';
const joined = `cross join record_version v on v.stream = r.stream and v.namespace = r.namespace and v.id = r.id
    and v.version = r.version
  left join private_value p on p.ref = r.stream || '/' || r.namespace || '/' || r.id and p.version = r.version`;

/** SQL: whether a row may contain this line. A mapping may join several values to an id, so one part is enough. */
export function mayName(row: string, line: string): string {
  return `iif(json_valid(${row}), exists (select 1 from json_tree(${row}) e where e.type in ('text', 'integer')
    and (e.value = ${line} or length(e.value) > 1 and instr(${line}, e.value) > 0)), instr(${row}, ${line}) > 0)`;
}

export function isWithheld(value: unknown): boolean {
  return typeof value === "object" && value !== null && "commitment" in value;
}

export class KnownRecords {
  readonly #statements;

  constructor(database: Sqlite) {
    this.#statements = prepared(database, {
      ofKeys: sql<[string, string], KnownRow>`select ${columns} from json_each(?) key
        cross join record r on r.stream = ? and r.namespace = key.value ->> 'namespace'
          and r.id = key.value ->> 'id'
        ${joined}`,
      any: sql<[string, number], { id: string }>`
        select id from record where stream = ? and last_read < ? limit 1`,
      suspects: sql<[string, string, string], SuspectRow>`
        select q.namespace, q.record_id as id, q.code, q.message, q.raw_hash as rawHash, q.state, q.customer_namespace,
            q.customer_id, q.twin_namespace, q.twin_id
          from json_each(?) key cross join quarantine q indexed by quarantine_by_record on q.stream = ?
            and q.namespace = key.value ->> 'namespace' and q.record_id = key.value ->> 'id' and q.state <> 'resolved'
          where q.source = +? and ${isSuspectRow}`,
      missed: sql<[string, string, string], RecordKey>`select r.namespace, r.id from json_each(?) key
        cross join record r on r.stream = ? and r.namespace = key.value ->> 'namespace' and r.id = key.value ->> 'id'
        where r.source = ? and r.missed > 0 and r.state <> 'absent'`,
      ofCustomers: sql<[string, string], KnownRow>`select ${columns} from json_each(?) key
        cross join record r indexed by record_by_customer on r.customer_namespace = key.value ->> 'namespace'
          and r.customer_id = key.value ->> 'id' and r.stream = ?
        ${joined} where r.state <> 'absent'`,
      unusableRow: sql<
        [RecordKey & { source: string; stream: Stream; text: string; since: number }],
        { place: string }
      >`
        select q.place from quarantine q left join private_value p on p.ref = q.raw_ref
          where q.source = +@source and q.stream = +@stream and q.state <> 'resolved' and q.last_read >= @since
            and (q.namespace, q.record_id) is not (@namespace, @id)
            and (coalesce(p.body, '') = '' or ${mayName("p.body", "@text")}) limit 1`,
      named: sql<[string, string], KnownRow>`with found (stream, key, version) as (
          select substr(n.ref, 1, instr(n.ref, '/') - 1), substr(n.ref, instr(n.ref, '/') + 1), n.version
            from json_each(?) name
            cross join private_value n indexed by private_value_by_name on n.name_key = name.value)
        select ${columns} from found
        cross join record r on r.stream = ? and r.stream = found.stream
          and r.namespace = substr(found.key, 1, instr(found.key, '/') - 1)
          and r.id = substr(found.key, instr(found.key, '/') + 1) and r.version = found.version
        ${joined} where r.state <> 'absent'`,
    });
  }

  of(stream: Stream, keys: readonly RecordKey[]): KnownRecord[] {
    return this.#statements.ofKeys.all(JSON.stringify(keys), stream).map(known);
  }

  /** Whether any source ever sent a record of the stream before the read `first`. */
  hasAny(stream: Stream, first: number): boolean {
    return this.#statements.any.get(stream, first) !== undefined;
  }

  suspects(source: string, stream: Stream, keys: readonly RecordKey[]): OpenSuspect[] {
    return this.#statements.suspects.all(JSON.stringify(keys), stream, source).map(suspect);
  }

  missedOf(source: string, stream: Stream, keys: readonly RecordKey[]): RecordKey[] {
    return this.#statements.missed.all(JSON.stringify(keys), stream, source);
  }

  ordersOf(customers: readonly RecordKey[]): KnownRecord[] {
    return this.#statements.ofCustomers.all(JSON.stringify(customers), "orders").map(known);
  }

  /** The place of another record's quarantined row since a read that may contain this text, or whose form is gone. */
  unusableRow(
    read: { source: string; stream: Stream },
    text: string,
    of: RecordKey,
    since: number,
  ): string | undefined {
    const { source, stream } = read;
    return this.#statements.unusableRow.get({ source, stream, text, since, namespace: of.namespace, id: of.id })?.place;
  }

  /** Customers or staff with these names, ignoring case and spaces. */
  named(stream: Stream, names: readonly string[]): KnownRecord[] {
    const keys = new Set(names.flatMap((name) => namedIn[stream].map((named) => nameKey(named, name))));
    return this.#statements.named.all(JSON.stringify([...keys]), stream).map(known);
  }
}

function suspect({ namespace, id, ...row }: SuspectRow): OpenSuspect {
  const keyOf = (of: string | null, own: string | null) =>
    of === null || own === null ? undefined : { namespace: of, id: own };
  const customer = keyOf(row.customer_namespace, row.customer_id);
  return { ...row, key: { namespace, id }, customer, twin: keyOf(row.twin_namespace, row.twin_id) };
}

function known({ namespace, id, customer_namespace, customer_id, body, values, ...row }: KnownRow): KnownRecord {
  const record = parseJsonObject(body);
  const own = values === null ? {} : parseJsonObject(values);
  for (const [field, value] of Object.entries(record))
    if (isJsonObject(value) && isWithheld(value) && own[field] !== undefined) record[field] = own[field];
  const customer = { namespace: customer_namespace, id: customer_id };
  return { ...row, key: { namespace, id }, customer, record };
}
