import { parseKey } from "../../crm/keys.ts";
import type { RecordKey, Stream } from "../../crm/model.ts";
import type { Sqlite } from "../database/database.ts";
import { column, prepared, sql } from "../database/statements.ts";
import type { OperationState } from "../journal/tables.ts";
import type { FullRow, Row } from "../tables.ts";
import { erasedMark, keptOfOthers, type Kept, type KeptOfOthers } from "./erased-texts.ts";

/** A customer with its staff, or one person. */
export type Erasable = { customer: RecordKey } | { person: RecordKey };

export type RecordOfErasable = Row<"record", "stream" | "namespace" | "id" | "source" | "state" | "pending"> & {
  customer: RecordKey;
};

export type RecordOfSource = Row<"record", "stream" | "namespace" | "id" | "source">;

export type WaitingForm = Row<"quarantine", "id" | "source" | "stream" | "place">;

type UnreadForm = FullRow<"private_value", "ref" | "body"> & { place: string | null };

export type OpenOperation = Row<"operation", "id" | "endpoint" | "subject"> & { state: OperationState };

export interface StandingOnPlatform {
  what: "account" | "enterprise";
  id: string;
  of: string;
}

export interface ShownEntry {
  sequence: number;
  at: string;
  by: string;
}

const customerIs = "customer_namespace = +@namespace and customer_id = +@id";
const holdsAnything = "(salt is not null or body is not null or sealed is not null)";

/** `held` and `planned` operations may still be carried out. */
const notOver = "state in ('planned', 'held', 'sending', 'unknown', 'parked')";

/** Writes run inside the writer's transaction. */
export class ErasureTables {
  readonly #statements;

  constructor(database: Sqlite) {
    this.#statements = prepareStatements(database);
  }

  recordsOf(whose: Erasable): RecordOfErasable[] {
    const rows =
      "customer" in whose
        ? this.#statements.recordsOfCustomer.all(whose.customer)
        : this.#statements.person.all(whose.person);
    return rows.map(({ customer_namespace: namespace, customer_id: id, ...row }) => ({
      ...row,
      customer: { namespace, id },
    }));
  }

  customersOf(whose: Erasable, records: readonly RecordOfErasable[]): RecordKey[] {
    if ("customer" in whose) return [whose.customer];
    const all = [...records.map(({ customer }) => customer), ...this.#statements.accountsOf.all(whose.person)];
    return [...new Map(all.map((key) => [`${key.namespace}/${key.id}`, key])).values()];
  }

  /** Values under one of these names, or under a name with one of these beginnings. */
  kept(refs: readonly string[], beginnings: readonly string[]): Kept[] {
    return [
      ...this.#statements.kept.all(JSON.stringify([...new Set(refs)])),
      ...beginnings.flatMap((beginning) => this.#statements.keptFrom.all(beginning, `${beginning}\u{10ffff}`)),
    ];
  }

  bodies(refs: readonly string[]): string[] {
    return this.#statements.bodies.all(JSON.stringify(refs)).map(({ body }) => body);
  }

  wipe({ ref, version }: Kept, at: string): void {
    this.#statements.wipe.run(at, ref, version);
  }

  /** Raw forms of records that belonged to this customer at the time, even if they moved since. */
  formerForms(customer: RecordKey): Kept[] {
    return this.#statements.formerForms.all(customer);
  }

  quarantineForms(whose: Erasable): string[] {
    const rows =
      "customer" in whose
        ? this.#statements.formsOfCustomer.all(whose.customer)
        : this.#statements.formsOfPerson.all(whose.person);
    return rows.map((row) => row.raw_ref);
  }

  *formsOfNobody(): IterableIterator<UnreadForm> {
    yield* this.#statements.formsOfNobody.iterate();
  }

  *ofOthers(): IterableIterator<KeptOfOthers> {
    yield* this.#statements.ofOthers.iterate();
  }

  /** The record of these values or this raw form, if the CRM still has it. */
  givenRecord(ref: string): RecordOfSource | undefined {
    const [, stream, key] = /^(?:raw:)?(customers|orders|staff)\/(.*)$/su.exec(ref) ?? [];
    if (stream === undefined || key === undefined) return undefined;
    return this.#statements.givenRecord.get({ stream, ...parseKey(key) });
  }

  givenRow(ref: string): string | undefined {
    const start = "quarantine/";
    return ref.startsWith(start) ? this.#statements.givenRow.get(ref.slice(start.length))?.place : undefined;
  }

  /** A place may contain the key of the record in a database, which can be anything. */
  emptyPlaces({ stream, namespace, id }: { stream: Stream } & RecordKey): void {
    const of = { stream, namespace, id, mark: erasedMark };
    this.#statements.emptyVersionPlaces.run(of);
    this.#statements.emptyStoodPlaces.run(of);
    this.#statements.emptyQuarantinePlaces.run(of);
  }

  waitingForms(whose: Erasable): WaitingForm[] {
    return "customer" in whose
      ? this.#statements.waitingOfCustomer.all(whose.customer)
      : this.#statements.waitingOfPerson.all(whose.person);
  }

  operationsOf(whose: Erasable): string[] {
    return "customer" in whose
      ? this.#statements.operationsOfCustomer.all(whose.customer)
      : this.#statements.operationsOfPerson.all(whose.person);
  }

  openOperation(whose: Erasable): OpenOperation | undefined {
    return "customer" in whose
      ? this.#statements.openOfCustomer.get(whose.customer)
      : this.#statements.openOfPerson.get(whose.person);
  }

  dueRequest(customer: RecordKey): string | undefined {
    return this.#statements.due.get(customer)?.about;
  }

  /** Without its hash, a returning form of a deleted record is not recognised. */
  forgetForms({ stream, namespace, id }: { stream: Stream } & RecordKey): void {
    this.#statements.forgetForm.run(stream, namespace, id);
    this.#statements.forgetQuarantined.run(stream, namespace, id);
  }

  standingOnPlatform(whose: Erasable): StandingOnPlatform[] {
    return "customer" in whose
      ? [...this.#statements.enterprise.all(whose.customer), ...this.#statements.accountsAt.all(whose.customer)]
      : this.#statements.accounts.all(whose.person);
  }

  shownEntries(subjects: readonly string[]): ShownEntry[] {
    return this.#statements.shown.all(JSON.stringify(subjects));
  }
}

function prepareStatements(database: Sqlite) {
  const record = "stream, namespace, id, source, state, pending, customer_namespace, customer_id";
  type RecordRow = Omit<RecordOfErasable, "customer"> & Row<"record", "customer_namespace" | "customer_id">;
  const waiting = "select id, source, stream, place from quarantine where state <> 'resolved' and";
  const ofPerson = "stream = 'staff' and namespace = +@namespace and record_id = +@id";
  const served = `id in (select operation_id from operation_record where ${ofPerson})`;
  const open = `select id, endpoint, subject, state from operation where ${notOver} and`;
  return prepared(database, {
    recordsOfCustomer: sql<[RecordKey], RecordRow>`
      select ${record} from record where ${customerIs} order by stream, namespace, id`,
    person: sql<[RecordKey], RecordRow>`
      select ${record} from record where stream = 'staff' and namespace = +@namespace and id = +@id`,
    accountsOf: sql<[RecordKey], RecordKey>`
      select distinct customer_namespace as namespace, customer_id as id from staff_link
        where namespace = +@namespace and staff_id = +@id`,
    kept: sql<[string], Kept>`
      select ref, version from private_value where ref in (select value from json_each(?)) and ${holdsAnything}`,
    keptFrom: sql<[string, string], Kept>`
      select ref, version from private_value where ref between ? and ? and ${holdsAnything}`,
    bodies: sql<[string], FullRow<"private_value", "body">>`
      select body from private_value where ref in (select value from json_each(?)) and body is not null`,
    wipe: sql`update private_value set salt = null, body = null, sealed = null, name_key = null, login_key = null,
      wiped_at = ? where ref = +? and version = +?`,
    formerForms: sql<[RecordKey], Kept>`select p.ref, p.version from record_version v join private_value p
        on p.ref = 'raw:' || v.stream || '/' || v.namespace || '/' || v.id and p.version = v.version
      where v.stream in ('orders', 'staff') and v.body ->> '$.customerId' = @id
        and coalesce(v.body ->> '$.customerNamespace', v.namespace) = @namespace and p.body is not null`,
    formsOfCustomer: sql<[RecordKey], Row<"quarantine", "raw_ref">>`select raw_ref from quarantine where ${customerIs}
      union select raw_ref from quarantine
        where stream = 'customers' and namespace = +@namespace and record_id = +@id`,
    formsOfPerson: sql<[RecordKey], Row<"quarantine", "raw_ref">>`select raw_ref from quarantine where ${ofPerson}`,
    ofOthers: sql<[], KeptOfOthers>`${keptOfOthers}`,
    givenRecord: sql<[{ stream: string } & RecordKey], RecordOfSource>`select stream, namespace, id, source from record
      where stream = +@stream and namespace = +@namespace and id = +@id and state <> 'absent'`,
    givenRow: sql<[string], { place: string }>`
      select source || ' ' || place as place from quarantine where id = +? and state <> 'resolved'`,
    emptyVersionPlaces: sql`update record_version set place = @mark where stream = +@stream and namespace = +@namespace
      and id = +@id`,
    emptyStoodPlaces: sql`update quarantine_stood set place = @mark where id in (select id from quarantine
      where stream = +@stream and namespace = +@namespace and record_id = +@id)`,
    emptyQuarantinePlaces: sql`update quarantine set place = @mark where stream = +@stream and namespace = +@namespace
      and record_id = +@id`,
    formsOfNobody: sql<[], UnreadForm>`
      select p.ref, p.body, iif(q.state = 'resolved', null, q.source || ' ' || q.place) as place
        from quarantine q join private_value p
          on p.ref = q.raw_ref and p.version = 1
        where q.customer_id is null and p.body is not null`,
    waitingOfCustomer: sql<[RecordKey], WaitingForm>`${waiting} ${customerIs} order by id limit 1`,
    waitingOfPerson: sql<[RecordKey], WaitingForm>`${waiting} ${ofPerson} order by id limit 1`,
    operationsOfCustomer: column<[RecordKey], string>`select id from operation where ${customerIs}`,
    operationsOfPerson: column<[RecordKey], string>`select id from operation where ${served}`,
    openOfCustomer: sql<[RecordKey], OpenOperation>`${open} ${customerIs} order by id limit 1`,
    openOfPerson: sql<[RecordKey], OpenOperation>`${open} ${served} order by id limit 1`,
    due: sql<[RecordKey], Row<"manual_request", "about">>`
      select about from manual_request where ${customerIs} and to_at is null and due = 1 order by about limit 1`,
    forgetForm: sql`update record set raw_hash = '' where stream = +? and namespace = +? and id = +?
      and state = 'absent'`,
    forgetQuarantined: sql`update quarantine set raw_hash = '' where stream = +? and namespace = +? and record_id = +?
      and state = 'resolved'`,
    enterprise: sql<[RecordKey], StandingOnPlatform>`
      select 'enterprise' as what, enterprise_global_id as id, namespace || '/' || customer_id as "of" from link
        where namespace = +@namespace and customer_id = +@id and to_at is null`,
    accountsAt: sql<[RecordKey], StandingOnPlatform>`
      select 'account' as what, member_global_id as id, namespace || '/' || staff_id as "of" from staff_link
        where ${customerIs} and to_at is null order by namespace, staff_id`,
    accounts: sql<[RecordKey], StandingOnPlatform>`
      select 'account' as what, member_global_id as id, namespace || '/' || staff_id as "of" from staff_link
        where namespace = +@namespace and staff_id = +@id and to_at is null order by member_global_id`,
    shown: sql<[string], ShownEntry>`select sequence, at, coalesce(body ->> '$.by', '') as "by" from audit
      where subject in (select value from json_each(?)) and kind = 'private-shown' order by sequence`,
  });
}
