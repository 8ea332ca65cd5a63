import { isJsonObject, parseJson, type Json } from "../../base/canonical-json.ts";
import type { RecordKey } from "../../crm/model.ts";
import { phoneDigits, phonePattern } from "../../http/redaction.ts";
import type { Sqlite } from "../database/database.ts";
import { searchedPlaces, type PlaceOfPersonal } from "./places.ts";
import { stored } from "../database/damage.ts";
import type { FullRow } from "../tables.ts";

/** What stands where personal data was. */
export const erasedMark = "[erased]";

/** A shorter text is no name. */
const shortest = 2;
/** In rows that are nobody's, a shorter text stands for something else as often as for a person. */
const shortestAnywhere = 4;

/**
 * Members of `run.summary` that hold names which this program or its configuration has for things, and nobody's words:
 * what a run read and did stays so, whoever is called like a stream.
 */
const ownNames: ReadonlySet<string> = new Set(["source", "stream", "standing", "owner", "since"]);
const noNames: ReadonlySet<string> = new Set();
/** A smaller number is a count, and no phone number. */
const leastNumber = 1e6;

/** Every text in these values. */
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

/**
 * Puts a mark in the place of personal data wherever words of others repeat it: texts of `customers` in their rows, and
 * in rows that are nobody's. Positions of readings that repeat it are forgotten. Answers how many rows had any. Runs
 * inside the writer's transaction.
 */
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

/** A place of the ledger where words repeat texts, and in how many rows. */
export interface RepeatedIn {
  table: string;
  columns: readonly string[];
  rows: number;
}

/** In how many rows of which places an erasure of these texts would put a mark. */
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

/** Places are emptied for the record itself, and looked through for what others say of it. */
const nobodys: readonly Searched[] = [
  ...searchedPlaces.filter(({ theirs }) => theirs === undefined),
  { table: "quarantine", columns: ["place"] },
  { table: "quarantine_stood", columns: ["place"] },
];

/** Every place that is looked through, and of whom; until the next is asked for, SQL can take the texts out of a text. */
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

/**
 * A function that takes texts out of what it is given; where that is JSON, out of its texts and of nothing else, but
 * those of members that are `kept`.
 */
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

/** A text as it may stand in the words of others: composed or not, escaped in JSON, encoded in a URL. */
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

/** A code unit as JSON writes it where it is kept to ASCII. */
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

/**
 * A word ends where letters do; behind `/` stands an id, which is no personal data. A phone number is found however its
 * digits are grouped.
 */
function patternOf(text: string): string {
  const digits = phoneDigits(text.trim());
  if (digits !== undefined) return `(?<![\\p{L}_/])${phonePattern(digits)}`;
  const begins = /^[A-Za-z0-9]/u.test(text) ? "(?<![\\p{L}\\p{N}_/])" : "";
  const ends = /[A-Za-z0-9]$/u.test(text) ? "(?![\\p{L}\\p{N}_])" : "";
  return begins + RegExp.escape(text) + ends;
}

/** The same value where nothing of it changes. */
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

/** What is kept in the private table under a name. */
export type Kept = FullRow<"private_value", "ref" | "version">;

/** What repeats something of somebody. `isGiven`: the values of a customer as the CRM gives them now, which stay. */
export type Mention = Kept & { isGiven: 0 | 1 };

/**
 * Something that is kept and may repeat what is of somebody else: a raw form, an answer of a service, or the values of a
 * customer. `own`: the values of the record itself, which are its own whoever else has the same.
 */
export type KeptOfOthers = Mention & { body: string; own: string | null };

/** What the audit log names a form or an answer by, where somebody was shown it. */
export function shownSubject(ref: string): string {
  return ref.replace(/^quarantine\//u, "quarantine:").replace(/^answer\//u, "operation:");
}

/** Fields whose text is no name, number or address of anybody. */
const untelling: ReadonlySet<string> = new Set(["remark"]);
/** Of several words, or with digits or signs. */
const telling = /^(?=.*[^\p{L}]).{6,}$/su;
const logins: ReadonlySet<string> = new Set(["userName", "adminAccount"]);
const shortestLogin = 5;
/** Scripts in which a name is two or three letters long. */
const unspaced = /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}]{2,}$/u;

/** The texts of private values that mean this person or customer and hardly anything else, wherever they stand. */
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

/**
 * Raw forms, answers of services and former values of customers that repeat any of these texts, in whatever spelling,
 * where the record itself has no such value.
 */
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

/**
 * A statement that gives every `KeptOfOthers`. What a customer had as its administrator before is of that person and not
 * its own any more.
 */
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
