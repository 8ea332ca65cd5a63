import { type JsonObject, type Json, canonicalJson, isJsonObject } from "../../base/canonical-json.ts";
import { formatKey } from "../../crm/keys.ts";
import type { RecordKey, Stream } from "../../crm/model.ts";
import {
  type KnownRecord,
  isWithheld,
  keyOfRow,
  type IngestedRecord,
  type MappedRow,
  type StagedRecords,
} from "../../ledger/records/staged-records.ts";
import type { Reading } from "../../ledger/records/reading.ts";
import { counted } from "../../report/text.ts";
import { limitOf, type Doubt } from "./guards.ts";
import { comparedName } from "../../crm/name-keys.ts";

export interface ReadLimit {
  floor: number;
  share: number;
}

/** A record that waits in quarantine until a person confirms it, or until it changes. */
export interface Suspect {
  code:
    | "id-names-another"
    | "looks-like-another"
    | "lines-renumbered"
    | "line-may-have-moved"
    | "parts-unclear"
    | "twin-unclear";
  message: string;
  /** The record's customer in the ledger. Nothing of this customer is removed meanwhile. */
  customer: RecordKey;
  /** The similar record that is missing from the read. It does not count as missing meanwhile. */
  twin?: RecordKey | undefined;
}

export interface JudgedRead {
  stream: Stream;
  staged: StagedRecords;
  /** `isWhole`: everything was requested. `isComplete`: the read reached its end. */
  isWhole: boolean;
  isComplete: boolean;
  /** Of a read of changes: its details are not the whole truth about its records. */
  areDetailsUnclear: boolean;
  limits: { newIds: ReadLimit; massChange: ReadLimit };
  ledger: ReturnType<Reading["compared"]>;
}

export interface Judgement {
  doubts: readonly Doubt[];
  /** By `formatKey`. */
  suspects: ReadonlyMap<string, Suspect>;
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

/** No number of accepted ids covers these. */
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

/**
 * A read is not used if ids seem to have changed, or one field changed in very many records. A few records that look
 * like others wait individually.
 */
export class ReadJudge {
  readonly #read: JudgedRead;
  readonly #suspects = new Map<string, Suspect>();
  readonly #changed = new Map<string, number>();
  readonly #lost = new Set<string>();
  readonly #gained: string[][] = [];
  readonly #limit: number;
  #new = 0;
  #alike = 0;
  readonly #ofPage = new Set<string>();

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
    const decided = ledger.decided(rows.flatMap((row) => ("record" in row ? row.record.rawHash : [])));
    const moved: IngestedRecord[] = [];
    for (const row of rows) {
      const key = keyOfRow(row);
      const before = key === undefined ? undefined : known.get(formatKey(key));
      if ("record" in row && decided.has(row.record.rawHash)) continue;
      if (key !== undefined && (before === undefined || before.state === "absent")) this.#new += 1;
      if (!("record" in row) || before?.state === "absent") continue;
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

  #compare({ key, record: now }: IngestedRecord, { record: before, customer }: KnownRecord): void {
    const { stream, ledger, isWhole } = this.#read;
    const name = formatKey(key);
    for (const field of changedFields(before, now)) this.#changed.set(field, (this.#changed.get(field) ?? 0) + 1);
    if (namesAnother(stream, before, now)) {
      const message = `all fields that identify ${name} changed at once, as if it were another record`;
      this.#suspect(name, { code: "id-names-another", message, customer });
    }
    if (stream !== "orders") return;
    const { lost, gained, renumbered } = lineChanges(before, now);
    for (const line of lost) this.#lost.add(line);
    if (gained.length > 0) this.#gained.push(gained);
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

  #suspect(name: string, suspect: Suspect): void {
    if (this.#ofPage.has(name)) return;
    this.#ofPage.add(name);
    const isCounted = !isOfParts(suspect.code);
    if (isCounted) this.#alike += 1;
    // Above the limit the whole read is doubted or accepted, so the others need no names.
    if (!isCounted || this.#alike <= this.#limit) this.#suspects.set(name, suspect);
  }

  #findTwins(moved: readonly IngestedRecord[], known: ReadonlyMap<string, KnownRecord>): void {
    if (moved.length === 0) return;
    const { stream } = this.#read;
    const candidates = this.#candidatesFor(moved);
    for (const { key, record } of moved) {
      const name = formatKey(key);
      const identity = identityOf(stream, record);
      const isNew = !known.has(name);
      const twin = candidates
        .get(identity ?? "")
        ?.find((one) => formatKey(one.known.key) !== name && !(isNew && hasSameAccount(record, one.known.record)));
      if (identity === undefined || twin === undefined) continue;
      const other = formatKey(twin.known.key);
      if (twin.now === undefined && !this.#read.isWhole) {
        if (!isNew) continue;
        const message = `${name} has the values of ${other}. A read of changes does not show whether ${other} still exists`;
        this.#suspect(name, { code: "twin-unclear", message, customer: twin.known.customer });
        continue;
      }
      const isLacking = twin.now === undefined;
      const how = isLacking ? "is missing in this read" : "has other values now";
      const message = `${name} has the values that ${other} had, and ${other} ${how}`;
      const { customer } = twin.known;
      const lacking = isLacking ? twin.known.key : undefined;
      this.#suspect(name, { code: "looks-like-another", message, customer, twin: lacking });
    }
  }

  #candidatesFor(moved: readonly IngestedRecord[]): Map<string, Candidate[]> {
    const { stream, ledger, staged } = this.#read;
    const found =
      stream === "orders"
        ? ledger.ordersOf(moved.map(({ customer }) => customer))
        : ledger.named(moved.flatMap(({ record }) => (typeof record["name"] === "string" ? record["name"] : [])));
    const open = found.filter((one) => !ledger.hasMet(one) && !ledger.isOfAnother(one));
    const shown = staged.find(open.map(({ key }) => key));
    const byIdentity = new Map<string, Candidate[]>();
    for (const known of open) {
      const identity = identityOf(stream, known.record);
      const now = shown.get(formatKey(known.key));
      if (identity === undefined) continue;
      if (now !== undefined && "record" in now && staysItself(stream, known, now.record)) continue;
      const others = byIdentity.get(identity);
      if (others === undefined) byIdentity.set(identity, [{ known, now }]);
      else if (others.length < 2) others.push({ known, now });
    }
    return byIdentity;
  }

  /** New records replace missing ones. Without a full read, nobody knows which records are missing. */
  #turnover(): Doubt | undefined {
    const { limits, isWhole, isComplete, ledger } = this.#read;
    const { total } = ledger;
    const limit = limitOf(limits.newIds, total);
    if (!isWhole || total === 0 || this.#new < limit) return undefined;
    const missing = ledger.missing();
    if (missing < limit) return undefined;
    const what = isComplete ? "are missing" : "did not appear before the read ended too early";
    const text = `${missing} of ${total} records ${what}, and ${this.#new} are new, as if ids had changed`;
    return { guard: "ids", count: this.#new, text };
  }

  #likeOthers(): Doubt | undefined {
    const alike = [...this.#suspects.values()].filter(({ code }) => !isOfParts(code));
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

/** Accounts are left out: many are made from the id. */
const otherParts: Record<"customers" | "staff", readonly string[]> = {
  customers: ["address", "adminName", "adminAccount", "adminEmail", "adminMobile"],
  staff: ["mobile"],
};

function textOf(record: JsonObject, field: string): string | undefined {
  const value = record[field];
  return typeof value === "string" ? value : undefined;
}

/** Customer: name in any spelling. Person: name and mobile, or name and customer. Order: everything except ids. */
export function identityOf(stream: Stream, record: JsonObject): string | undefined {
  if (stream === "orders") return contentOf(record);
  const written = textOf(record, "name");
  const name = written === undefined ? null : comparedName(written);
  if (name === null) return undefined;
  if (stream === "customers") return name;
  const mobile = textOf(record, "mobile");
  return canonicalJson(mobile === undefined ? [name, record["customerId"] ?? null] : [name, mobile]);
}

/** Whether all identifying fields changed at once. A name alone proves nothing. */
export function namesAnother(stream: Stream, before: JsonObject, now: JsonObject): boolean {
  if (stream === "orders") return false;
  const changed = (field: string): boolean | undefined => {
    const [was, is] = [textOf(before, field), textOf(now, field)];
    return was === undefined || is === undefined ? undefined : was !== is;
  };
  const others = otherParts[stream].map(changed).filter((one) => one !== undefined);
  return changed("name") === true && others.length > 0 && others.every(Boolean);
}

function contentOf(record: JsonObject): string {
  const { id: _id, namespace: _namespace, channelOrderId: _number, instances, ...rest } = record;
  const lines = instancesOf(instances).map((line) => contentOfLine(line));
  return canonicalJson({ ...rest, instances: lines.toSorted() });
}

function contentOfLine(line: JsonObject): string {
  const { id: _id, parentId: _parent, passwords: _passwords, ...rest } = line;
  return canonicalJson(rest);
}

export function instancesOf(value: Json | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter((one) => isJsonObject(one)) : [];
}

export function linesOf(record: JsonObject): Map<string, JsonObject> {
  return new Map(
    instancesOf(record["instances"]).flatMap((line) => (typeof line["id"] === "string" ? [[line["id"], line]] : [])),
  );
}

export interface LineChanges {
  lost: string[];
  gained: string[];
  /** Lines with a new id and the contents of a lost line. */
  renumbered: number;
}

export function lineChanges(before: JsonObject, now: JsonObject): LineChanges {
  const [was, is] = [linesOf(before), linesOf(now)];
  const lost = [...was.keys()].filter((id) => !is.has(id));
  const gained = [...is.keys()].filter((id) => !was.has(id));
  const contents = lost.map((id) => contentOfLine(was.get(id) ?? {}));
  let renumbered = 0;
  for (const id of gained) {
    const at = contents.indexOf(contentOfLine(is.get(id) ?? {}));
    if (at === -1) continue;
    contents.splice(at, 1);
    renumbered += 1;
  }
  return { lost, gained, renumbered };
}

/** How many lines of an order or assets of a person are missing. */
function losses(stream: Stream, before: JsonObject, now: JsonObject): number {
  if (stream === "orders") return lineChanges(before, now).lost.length;
  const left = instancesOf(now["assets"]).map((asset) => canonicalJson(asset));
  return instancesOf(before["assets"]).filter((asset) => {
    const at = left.indexOf(canonicalJson(asset));
    if (at !== -1) left.splice(at, 1);
    return at === -1;
  }).length;
}

export function changedFields(before: JsonObject, now: JsonObject): string[] {
  const fields = new Set<string>();
  for (const field of new Set([...Object.keys(before), ...Object.keys(now)]))
    if (field !== "instances" && differs(before[field], now[field])) fields.add(field);
  const [was, is] = [linesOf(before), linesOf(now)];
  if (was.size !== is.size || [...was.keys()].some((id) => !is.has(id))) fields.add("instances");
  for (const [id, line] of is) {
    const earlier = was.get(id) ?? line;
    for (const field of new Set([...Object.keys(earlier), ...Object.keys(line)]))
      if (differs(earlier[field], line[field])) fields.add(`instances.${field}`);
  }
  return [...fields];
}

function differs(before: Json | undefined, now: Json | undefined): boolean {
  if (isWithheld(before) || isWithheld(now)) return false;
  return canonicalJson(before ?? null) !== canonicalJson(now ?? null);
}
