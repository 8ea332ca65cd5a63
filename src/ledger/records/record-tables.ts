import type { JsonObject } from "../../base/canonical-json.ts";
import { toInstant } from "../../base/clock.ts";
import type { DateZones } from "../../crm/date-zones.ts";
import type { RecordKey, Stream } from "../../crm/model.ts";
import { nameKeysOf } from "../../crm/name-keys.ts";
import { AbsenceTables } from "./absence.ts";
import type { AbsenceNow, Met, ReadParts } from "./absence.ts";
import type { Sqlite } from "../database/database.ts";
import type { SealingKey } from "../private/private.ts";
import { privatise } from "../private/private.ts";
import { ExpectedForms, expectedAtOnce } from "./expected-forms.ts";
import type { StandingRecord } from "./expected-forms.ts";
import { UnconfiguredTables } from "./unconfigured.ts";
import { recordStatements } from "./record-statements.ts";
import type { RecordRow } from "./record-statements.ts";
import type { SeenForms } from "./seen-forms.ts";
import type { RecordTable } from "./tables.ts";

/** A canonical record on its way into the ledger. `rawHash` covers the raw form and the mapping that was used. */
export interface IngestedRecord {
  rawHash: string;
  place: string;
  key: RecordKey;
  customer: RecordKey;
  record: JsonObject;
  /** The zones of its local dates. */
  zones?: DateZones | undefined;
  /** The raw form with secrets blanked. */
  raw: string;
}

/** A record that cannot be used, with its place and reason; `raw` has its secrets blanked. */
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
  /** The record that it looks like, which is not missing meanwhile. */
  twin?: RecordKey | undefined;
}

/** An order as the CRM has it now. */
export interface OrderNow {
  customer: RecordKey;
  state: RecordTable["state"];
  bodyHash: string;
  cancelled: boolean;
}

/** The canonical records and the quarantine. Every method runs inside the writer's transaction. */
export class RecordTables {
  readonly #random: () => string;
  readonly #now: () => number;
  readonly #seal: SealingKey | undefined;
  readonly absence: AbsenceTables;
  readonly unconfigured: UnconfiguredTables;
  readonly #statements;

  constructor(database: Sqlite, deps: { now: () => number; randomHex: () => string; seal: SealingKey | undefined }) {
    this.#now = deps.now;
    this.#random = deps.randomHex;
    this.#seal = deps.seal;
    this.absence = new AbsenceTables(database);
    this.unconfigured = new UnconfiguredTables(database);
    this.#statements = recordStatements(database);
  }

  /**
   * Which of `hashes` are of records whose raw form is as it was, which of these were missed before, and which are of
   * open quarantine rows. Reads only: a row that is as it was is not written for.
   */
  known(
    source: string,
    stream: Stream,
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

  /** What a reading of this stream will most likely meet, from the first key on. */
  expected(source: string, stream: Stream, read: number): ExpectedForms {
    return new ExpectedForms(source, read, {
      next: (namespace, id) => this.#statements.after.all(stream, namespace, id, expectedAtOnce),
      version: () => this.#statements.version.get() ?? "",
    });
  }

  /** Marks the records of these forms as seen by a reading, so that they are not missed any more. */
  markSeen(source: string, stream: Stream, read: number, hashes: readonly string[]): void {
    this.#statements.markSeen.run(read, source, stream, JSON.stringify(hashes));
  }

  /**
   * Counts these forms as quarantined again and returns those that are: the record that one blocks is there, not
   * missed. One that waits for a retry by now is not among them, so that it is mapped anew.
   */
  markQuarantineSeen(source: string, stream: Stream, read: number, hashes: readonly string[]): string[] {
    const list = JSON.stringify(hashes);
    const now = toInstant(this.#now());
    const quarantined = this.#statements.markQuarantineSeen.all(read, now, source, stream, list);
    if (quarantined.length > 0) this.#statements.markBlockedSeen.run(read, source, stream, source, list);
    return quarantined.map((row) => row.raw_hash);
  }

  /** These records are not missing: the read `read` has shown them. */
  keepPresent(source: string, stream: Stream, read: number, keys: readonly RecordKey[]): void {
    this.#statements.keepPresent.run(read, source, stream, JSON.stringify(keys));
  }

  /** Whether a quarantine row is open that a reading has not seen. */
  isQuarantineUnseen(source: string, stream: Stream, read: number): boolean {
    return this.#statements.quarantineUnseen.get(source, stream, read) !== undefined;
  }

  /**
   * Takes one canonical record up. `run` is the run that will plan it. A record that an open quarantine row blocks
   * stays blocked. `retried`: it is not read now, so that another form of it in the same read was the one that is
   * mapped anew. `isQuarantineEmpty`: the quarantine is not asked. In one piece: each check stands before what is
   * written, and what one finds the next one uses. `isFirst`: this read has not taken the record up before.
   */
  ingest(
    source: string,
    stream: Stream,
    read: number,
    run: string | null,
    item: IngestedRecord,
    options: {
      retried: boolean;
      isQuarantineEmpty?: boolean;
      seen?: SeenForms | undefined;
    } = { retried: false },
  ): { became: "changed" | "unchanged" | "quarantined"; isFirst: boolean } {
    const quarantined = { became: "quarantined", isFirst: false } as const;
    const now = toInstant(this.#now());
    const { namespace, id } = item.key;
    const existing = this.#statements.find.get(stream, namespace, id);
    const isFirst = existing?.last_read !== read;
    if (existing !== undefined && existing.source !== source && existing.state !== "absent") {
      if (this.unconfigured.isConfigured(existing.source, stream)) {
        this.#contested(source, stream, read, item, existing);
        return quarantined;
      }
    }
    if (
      existing !== undefined &&
      !options.retried &&
      existing.source === source &&
      existing.raw_hash !== item.rawHash &&
      (existing.last_read === read || options.seen?.has(existing.raw_hash) === true)
    ) {
      this.#statements.setState.run("quarantined", stream, namespace, id);
      this.reject(source, stream, read, {
        ...item,
        field: "id",
        code: "duplicate-id",
        message: `${stream} record ${namespace}/${id} occurs twice in one read with different content`,
        expected: "one record for each id",
      });
      return quarantined;
    }
    const ref = `${stream}/${namespace}/${id}`;
    // A record that is new has no private values yet.
    const salt = (existing === undefined ? undefined : this.#statements.salt.get(ref)?.salt) ?? this.#random();
    const version = (existing?.version ?? 0) + 1;
    const split = privatise(stream, item.record, salt, ref, version);
    // A bad row of the same key that this very read showed too is not made good by this one.
    const shown = options.retried ? -1 : read;
    const { isQuarantineEmpty = false } = options;
    if (!isQuarantineEmpty) {
      this.#statements.resolveQuarantine.run(now, "a usable record came", stream, namespace, id, source, shown);
      this.#statements.resolveClaim.run(now, stream, namespace, id, source);
    }
    const blocked = !isQuarantineEmpty && this.#blocked(stream, item.key);
    if (existing !== undefined && existing.body_hash === split.bodyHash) {
      this.#statements.keepRaw.run(item.raw, `raw:${ref}`, existing.version, item.raw);
      if (blocked) {
        this.#statements.touch.run(item.rawHash, source, read, "quarantined", null, stream, namespace, id);
        return quarantined;
      }
      const revived = existing.state !== "current";
      if (existing.state === "absent") this.#sealAgain({ ref, version: existing.version }, split.secrets);
      this.#statements.touch.run(item.rawHash, source, read, "current", revived ? run : null, stream, namespace, id);
      return { became: revived ? "changed" : "unchanged", isFirst };
    }
    const secrets = Object.keys(split.secrets).length > 0 ? JSON.stringify(split.secrets) : undefined;
    if (secrets !== undefined && this.#seal === undefined) {
      this.reject(source, stream, read, {
        ...item,
        field: "passwords",
        code: "no-sealing-key",
        message:
          `${stream} record ${namespace}/${id} contains passwords, but ledger.sealKey is not set, ` +
          "so they were not stored",
        expected: "ledger.sealKey to be set",
      });
      return quarantined;
    }
    if (existing !== undefined) this.#statements.endVersion.run(now, stream, namespace, id);
    const zones = item.zones === undefined ? null : JSON.stringify(item.zones);
    this.#statements.insertVersion.run(stream, namespace, id, version, now, source, item.place, split.body, zones);
    this.#statements.insertNamed.run(
      ref,
      version,
      salt,
      JSON.stringify(split.values),
      secrets === undefined ? null : (this.#seal?.seal(secrets, { ref, version }) ?? null),
      now,
      ...nameKeysOf(stream, item.record),
    );
    this.#statements.insertPrivate.run(`raw:${ref}`, version, null, item.raw, null, now);
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
      blocked ? "quarantined" : "current",
      read,
      blocked ? null : run,
      now,
      now,
    );
    if (
      stream === "orders" &&
      existing !== undefined &&
      (existing.customer_namespace !== item.customer.namespace || existing.customer_id !== item.customer.id)
    ) {
      this.#statements.joinCustomer.run(now, namespace, id, item.customer.namespace, item.customer.id);
      this.#statements.leaveCustomer.run(namespace, id, existing.customer_namespace, existing.customer_id, now);
    }
    return blocked ? quarantined : { became: "changed", isFirst };
  }

  /** What was used and wiped of a record comes anew with it when it comes back: what was made with it may be gone. */
  #sealAgain(of: { ref: string; version: number }, secrets: JsonObject): void {
    if (this.#seal === undefined || Object.keys(secrets).length === 0) return;
    this.#statements.sealAgain.run(this.#seal.seal(JSON.stringify(secrets), of), of.ref, of.version);
  }

  /** Whether no record waits in quarantine. */
  isQuarantineEmpty(): boolean {
    return this.#statements.inQuarantine.get() === undefined;
  }

  /** How many records of a stream are not gone. It counts them all: to be asked only before the first whole read. */
  kept(source: string, stream: Stream): number {
    return this.#statements.kept.get(source, stream)?.count ?? 0;
  }

  /** Whether a source gave this record after that read: what came in the read is its older form. */
  readSince(stream: Stream, key: RecordKey, source: string, read: number): boolean {
    const row = this.#statements.find.get(stream, key.namespace, key.id);
    return row !== undefined && row.source === source && row.state !== "absent" && row.last_read > read;
  }

  /** What the CRM says of an order now, whether it waits to be planned or not. */
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

  #blocked(stream: Stream, key: RecordKey): boolean {
    return this.#statements.openQuarantine.get(stream, key.namespace, key.id) !== undefined;
  }

  #contested(source: string, stream: Stream, read: number, item: IngestedRecord, existing: RecordRow): void {
    const { namespace, id } = item.key;
    this.#statements.setState.run("quarantined", stream, namespace, id);
    this.reject(source, stream, read, {
      ...item,
      field: "id",
      code: "claimed-twice",
      message:
        `the sources ${existing.source} and ${source} both give the ${stream} record ${namespace}/${id}, ` +
        "so crm-sync uses neither of the two records",
      expected: "one source for each record, or a namespace of its own for each source",
    });
  }

  /**
   * Puts a record into quarantine. A good record of the same key stays as it was last, but is blocked. The row belongs
   * to the customer that the raw form names, or to that of the last good form. `ofStoredForm`: it was not read, so there
   * is no row to be corrected: what cannot be used is the form of a record that the last reads lacked.
   */
  reject(
    source: string,
    stream: Stream,
    read: number,
    item: IngestedRejection,
    { ofStoredForm }: { ofStoredForm: boolean } = { ofStoredForm: false },
  ): void {
    const now = toInstant(this.#now());
    const customer = item.customer ?? this.#customerOf(stream, item.key);
    const id = `q-${this.#random().slice(0, 10)}`;
    const ref = `quarantine/${id}`;
    // A record whose bad form changes waits as long as it did before.
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

  /** Whether a whole, complete read that met what `met` says lacks a record that is not absent yet. */
  isLacking(source: string, stream: Stream, parts: ReadParts, met?: Met): boolean {
    return this.absence.isLacking(source, stream, parts, met);
  }

  /**
   * After a whole, complete read that met what `met` says, all its parts together: what was not in it is missed, and
   * absent where `rule` says so; a claim of another source to it is then looked at again. Quarantine rows that were not
   * seen again are resolved, and a record they blocked goes on. Returns how many records became absent now, and how
   * many that came in its last part as blocked ones are released: `run` has changed them.
   */
  closeWholeRead(
    source: string,
    stream: Stream,
    parts: ReadParts,
    rule: AbsenceNow | undefined,
    run: string | null = null,
    met?: Met,
  ): { absent: number; missed: number; released: number } {
    const now = toInstant(this.#now());
    this.#statements.keepTwins.run({ source, stream, ...parts });
    const { missed, absent } = this.absence.judge(source, stream, parts, rule, met);
    if (absent > 0) this.#statements.wakeClaims.run(stream, source, stream, source);
    this.#statements.releaseQuarantine.run({ now, source, stream, first: parts.first });
    const released = run === null ? 0 : this.#statements.release.run(run, source, stream, parts.last).changes;
    this.#statements.unblock.run(stream);
    return { absent, missed, released };
  }
}
