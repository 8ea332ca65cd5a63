import type { JsonObject } from "../../base/canonical-json.ts";
import { toInstant } from "../../base/clock.ts";
import type { RecordKey, Stream } from "../../crm/model.ts";
import { nameKeysOf } from "../../crm/name-keys.ts";
import { AbsenceTables, type AbsenceNow, type Met } from "./absence.ts";
import type { Sqlite } from "../database/database.ts";
import { prepared } from "../database/statements.ts";
import { type SealingKey, privatise } from "../private/private.ts";
import { ExpectedForms, expectedAtOnce, type StandingRecord, type SeenForms } from "./seen-forms.ts";
import { recordTexts, type RecordRow } from "./record-statements.ts";
import type { ReadOf, ReadParts, SourceReadTables } from "./source-reads.ts";
import type { IngestedRecord, IngestedRejection } from "./staged-records.ts";
import type { RecordTable } from "./tables.ts";

export interface OrderNow {
  customer: RecordKey;
  state: RecordTable["state"];
  bodyHash: string;
  cancelled: boolean;
}

interface IngestOptions {
  /** No read: a person maps an old row again. So a different form in the same read is no duplicate. */
  isRetried?: boolean;
  isQuarantineEmpty?: boolean;
  seen?: SeenForms | undefined;
}

/** `isFirst`: this read has not taken up the record before. */
interface Ingested {
  became: "changed" | "unchanged" | "quarantined";
  isFirst: boolean;
}

const quarantined: Ingested = { became: "quarantined", isFirst: false };

interface Arrival {
  of: ReadOf;
  item: IngestedRecord;
  existing: RecordRow | undefined;
  isBlocked: boolean;
  now: string;
}

/** Records and quarantine. Every method runs inside the writer's transaction. */
export class RecordTables {
  readonly #random: () => string;
  readonly #now: () => number;
  readonly #seal: SealingKey | undefined;
  readonly #reads: SourceReadTables;
  readonly absence: AbsenceTables;
  readonly #statements;

  constructor(
    database: Sqlite,
    deps: { now: () => number; randomHex: () => string; seal: SealingKey | undefined; reads: SourceReadTables },
  ) {
    this.#now = deps.now;
    this.#random = deps.randomHex;
    this.#seal = deps.seal;
    this.#reads = deps.reads;
    this.absence = new AbsenceTables(database);
    this.#statements = prepared(database, recordTexts);
  }

  /** Reads only: an unchanged row causes no write. `missed` are unchanged forms that were missed before. */
  known(
    { source, stream }: ReadOf,
    hashes: readonly string[],
    expected: ExpectedForms,
  ): { unchanged: string[]; missed: string[]; quarantined: string[] } {
    const { found, others } = expected.find(hashes);
    const known = others.length === 0 ? [] : this.#statements.unchanged.all(source, stream, JSON.stringify(others));
    const rows: Pick<StandingRecord, "raw_hash" | "missed">[] = [...found, ...known];
    const waiting =
      this.#statements.quarantined.get(source, stream) === undefined
        ? []
        : this.#statements.quarantineWaits.all(source, stream, JSON.stringify(hashes));
    return {
      unchanged: rows.map((row) => row.raw_hash),
      missed: rows.filter((row) => row.missed > 0).map((row) => row.raw_hash),
      quarantined: waiting.map((row) => row.raw_hash),
    };
  }

  expected({ source, stream, read }: ReadOf): ExpectedForms {
    return new ExpectedForms(source, read, {
      next: (namespace, id) => this.#statements.after.all(stream, namespace, id, expectedAtOnce),
      version: () => this.#statements.version.get() ?? "",
    });
  }

  markSeen({ source, stream, read }: ReadOf, hashes: readonly string[]): void {
    this.#statements.markSeen.run(read, source, stream, JSON.stringify(hashes));
  }

  /** Returns the forms that are still quarantined. Rows that wait for a retry are not: they must be mapped again. */
  markQuarantineSeen({ source, stream, read }: ReadOf, hashes: readonly string[]): string[] {
    const list = JSON.stringify(hashes);
    const now = toInstant(this.#now());
    const rows = this.#statements.markQuarantineSeen.all(read, now, source, stream, list);
    if (rows.length > 0) this.#statements.markBlockedSeen.run(read, source, stream, source, list);
    return rows.map((row) => row.raw_hash);
  }

  keepPresent({ source, stream, read }: ReadOf, keys: readonly RecordKey[]): void {
    this.#statements.keepPresent.run(read, source, stream, JSON.stringify(keys));
  }

  isQuarantineUnseen({ source, stream, read }: ReadOf): boolean {
    return this.#statements.quarantineUnseen.get(source, stream, read) !== undefined;
  }

  /** Quarantines the record if another source has it, or if the read has two forms. An open row keeps it blocked. */
  ingest(of: ReadOf, item: IngestedRecord, options: IngestOptions = {}): Ingested {
    const { stream } = of;
    const { namespace, id } = item.key;
    const now = toInstant(this.#now());
    const existing = this.#statements.find.get(stream, namespace, id);
    if (existing !== undefined && this.#clashes(of, item, existing, options)) return quarantined;
    const ref = `${stream}/${namespace}/${id}`;
    const salt = (existing === undefined ? undefined : this.#statements.salt.get(ref)?.salt) ?? this.#random();
    const split = privatise(stream, item.record, salt);
    const isBlocked = options.isQuarantineEmpty !== true && this.#staysBlocked(of, item.key, now, options);
    const arrival = { of, item, existing, isBlocked, now };
    const became =
      existing?.body_hash === split.bodyHash
        ? this.#keep(arrival, existing, split.secrets)
        : this.#addVersion(arrival, split, salt);
    return became === "quarantined" ? quarantined : { became, isFirst: existing?.last_read !== of.read };
  }

  /** Quarantines the record if another source has it too, or if the read met another form. */
  #clashes(of: ReadOf, item: IngestedRecord, existing: RecordRow, { isRetried, seen }: IngestOptions): boolean {
    const { source, stream, read } = of;
    const { namespace, id } = item.key;
    if (existing.source !== source) {
      if (existing.state === "absent" || !this.#reads.isConfigured(existing.source, stream)) return false;
      this.#statements.setState.run("quarantined", stream, namespace, id);
      this.reject(of, {
        ...item,
        field: "id",
        code: "claimed-twice",
        message:
          `the sources ${existing.source} and ${source} both give the ${stream} record ${namespace}/${id}, ` +
          "so crm-sync uses neither of the two records",
        expected: "one source for each record, or a namespace of its own for each source",
      });
      return true;
    }
    if (isRetried === true || existing.raw_hash === item.rawHash) return false;
    if (existing.last_read !== read && seen?.has(existing.raw_hash) !== true) return false;
    this.#statements.setState.run("quarantined", stream, namespace, id);
    this.reject(of, {
      ...item,
      field: "id",
      code: "duplicate-id",
      message: `${stream} record ${namespace}/${id} occurs twice in one read with different content`,
      expected: "one record for each id",
    });
    return true;
  }

  /** Resolves older quarantine rows of this key. True if an open one still blocks the record. */
  #staysBlocked(of: ReadOf, { namespace, id }: RecordKey, now: string, { isRetried }: IngestOptions): boolean {
    const { source, stream, read } = of;
    // A bad row of the same key in this very read stays open.
    const shown = isRetried === true ? -1 : read;
    this.#statements.resolveQuarantine.run(now, "a usable record came", stream, namespace, id, source, shown);
    this.#statements.resolveClaim.run(now, stream, namespace, id, source);
    return this.#statements.openQuarantine.get(stream, namespace, id) !== undefined;
  }

  #keep({ of, item, isBlocked }: Arrival, existing: RecordRow, secrets: JsonObject): Ingested["became"] {
    const { source, stream, read, run } = of;
    const { namespace, id } = item.key;
    const ref = `${stream}/${namespace}/${id}`;
    const isRevived = !isBlocked && existing.state !== "current";
    this.#statements.keepRaw.run(item.raw, `raw:${ref}`, existing.version, item.raw);
    if (!isBlocked && existing.state === "absent") this.#sealAgain({ ref, version: existing.version }, secrets);
    const state = isBlocked ? "quarantined" : "current";
    this.#statements.touch.run(item.rawHash, source, read, state, isRevived ? run : null, stream, namespace, id);
    if (isBlocked) return "quarantined";
    return isRevived ? "changed" : "unchanged";
  }

  /** The record is new or changed: adds a version. Quarantines it if it has passwords and there is no key. */
  #addVersion(arrival: Arrival, split: ReturnType<typeof privatise>, salt: string): Ingested["became"] {
    const { of, item, existing, isBlocked, now } = arrival;
    const { source, stream, read, run } = of;
    const { namespace, id } = item.key;
    const secrets = Object.keys(split.secrets).length > 0 ? JSON.stringify(split.secrets) : undefined;
    if (secrets !== undefined && this.#seal === undefined) {
      this.reject(of, {
        ...item,
        field: "passwords",
        code: "no-sealing-key",
        message:
          `${stream} record ${namespace}/${id} contains passwords, but ledger.sealKey is not set, ` +
          "so they were not stored",
        expected: "ledger.sealKey to be set",
      });
      return "quarantined";
    }
    const ref = `${stream}/${namespace}/${id}`;
    const version = (existing?.version ?? 0) + 1;
    if (existing !== undefined) this.#statements.endVersion.run(now, stream, namespace, id);
    const zones = item.zones === undefined ? null : JSON.stringify(item.zones);
    this.#statements.insertVersion.run(stream, namespace, id, version, now, source, item.place, split.body, zones);
    const [nameKey, loginKey] = nameKeysOf(stream, item.record);
    const values = JSON.stringify(split.values);
    const sealed = secrets === undefined ? null : (this.#seal?.seal(secrets, { ref, version }) ?? null);
    this.#statements.insertForm.run({ ref, version, salt, values, sealed, now, nameKey, loginKey, raw: item.raw });
    this.#statements.upsert.run(
      stream,
      namespace,
      id,
      source,
      item.rawHash,
      split.bodyHash,
      version,
      item.customer.namespace,
      item.customer.id,
      isBlocked ? "quarantined" : "current",
      read,
      isBlocked ? null : run,
      now,
      now,
    );
    if (stream === "orders") this.#noteMove(arrival);
    return isBlocked ? "quarantined" : "changed";
  }

  #noteMove({ item, existing, now }: Arrival): void {
    const { namespace, id } = item.key;
    const { customer } = item;
    if (existing === undefined) return;
    const { customer_namespace: left, customer_id: leftId } = existing;
    if (left === customer.namespace && leftId === customer.id) return;
    this.#statements.joinCustomer.run(now, namespace, id, customer.namespace, customer.id);
    this.#statements.leaveCustomer.run(namespace, id, left, leftId, now);
  }

  /** A record that comes back needs its wiped secrets again: their account or licence may be gone. */
  #sealAgain(of: { ref: string; version: number }, secrets: JsonObject): void {
    if (this.#seal === undefined || Object.keys(secrets).length === 0) return;
    this.#statements.sealAgain.run(this.#seal.seal(JSON.stringify(secrets), of), of.ref, of.version);
  }

  isQuarantineEmpty(): boolean {
    return this.#statements.inQuarantine.get() === undefined;
  }

  /** Counts all records, so use it only before the first full read. */
  kept(source: string, stream: Stream): number {
    return this.#statements.kept.get(source, stream)?.count ?? 0;
  }

  /** How many records came, or came back, since the last complete read. */
  newSinceComplete(source: string, stream: Stream): number {
    const { number = 0, finished_at } = this.#reads.lastCompleteRead(source, stream) ?? {};
    const at = finished_at ?? "";
    return this.#statements.newSince.get(source, stream, number, at, at) ?? 0;
  }

  /** Whether the source sent this record after that read: then the read's form is older. */
  readSince({ source, stream, read }: ReadOf, key: RecordKey): boolean {
    const row = this.#statements.find.get(stream, key.namespace, key.id);
    return row !== undefined && row.source === source && row.state !== "absent" && row.last_read > read;
  }

  orderNow(order: RecordKey): OrderNow | undefined {
    const row = this.#statements.orderNow.get(order.namespace, order.id);
    if (row === undefined) return undefined;
    return {
      customer: { namespace: row.customer_namespace, id: row.customer_id },
      state: row.state,
      bodyHash: row.body_hash,
      cancelled: row.cancelled === 1,
    };
  }

  has(stream: Stream, key: RecordKey): boolean {
    return this.#statements.find.get(stream, key.namespace, key.id) !== undefined;
  }

  #customerOf(stream: Stream, key: RecordKey | undefined): RecordKey | undefined {
    const row = key === undefined ? undefined : this.#statements.find.get(stream, key.namespace, key.id);
    return row === undefined ? undefined : { namespace: row.customer_namespace, id: row.customer_id };
  }

  /**
   * A good record of the same key keeps its last form but is blocked. The row belongs to the customer of the raw form,
   * or of the last good form. `ofStoredForm`: the stored form of a missing record is unusable.
   */
  reject({ source, stream, read }: ReadOf, item: IngestedRejection, ofStoredForm = false): void {
    const now = toInstant(this.#now());
    const customer = item.customer ?? this.#customerOf(stream, item.key);
    const id = `q-${this.#random().slice(0, 10)}`;
    const ref = `quarantine/${id}`;
    // A bad record whose form changes keeps its start of waiting.
    const waits = this.#statements.waits.get(stream, item.key?.namespace ?? null, item.key?.id ?? null, source);
    const inserted = this.#statements.insertQuarantine.run(
      id,
      source,
      stream,
      item.key?.namespace ?? null,
      item.key?.id ?? null,
      customer?.namespace ?? null,
      customer?.id ?? null,
      item.place,
      item.field,
      ofStoredForm ? "stored-form" : item.code,
      ofStoredForm
        ? `the last complete reads do not contain the record, and its stored form can no longer be used: ${item.message}`
        : item.message,
      item.expected ?? null,
      ref,
      item.rawHash,
      waits?.since ?? now,
      now,
      read,
      ofStoredForm ? 1 : 0,
      item.twin?.namespace ?? null,
      item.twin?.id ?? null,
    );
    if (inserted.changes === 1) {
      const known = this.#statements.quarantineByHash.get(source, stream, item.rawHash);
      if (known?.id === id) this.#statements.insertPrivate.run(ref, 1, null, item.raw, null, now);
    }
    if (item.key !== undefined) {
      this.#statements.closeOlderQuarantine.run(now, stream, item.key.namespace, item.key.id, source, item.rawHash);
      this.#statements.blockRecord.run({ source, read, stream, ...item.key });
    }
  }

  /**
   * Missing records become missed or absent by `rule`, and other sources' claims to absent ones are tried again. Rows
   * that were not seen are resolved. `released`: unblocked records of the last part, which its run has changed.
   */
  closeWholeRead(
    of: ReadParts,
    rule: AbsenceNow | undefined,
    met?: Met,
  ): { absent: number; missed: number; released: number } {
    const { source, stream, read, run, first } = of;
    const now = toInstant(this.#now());
    this.#statements.keepTwins.run({ source, stream, first, last: read });
    const { missed, absent } = this.absence.judge(of, rule, met);
    if (absent > 0) this.#statements.wakeClaims.run(stream, source, stream, source);
    this.#statements.releaseQuarantine.run({ now, source, stream, first });
    const released = run === null ? 0 : this.#statements.release.run(run, source, stream, read).changes;
    this.#statements.unblock.run(stream);
    return { absent, missed, released };
  }
}
