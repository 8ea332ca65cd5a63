import { type JsonObject } from "../../base/canonical-json.ts";
import { formatKey } from "../../crm/keys.ts";
import type { Stream } from "../../crm/model.ts";
import {
  type KnownRecord,
  keyOfRow,
  type IngestedRecord,
  type MappedRow,
  type OpenSuspect,
  type StagedRecords,
  type Suspect,
} from "../../ledger/records/staged-records.ts";
import type { Reading } from "../../ledger/records/reading.ts";
import { counted } from "../../report/text.ts";
import { limitOf, type Doubt } from "./guards.ts";
import { identityOf, namesAnother, linesOf, lineChanges, losses, changedFields } from "./identity.ts";

export interface ReadLimit {
  floor: number;
  share: number;
}

export interface JudgedSuspect extends Suspect {
  /** Counts against the limit of the read. An open suspect counted in an earlier read. */
  isCounted: boolean;
}

export interface JudgedRead {
  stream: Stream;
  staged: StagedRecords;
  /** Rows in all parts of the read. */
  rows: number;
  /** `isWhole`: everything was requested. `isComplete`: the read reached its end. */
  isWhole: boolean;
  isComplete: boolean;
  /** A read of changes whose rows of details may be incomplete. */
  areDetailsUnclear: boolean;
  limits: { newIds: ReadLimit; massChange: ReadLimit };
  ledger: ReturnType<Reading["compared"]>;
}

export interface Judgement {
  doubts: readonly Doubt[];
  /** By `formatKey`. */
  suspects: ReadonlyMap<string, JudgedSuspect>;
}

interface Candidate {
  known: KnownRecord;
  now: MappedRow | undefined;
}

/** A person with a new id but the same account: assets pass to the new record, and nothing is removed. */
function hasSameAccount(now: JsonObject, before: JsonObject): boolean {
  const of = ({ userName, customerId, customerNamespace }: JsonObject) => [userName, customerId, customerNamespace];
  return typeof now["userName"] === "string" && of(now).every((part, at) => part === of(before)[at]);
}

/** An order with the same line ids is the same order, even if the lines changed. */
function keepsLines({ record: now }: IngestedRecord, { record: before }: KnownRecord): boolean {
  const was = linesOf(before);
  return was.size > 0 && was.size === linesOf(now).size && lineChanges(before, now).lost.length === 0;
}

function staysItself(stream: Stream, before: KnownRecord, now: IngestedRecord): boolean {
  return identityOf(stream, now.record) === identityOf(stream, before.record) || keepsLines(now, before);
}

/** Accepting new ids does not accept these. */
export function isOfParts(code: Suspect["code"]): boolean {
  return code === "line-may-have-moved" || code === "parts-unclear";
}

export function isSuspect(row: MappedRow, waiting: ReadonlyMap<string, Suspect>): boolean {
  const key = keyOfRow(row);
  return key !== undefined && waiting.has(formatKey(key));
}

const partsOrRow = "every line or asset that it had, or the wrong row corrected";

export function asJudged(row: MappedRow, waiting: ReadonlyMap<string, Suspect>): MappedRow {
  if (!("record" in row)) return row;
  const { rawHash, place, key, raw } = row.record;
  const suspect = waiting.get(formatKey(key));
  if (suspect === undefined) return row;
  const { code, message, customer, twin } = suspect;
  const said = isOfParts(code)
    ? { field: "instances" in row.record.record ? "instances" : "assets", expected: partsOrRow }
    : { field: "id", expected: "an id of its own" };
  return { rejection: { rawHash, place, key, customer, raw, twin, code, message, ...said } };
}

/** Doubts a read if ids or one field changed in very many records. A few records like others wait individually. */
export class ReadJudge {
  readonly #read: JudgedRead;
  readonly #suspects = new Map<string, JudgedSuspect>();
  readonly #changed = new Map<string, number>();
  readonly #lost = new Set<string>();
  readonly #gained: string[][] = [];
  readonly #limit: number;
  #new = 0;
  /** Records that came from a source that no longer sends them. */
  #moved = 0;
  #alike = 0;
  readonly #ofPage = new Set<string>();
  /** Suspects of earlier reads in this page, which nobody accepted. */
  #open = new Map<string, OpenSuspect>();

  constructor(read: JudgedRead) {
    this.#read = read;
    const { floor, share } = read.limits.newIds;
    this.#limit = Math.max(floor, Math.ceil(share * read.ledger.total));
  }

  judge(): Judgement {
    for (const rows of this.#read.staged.pages()) this.#look(rows);
    const doubts = [this.#turnover(), this.#likeOthers(), this.#changesDoubt()].filter((doubt) => doubt !== undefined);
    return { doubts, suspects: this.#suspects };
  }

  #look(rows: readonly MappedRow[]): void {
    const { stream, ledger } = this.#read;
    this.#ofPage.clear();
    const keys = rows.flatMap((row) => keyOfRow(row) ?? []);
    const known = new Map(ledger.of(keys).map((one) => [formatKey(one.key), one]));
    const earlier = ledger.suspects(keys);
    const accepted = new Set(earlier.flatMap(({ state, rawHash }) => (state === "retry" ? rawHash : [])));
    this.#open = new Map(earlier.flatMap((one) => (one.state === "open" ? [[formatKey(one.key), one]] : [])));
    const moved: IngestedRecord[] = [];
    for (const row of rows) {
      const key = keyOfRow(row);
      const name = key === undefined ? "" : formatKey(key);
      const before = known.get(name);
      if ("record" in row && accepted.has(row.record.rawHash)) continue;
      const isNew = before === undefined || before.state === "absent";
      if (key !== undefined && isNew && !this.#open.has(name)) this.#new += 1;
      if (before !== undefined && !isNew && ledger.isLeft(before)) this.#moved += 1;
      if (!("record" in row)) continue;
      if (before !== undefined) {
        this.#compare(row.record, before);
        this.#compareParts(row.record, before);
      }
      const identity = identityOf(stream, row.record.record);
      if (before === undefined || (identity !== identityOf(stream, before.record) && !keepsLines(row.record, before)))
        moved.push(row.record);
    }
    this.#findTwins(moved, known);
  }

  #compare({ key, record: now }: IngestedRecord, { record: before, customer, state }: KnownRecord): void {
    const { stream, ledger, isWhole } = this.#read;
    const name = formatKey(key);
    const open = this.#open.get(name);
    const isCounted = state !== "absent" && open === undefined;
    for (const field of isCounted ? changedFields(before, now) : [])
      this.#changed.set(field, (this.#changed.get(field) ?? 0) + 1);
    if (namesAnother(stream, before, now, open?.code === "id-names-another")) {
      const message = `all fields that identify ${name} changed at once, as if it were another record`;
      this.#suspect(name, { code: "id-names-another", message, customer });
    }
    if (stream !== "orders") return;
    const { lost, gained, renumbered } = lineChanges(before, now);
    for (const line of lost) this.#lost.add(line);
    if (gained.length > 0) this.#gained.push(gained);
    if (open?.code === "lines-renumbered" && lost.length > 0 && gained.length > 0) this.#suspect(name, open);
    for (const line of lost) {
      const row = ledger.unusableRow(line, key, isWhole);
      if (row === undefined) continue;
      const message = `${name} no longer has the line ${line}; the row at ${row}, which cannot be used, may be that line`;
      this.#suspect(name, { code: "line-may-have-moved", message, customer });
      break;
    }
    if (renumbered === 0) return;
    const lines = counted(renumbered, "new line");
    const earlier = renumbered === 1 ? "a line" : "lines";
    const message = `${name} has ${lines} with the same terms as ${earlier} that it no longer has`;
    this.#suspect(name, { code: "lines-renumbered", message, customer });
  }

  #compareParts({ key, record: now }: IngestedRecord, { record: before, customer }: KnownRecord): void {
    const { stream, areDetailsUnclear } = this.#read;
    const name = formatKey(key);
    const count = areDetailsUnclear ? losses(stream, before, now) : 0;
    if (count === 0) return;
    const message =
      `${name} has ${counted(count, stream === "orders" ? "line" : "asset")} less. A read of changes cannot tell ` +
      "whether that is right: rows of details are missing or name no record";
    this.#suspect(name, { code: "parts-unclear", message, customer });
  }

  #suspect(name: string, { code, message, customer, twin }: Suspect): void {
    if (this.#ofPage.has(name)) return;
    this.#ofPage.add(name);
    const isCounted = !isOfParts(code) && !this.#open.has(name);
    const suspect = { code, message, customer, twin, isCounted };
    if (isCounted) this.#alike += 1;
    // Above the limit the whole read is doubted or accepted, so the others need no names.
    if (!isCounted || this.#alike <= this.#limit) this.#suspects.set(name, suspect);
  }

  #findTwins(moved: readonly IngestedRecord[], known: ReadonlyMap<string, KnownRecord>): void {
    if (moved.length === 0) return;
    const { stream, isWhole, ledger } = this.#read;
    const lacks = `is missing in this ${ledger.isPart ? "part of the " : ""}read`;
    const candidates = this.#candidatesFor(moved);
    for (const { key, record } of moved) {
      const name = formatKey(key);
      const identity = identityOf(stream, record);
      const isNew = !known.has(name);
      const twin = candidates
        .get(identity ?? "")
        ?.find((one) => formatKey(one.known.key) !== name && !(isNew && hasSameAccount(record, one.known.record)));
      if (twin === undefined || (twin.now === undefined && !isWhole)) {
        const open = this.#stillAlike(name, (one) => isNew && hasSameAccount(record, one));
        if (open !== undefined) this.#suspect(name, open);
        else if (twin !== undefined && isNew) {
          const other = formatKey(twin.known.key);
          const message = `${name} has the values of ${other}. A read of changes does not show whether ${other} still exists`;
          this.#suspect(name, { code: "twin-unclear", message, customer: twin.known.customer });
        }
        continue;
      }
      const other = formatKey(twin.known.key);
      const isLacking = twin.now === undefined;
      const message = `${name} has the values that ${other} had, and ${other} ${isLacking ? lacks : "has other values now"}`;
      const { customer } = twin.known;
      const lacking = isLacking ? twin.known.key : undefined;
      this.#suspect(name, { code: "looks-like-another", message, customer, twin: lacking });
    }
  }

  /** The question of an earlier read, unless its twin is there again. Without a twin only a person answers it. */
  #stillAlike(name: string, isSame: (twin: JsonObject) => boolean): Suspect | undefined {
    const open = this.#open.get(name);
    if (open?.code !== "looks-like-another") return undefined;
    if (open.twin === undefined) return open;
    return this.#unmet(this.#read.ledger.of([open.twin])).some(({ known }) => !isSame(known.record)) ? open : undefined;
  }

  /** Records that the read does not contain unchanged. */
  #unmet(found: readonly KnownRecord[]): Candidate[] {
    const { stream, ledger, staged } = this.#read;
    const open = found.filter((one) => !ledger.hasMet(one) && !ledger.isOfAnother(one));
    const shown = staged.find(open.map(({ key }) => key));
    return open
      .map((known) => ({ known, now: shown.get(formatKey(known.key)) }))
      .filter(({ known, now }) => now === undefined || !("record" in now) || !staysItself(stream, known, now.record));
  }

  #candidatesFor(moved: readonly IngestedRecord[]): Map<string, Candidate[]> {
    const { stream, ledger } = this.#read;
    const found =
      stream === "orders"
        ? ledger.ordersOf(moved.map(({ customer }) => customer))
        : ledger.named(moved.flatMap(({ record }) => (typeof record["name"] === "string" ? record["name"] : [])));
    const byIdentity = new Map<string, Candidate[]>();
    for (const one of this.#unmet(found)) {
      const identity = identityOf(stream, one.known.record);
      if (identity === undefined) continue;
      const others = byIdentity.get(identity);
      if (others === undefined) byIdentity.set(identity, [one]);
      else if (others.length < 2) others.push(one);
    }
    return byIdentity;
  }

  /**
   * New records, also those of earlier parts, replace missing ones, also those that no source sends any more. Without a
   * full read, nobody knows which records are missing. Of a read that was cut, all that came may be new.
   */
  #turnover(): Doubt | undefined {
    const { limits, isWhole, isComplete, rows, ledger } = this.#read;
    if (!isWhole || this.#new === 0) return undefined;
    const count = this.#new + ledger.newBefore();
    const least = (total: number): number => Math.min(limitOf(limits.newIds, total), isComplete ? total : rows);
    if (count < least(ledger.total)) return undefined;
    const own = ledger.missing();
    const left = ledger.left();
    const what = isComplete && !ledger.isPart ? "are missing" : "are missing in this part of the read";
    for (const [total, missing] of [
      [ledger.total, own],
      [ledger.total + left, own + left - this.#moved],
    ] as const) {
      if (total === 0 || Math.min(count, missing) < least(total)) continue;
      const text = `${missing} of ${total} records ${what}, and ${count} are new, as if ids had changed`;
      return { guard: "ids", count, text };
    }
    return undefined;
  }

  #likeOthers(): Doubt | undefined {
    const alike = [...this.#suspects.values()].filter(({ isCounted }) => isCounted);
    const exchanged = this.#gained.filter((lines) => lines.some((line) => this.#lost.has(line))).length;
    const count = Math.max(this.#alike, exchanged);
    if (count < this.#limit) return undefined;
    const examples = alike.slice(0, 3).map(({ message }) => message);
    const how = examples.length === 0 ? "they exchanged their order lines" : examples.join("; ");
    return { guard: "ids", count, text: `${count} records look like others: ${how}` };
  }

  #changesDoubt(): Doubt | undefined {
    const { limits } = this.#read;
    const { total } = this.#read.ledger;
    const limit = Math.max(limits.massChange.floor, Math.ceil(limits.massChange.share * total));
    const fields = [...this.#changed]
      .filter(([, count]) => count >= limit)
      .toSorted(([, one], [, other]) => other - one);
    const [most] = fields;
    if (most === undefined) return undefined;
    const named = fields
      .slice(0, 5)
      .map(([field, count]) => `the field ${field} changed in ${count} of ${total} records`);
    return { guard: "changes", count: most[1], text: `${named.join(", ")} at once` };
  }
}
