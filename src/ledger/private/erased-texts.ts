import { isJsonObject, parseJson, type Json } from "../../base/canonical-json.ts";
import type { RecordKey } from "../../crm/model.ts";
import { phoneDigits, phonePattern } from "../../http/redaction.ts";
import type { Sqlite } from "../database/database.ts";
import { searchedPlaces, type PlaceOfPersonal } from "./places.ts";
import { stored } from "../database/damage.ts";
import type { FullRow } from "../tables.ts";

export const erasedMark = "[erased]";

const shortest = 2;
/** In rows of no single customer, a shorter text often means something else. */
const shortestAnywhere = 4;

/** Names in `run.summary` that are not personal data, even if a person has the name of a stream. */
const ownNames: ReadonlySet<string> = new Set(["source", "stream", "standing", "owner", "since"]);
const noNames: ReadonlySet<string> = new Set();
/** A smaller number is a count, and no phone number. */
const leastNumber = 1e6;

export function textsIn(values: readonly Json[]): Set<string> {
  const texts = new Set<string>();
  const add = (value: Json | undefined): void => {
    if (typeof value === "string" && value.trim() !== "") texts.add(value.trim());
    else if (Array.isArray(value)) value.forEach(add);
    else if (isJsonObject(value)) Object.values(value).forEach(add);
  };
  values.forEach(add);
  return texts;
}

/** Also deletes read positions with the texts. Runs in the writer's transaction. Returns the number of changed rows. */
export function eraseTexts(database: Sqlite, customers: readonly RecordKey[], texts: ReadonlySet<string>): number {
  let changed = 0;
  for (const { place, of } of searches(database, customers, texts)) {
    const set = place.columns.map((column) => `${column} = ${erasedIn(place, column)}`).join(", ");
    const statement = database.prepare(`update ${place.table} set ${set} where ${repeats(place)}`);
    for (const one of of) changed += statement.run(one).changes;
  }
  for (const sql of forgetting) changed += database.prepare(sql).run().changes;
  return changed;
}

export interface RepeatedIn {
  table: string;
  columns: readonly string[];
  rows: number;
}

export function repeatedIn(
  database: Sqlite,
  customers: readonly RecordKey[],
  texts: ReadonlySet<string>,
): RepeatedIn[] {
  const found: RepeatedIn[] = [];
  for (const { place, of } of searches(database, customers, texts)) {
    const { table, columns } = place;
    const sql = `select count(*) from ${table} where ${repeats(place)}`;
    const count = database.prepare<[object], number>(sql).pluck();
    const rows = of.reduce((sum, one) => sum + (count.get(one) ?? 0), 0);
    if (rows > 0) found.push({ table, columns, rows });
  }
  return found;
}

type Searched = Pick<PlaceOfPersonal, "table" | "columns" | "theirs">;

/** An erasure empties `place` for its own records, and searches it for all others. */
const nobodys: readonly Searched[] = [
  ...searchedPlaces.filter(({ theirs }) => theirs === undefined),
  { table: "quarantine", columns: ["place"] },
  { table: "quarantine_stood", columns: ["place"] },
];

/** Until the next place, the SQL functions `crm_sync_erased…` remove the texts of its group. */
function* searches(
  database: Sqlite,
  customers: readonly RecordKey[],
  texts: ReadonlySet<string>,
): Generator<{ place: Searched; of: readonly object[] }, void, void> {
  const groups = [
    { least: shortest, places: searchedPlaces.filter(({ theirs }) => theirs !== undefined), of: customers },
    { least: shortestAnywhere, places: nobodys, of: [{}] },
  ];
  for (const { least, places, of } of groups) {
    const those = [...texts].filter((text) => text.length >= least);
    for (const [name, names] of [
      ["crm_sync_erased", noNames],
      ["crm_sync_erased_of_runs", ownNames],
    ] as const) {
      const replace = replacing(those, names);
      database.function(name, { deterministic: true }, (text: unknown) =>
        typeof text === "string" ? replace(text) : text,
      );
    }
    for (const place of places) yield { place, of };
  }
}

const forgetting = [
  "update source_read set cursor = null where cursor is not crm_sync_erased(cursor)",
  `delete from read_checkpoint_seen where exists (select 1 from read_checkpoint c where c.source =
     read_checkpoint_seen.source and c.stream = read_checkpoint_seen.stream
     and c.position is not crm_sync_erased(c.position))`,
  "delete from read_checkpoint where position is not crm_sync_erased(position)",
];

function erasedIn({ table }: Searched, column: string): string {
  return `${table === "run" ? "crm_sync_erased_of_runs" : "crm_sync_erased"}(${column})`;
}

function repeats(place: Searched): string {
  const differs = place.columns.map((column) => `${column} is not ${erasedIn(place, column)}`).join(" or ");
  return `(${place.theirs ?? "true"}) and (${differs})`;
}

export function replacing(texts: readonly string[], kept = noNames): (text: string) => string {
  const patterns = [...new Set(texts.flatMap(spellingsOf))]
    .filter((text) => /[\p{L}\p{N}]/u.test(text))
    .toSorted((left, right) => right.length - left.length)
    .map(patternOf);
  if (patterns.length === 0) return (text) => text;
  const pattern = new RegExp(patterns.join("|"), "giu");
  const plain = (text: string): string => text.replace(pattern, erasedMark);
  return (text) => {
    if (!/^[[{"]/u.test(text)) return plain(text);
    const read = readJson(text);
    if (read === undefined) return plain(text);
    const clean = mapped(read, plain, kept);
    return clean === read ? text : JSON.stringify(clean);
  };
}

/** The spellings of a text: composed, decomposed, escaped in JSON, encoded in a URL. */
function spellingsOf(text: string): string[] {
  const whole = text.toWellFormed();
  const escaped = Array.from({ length: text.length }, (_, index) => escapedUnit(text[index] ?? ""));
  const encoded = encodeURIComponent(whole);
  return [
    text,
    text.normalize("NFC"),
    text.normalize("NFD"),
    escaped.join(""),
    encoded,
    encoded.replaceAll("%20", "+"),
  ];
}

function escapedUnit(unit: string): string {
  const code = unit.codePointAt(0) ?? 0;
  return code < 128 ? JSON.stringify(unit).slice(1, -1) : `\\u${code.toString(16).padStart(4, "0")}`;
}

function readJson(text: string): Json | undefined {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

/** Matches whole words. After `/` comes an id, which is no personal data. Phone digits may be grouped. */
function patternOf(text: string): string {
  const digits = phoneDigits(text.trim());
  if (digits !== undefined) return `(?<![\\p{L}_/])${phonePattern(digits)}`;
  const begins = /^[A-Za-z0-9]/u.test(text) ? "(?<![\\p{L}\\p{N}_/])" : "";
  const ends = /[A-Za-z0-9]$/u.test(text) ? "(?![\\p{L}\\p{N}_])" : "";
  return begins + RegExp.escape(text) + ends;
}

/** Returns the same value if nothing changes. */
function mapped(value: Json, change: (text: string) => string, kept: ReadonlySet<string>): Json {
  if (typeof value === "string") return change(value);
  if (typeof value === "number")
    return value >= leastNumber && change(String(value)) !== String(value) ? erasedMark : value;
  if (Array.isArray(value)) {
    const items = value.map((item) => mapped(item, change, kept));
    return items.every((item, index) => item === value[index]) ? value : items;
  }
  if (!isJsonObject(value)) return value;
  const members = Object.entries(value).map(
    ([name, item]) => [name, kept.has(name) ? (item ?? null) : mapped(item ?? null, change, kept)] as const,
  );
  return members.every(([name, item]) => item === (value[name] ?? null)) ? value : Object.fromEntries(members);
}

export type Kept = FullRow<"private_value", "ref" | "version">;

/** `isGiven`: current values of a customer that the CRM still sends; they stay. */
export type Mention = Kept & { isGiven: 0 | 1 };

/** May contain another record's data. `own`: the record's own values, which do not count. */
export type KeptOfOthers = Mention & { body: string; own: string | null };

/** The subject in the audit log of entries that somebody was shown this form or answer. */
export function shownSubject(ref: string): string {
  return ref.replace(/^quarantine\//u, "quarantine:").replace(/^answer\//u, "operation:");
}

const untelling: ReadonlySet<string> = new Set(["remark"]);
/** Several words, or with digits or signs. */
const telling = /^(?=.*[^\p{L}]).{6,}$/su;
const logins: ReadonlySet<string> = new Set(["userName", "adminAccount"]);
const shortestLogin = 5;
const unspaced = /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}]{2,}$/u;

export function tellingTexts(bodies: readonly string[]): Set<string> {
  const texts = new Set<string>();
  for (const body of bodies) {
    const values = stored<Json>(body);
    for (const [field, value] of Object.entries(isJsonObject(values) ? values : {})) {
      if (typeof value !== "string" || untelling.has(field)) continue;
      const text = value.trim();
      const isLogin = logins.has(field) && text.length >= shortestLogin;
      if (isLogin || telling.test(text) || unspaced.test(text)) texts.add(text);
    }
  }
  return texts;
}

/** Forms, answers and former values that contain one of these texts, unless the record itself has that value. */
export function mentionsIn(rows: Iterable<KeptOfOthers>, texts: ReadonlySet<string>): Mention[] {
  if (texts.size === 0) return [];
  const each = [...texts].map((text) => replacing([text]));
  const all = replacing([...texts]);
  const found: Mention[] = [];
  for (const { ref, version, body, own, isGiven } of rows) {
    if (all(body) === body) continue;
    const isOthers = each.some((one) => one(body) !== body && (own === null || one(own) === own));
    if (isOthers) found.push({ ref, version, isGiven });
  }
  return found;
}

/** Selects every `KeptOfOthers`. A customer's earlier administrator does not count as its own value. */
export const keptOfOthers = `
  select p.ref, p.version, p.body, iif(p.ref > 'raw:customers/' and p.ref < 'raw:customers0' and exists (
      select 1 from private_value n where n.ref = o.ref and n.version > o.version), null, o.body) as own, 0 as isGiven
    from private_value p left join private_value o on o.ref = substr(p.ref, 5) and o.version = p.version
    where p.ref > 'raw:' and p.ref < 'raw;' and p.body is not null
  union all select ref, version, body, null, 0 from private_value
    where ref > 'answer/' and ref < 'answer0' and body is not null
  union all select ref, version, body, null, 0 from private_value
    where ref > 'quarantine/' and ref < 'quarantine0' and body is not null
  union all select p.ref, p.version, p.body, null, p.version = r.version and r.state <> 'absent'
    from record r cross join private_value p on p.ref = 'customers/' || r.namespace || '/' || r.id
    where r.stream = 'customers' and p.body is not null`;
