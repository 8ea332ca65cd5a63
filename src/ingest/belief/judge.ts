import { formatKey } from "../../crm/keys.ts";
import type { RecordKey, Stream } from "../../crm/model.ts";
import type { KnownRecord } from "../../ledger/records/known-records.ts";
import type { IngestedRecord } from "../../ledger/records/record-tables.ts";
import { keyOfRow } from "../../ledger/records/staged-records.ts";
import type { MappedRow, StagedRecords } from "../../ledger/records/staged-records.ts";
import { limitOf } from "./guards.ts";
import type { Doubt } from "./guards.ts";
import { changedFields, identityOf, lineChanges, namesAnother } from "./identities.ts";

/** The larger of a number and a share of the records of a stream. */
export interface ReadLimit {
  floor: number;
  share: number;
}

/** A record that waits in quarantine until a person says that it is what it seems, or its source shows otherwise. */
export interface Suspect {
  code: (typeof suspectCodes)[number];
  message: string;
  /** The record that it looks like, which the read lacks: that one is not missed meanwhile. */
  twin?: RecordKey | undefined;
}

/** Codes of records in quarantine that each read judges anew. */
export const suspectCodes = [
  "id-names-another",
  "looks-like-another",
  "lines-renumbered",
  "line-may-have-moved",
] as const;

/** What a read is judged by. */
export interface JudgedRead {
  stream: Stream;
  /** What it brought that is new or changed. */
  staged: StagedRecords;
  /** How many records its source had before. */
  total: number;
  /** It asked for everything; and it reached its end. */
  isWhole: boolean;
  isComplete: boolean;
  /** It has too few records: as many of the missing ones have no new one in their place. */
  isShrunk: boolean;
  limits: { newIds: ReadLimit; massChange: ReadLimit };
  ledger: {
    of(stream: Stream, keys: readonly RecordKey[]): KnownRecord[];
    ordersOf(customers: readonly RecordKey[]): KnownRecord[];
    named(stream: Stream, names: readonly string[]): KnownRecord[];
    /** Whether the read met the record in the form in which it stands. */
    hasMet(known: KnownRecord): boolean;
    /** How many records it is the first to lack. */
    missing(): number;
    /** Whether a row that cannot be used may be this line. */
    mayBeUnusable(line: string): boolean;
  };
}

export interface Judgement {
  /** Reasons to take nothing in. */
  doubts: readonly Doubt[];
  /** By `formatKey`. */
  suspects: ReadonlyMap<string, Suspect>;
}

/**
 * Whether the rows that a read brought may be taken in: not where ids seem to have changed, or one field of very many
 * records. Few records that look like others wait by themselves. Runs through what is staged once.
 */
export class ReadJudge {
  readonly #read: JudgedRead;
  readonly #suspects = new Map<string, Suspect>();
  readonly #changed = new Map<string, number>();
  #new = 0;

  constructor(read: JudgedRead) {
    this.#read = read;
  }

  judge(): Judgement {
    for (const rows of this.#read.staged.pages()) this.#look(rows);
    const doubts = [this.#idsDoubt(), this.#changesDoubt()].filter((doubt) => doubt !== undefined);
    return { doubts, suspects: this.#suspects };
  }

  #look(rows: readonly MappedRow[]): void {
    const { stream, ledger } = this.#read;
    const keys = rows.flatMap((row) => keyOfRow(row) ?? []);
    const known = new Map(ledger.of(stream, keys).map((one) => [formatKey(one.key), one]));
    const moved: IngestedRecord[] = [];
    for (const row of rows) {
      const key = keyOfRow(row);
      const before = key === undefined ? undefined : known.get(formatKey(key));
      if (key !== undefined && before === undefined) this.#new += 1;
      if (!("record" in row) || before?.state === "absent") continue;
      if (before !== undefined) this.#compare(row.record, before);
      const identity = identityOf(stream, row.record.record);
      if (before === undefined || identity !== identityOf(stream, before.record)) moved.push(row.record);
    }
    this.#findTwins(moved);
  }

  #compare({ key, record: now }: IngestedRecord, { record: before }: KnownRecord): void {
    const { stream, ledger } = this.#read;
    const name = formatKey(key);
    for (const field of changedFields(before, now)) this.#changed.set(field, (this.#changed.get(field) ?? 0) + 1);
    if (namesAnother(stream, before, now))
      this.#suspect(name, "id-names-another", `${name} changed everything at once that says who it is`);
    if (stream !== "orders") return;
    const { lost, renumbered } = lineChanges(before, now);
    if (renumbered > 0)
      this.#suspect(name, "lines-renumbered", `${renumbered} lines of ${name} are as they were, under new ids`);
    const moved = lost.filter((line) => ledger.mayBeUnusable(line));
    if (moved.length > 0)
      this.#suspect(
        name,
        "line-may-have-moved",
        `${name} lacks the line ${moved.slice(0, 3).join(", ")}, which a row of the source names that cannot be used`,
      );
  }

  #suspect(name: string, code: Suspect["code"], message: string, twin?: RecordKey): void {
    if (!this.#suspects.has(name)) this.#suspects.set(name, { code, message, twin });
  }

  /** Records that say now what another one said, which the read lacks or has otherwise. */
  #findTwins(moved: readonly IngestedRecord[]): void {
    if (moved.length === 0) return;
    const { stream, ledger, staged, isWhole } = this.#read;
    const byIdentity = new Map<string, KnownRecord[]>();
    const candidates =
      stream === "orders"
        ? ledger.ordersOf(moved.map(({ customer }) => customer))
        : ledger.named(
            stream,
            moved.flatMap(({ record }) => (typeof record["name"] === "string" ? record["name"] : [])),
          );
    for (const one of candidates) {
      const identity = identityOf(stream, one.record) ?? "";
      byIdentity.set(identity, [...(byIdentity.get(identity) ?? []), one]);
    }
    const shown = staged.find(candidates.map(({ key }) => key));
    for (const { key, record } of moved) {
      const identity = identityOf(stream, record);
      const name = formatKey(key);
      const twin = byIdentity.get(identity ?? "")?.find((one) => {
        const other = formatKey(one.key);
        if (identity === undefined || other === name || ledger.hasMet(one)) return false;
        const row = shown.get(other);
        if (row === undefined) return isWhole;
        return "record" in row && identityOf(stream, row.record.record) !== identity;
      });
      if (twin === undefined) continue;
      const other = formatKey(twin.key);
      const how = shown.has(other) ? "which says something else now" : "which the read lacks";
      const lacking = shown.has(other) ? undefined : twin.key;
      this.#suspect(name, "looks-like-another", `${name} says what ${other} said, ${how}`, lacking);
    }
  }

  #idsDoubt(): Doubt | undefined {
    const { total, limits, isWhole, isComplete, isShrunk, ledger } = this.#read;
    const limit = limitOf(limits.newIds, total);
    if (isWhole && isComplete && this.#new >= limit) {
      const missing = ledger.missing();
      if (missing >= limit && (isShrunk || this.#new >= missing)) {
        const text = `${missing} of ${total} records are missing, and ${this.#new} are new, as if ids had changed`;
        return { guard: "ids", count: this.#new + this.#known(), text };
      }
    }
    const count = this.#suspects.size;
    if (count < Math.max(limits.newIds.floor, limit)) return undefined;
    const examples = [...this.#suspects.values()].slice(0, 3).map(({ message }) => message);
    return { guard: "ids", count, text: `${count} records look like others: ${examples.join("; ")}` };
  }

  /** Suspects that are no new records. */
  #known(): number {
    return [...this.#suspects.values()].filter(({ code }) => code !== "looks-like-another").length;
  }

  #changesDoubt(): Doubt | undefined {
    const { total, limits } = this.#read;
    const limit = Math.max(limits.massChange.floor, Math.ceil(limits.massChange.share * total));
    const [most] = [...this.#changed].toSorted(([, one], [, other]) => other - one);
    if (most === undefined || most[1] < limit) return undefined;
    const [field, count] = most;
    return { guard: "changes", count, text: `the field ${field} changed in ${count} of ${total} records at once` };
  }
}
