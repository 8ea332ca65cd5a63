import { isJsonObject, parseJson } from "../../base/canonical-json.ts";
import type { Json } from "../../base/canonical-json.ts";
import type { RecordKey } from "../../crm/model.ts";
import type { Sqlite } from "../database/database.ts";

/** What stands where personal data was. */
export const erasedMark = "[erased]";

/** A shorter text is no name. */
const shortest = 2;
/** In rows that are nobody's, a shorter text stands for something else as often as for a person. */
const shortestAnywhere = 4;

const ofCustomer = "customer_namespace = @namespace and customer_id = @id";
const ofTheirs = "namespace = @namespace and customer_id = @id";
const operations = `(select id from operation where ${ofCustomer})`;
const records = `(select stream, namespace, id from record where ${ofCustomer})`;
/** What waited while it was theirs, also where it moved to another customer since. */
const waited = `(select w.stream, w.namespace, w.id from record_stood w join record_version v on v.stream = w.stream
  and v.namespace = w.namespace and v.id = w.id where w.deferred_reason is not null
  and v.body ->> '$.customerId' = @id and coalesce(v.body ->> '$.customerNamespace', v.namespace) = @namespace)`;
const bad = `(select id from quarantine where ${ofCustomer})`;

/**
 * Columns that hold words of a service, of a source or of a person who decided, and whose rows they are. The program
 * takes out of them what it knows to be private before it writes them; here they are looked through once more.
 */
export const wordsOfCustomer: readonly [table: string, columns: readonly string[], theirs: string][] = [
  ["operation", ["evidence", "outcome_message"], ofCustomer],
  ["operation_stood", ["evidence", "outcome_message"], `operation_id in ${operations}`],
  ["attempt", ["detail"], `operation_id in ${operations}`],
  ["rejection", ["reason"], ofCustomer],
  ["record", ["deferred_reason"], ofCustomer],
  [
    "record_stood",
    ["deferred_reason"],
    `(stream, namespace, id) in ${records} or (stream, namespace, id) in ${waited}`,
  ],
  ["quarantine", ["message", "expected"], ofCustomer],
  ["quarantine_stood", ["message", "expected"], `${ofCustomer} or id in ${bad}`],
  ["difference", ["detail"], ofTheirs],
  ["question", ["reason"], ofCustomer],
  ["decision", ["reason"], ofCustomer],
  ["manual_request", ["details", "reason", "answer"], ofCustomer],
  ["unlinked", ["reason"], ofTheirs],
  ["by_hand", ["reason"], `(stream, namespace, id) in ${records}`],
  ["moved_order", ["unclear"], ofCustomer],
  ["unread_customer", ["why"], "namespace = @namespace and id = @id"],
];

/** The same in rows that are of no customer, or of many. */
export const wordsOfAll: readonly [table: string, columns: readonly string[]][] = [
  ["run", ["summary"]],
  ["alert", ["body"]],
  ["alert_told", ["body"]],
  ["delivery", ["problem"]],
  ["source_read", ["problem", "details"]],
  ["assumption_met", ["evidence", "reason"]],
  ["open_circuit", ["reason"]],
  ["head_place", ["problem"]],
];

/**
 * Members of `run.summary` that hold names which this program or its configuration has for things, and nobody's words:
 * what a run read and did stays so, whoever is called like a stream.
 */
const ownNames: ReadonlySet<string> = new Set(["source", "stream", "standing", "owner", "since"]);
const noNames: ReadonlySet<string> = new Set();

/**
 * Puts a mark in the place of personal data wherever words of others repeat it: texts of `customers` in their rows, and
 * in rows that are nobody's. Answers how many rows had any. Runs inside the writer's transaction.
 */
export function eraseTexts(database: Sqlite, customers: readonly RecordKey[], texts: ReadonlySet<string>): number {
  let changed = 0;
  const within = (least: number, sweep: () => number): void => {
    const those = [...texts].filter((text) => text.length >= least);
    for (const [name, kept] of [
      ["crm_sync_erased", noNames],
      ["crm_sync_erased_of_runs", ownNames],
    ] as const) {
      const replace = replacing(those, kept);
      database.function(name, { deterministic: true }, (text: unknown) =>
        typeof text === "string" ? replace(text) : text,
      );
    }
    changed += sweep();
  };
  within(shortest, () => {
    let rows = 0;
    for (const [table, columns, theirs] of wordsOfCustomer)
      for (const customer of customers) rows += database.prepare(update(table, columns, theirs)).run(customer).changes;
    return rows;
  });
  within(shortestAnywhere, () =>
    wordsOfAll.reduce((rows, [table, columns]) => rows + database.prepare(update(table, columns)).run().changes, 0),
  );
  return changed;
}

function update(table: string, columns: readonly string[], theirs = "true"): string {
  const erased = table === "run" ? "crm_sync_erased_of_runs" : "crm_sync_erased";
  const set = columns.map((column) => `${column} = ${erased}(${column})`).join(", ");
  const differs = columns.map((column) => `${column} is not ${erased}(${column})`).join(" or ");
  return `update ${table} set ${set} where (${theirs}) and (${differs})`;
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

/** A word ends where letters do; behind `/` stands an id, which is no personal data. */
function patternOf(text: string): string {
  const begins = /^[A-Za-z0-9]/u.test(text) ? "(?<![\\p{L}\\p{N}_/])" : "";
  const ends = /[A-Za-z0-9]$/u.test(text) ? "(?![\\p{L}\\p{N}_])" : "";
  return begins + RegExp.escape(text) + ends;
}

/** The same value where nothing of it changes. */
function mapped(value: Json, change: (text: string) => string, kept: ReadonlySet<string>): Json {
  if (typeof value === "string") return change(value);
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
