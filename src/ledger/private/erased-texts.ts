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

/**
 * Columns that hold words of a service, of a source or of a person who decided, and whose rows they are. The program
 * takes out of them what it knows to be private before it writes them; here they are looked through once more.
 */
export const wordsOfCustomer: readonly [table: string, columns: readonly string[], theirs: string][] = [
  ["operation", ["evidence", "outcome_message"], ofCustomer],
  ["attempt", ["detail"], `operation_id in ${operations}`],
  ["rejection", ["reason"], ofCustomer],
  ["record", ["deferred_reason"], ofCustomer],
  ["quarantine", ["message", "expected"], ofCustomer],
  ["difference", ["detail"], ofTheirs],
  ["hold", ["reason"], ofCustomer],
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
  ["source_read", ["problem", "details"]],
  ["assumption_met", ["evidence", "reason"]],
  ["open_circuit", ["reason"]],
  ["head_place", ["problem"]],
];

/**
 * Puts a mark in the place of personal data wherever words of others repeat it: texts of `customers` in their rows, and
 * in rows that are nobody's. Answers how many rows had any. Runs inside the writer's transaction.
 */
export function eraseTexts(database: Sqlite, customers: readonly RecordKey[], texts: ReadonlySet<string>): number {
  let changed = 0;
  const within = (least: number, sweep: () => number): void => {
    const replace = replacing([...texts].filter((text) => text.length >= least));
    database.function("crm_sync_erased", { deterministic: true }, (text: unknown) =>
      typeof text === "string" ? replace(text) : text,
    );
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
  const set = columns.map((column) => `${column} = crm_sync_erased(${column})`).join(", ");
  const differs = columns.map((column) => `${column} is not crm_sync_erased(${column})`).join(" or ");
  return `update ${table} set ${set} where (${theirs}) and (${differs})`;
}

/** A function that takes texts out of what it is given; where that is JSON, out of its texts and of nothing else. */
export function replacing(texts: readonly string[]): (text: string) => string {
  const patterns = texts
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
    const clean = mapped(read, plain);
    return clean === read ? text : JSON.stringify(clean);
  };
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
function mapped(value: Json, change: (text: string) => string): Json {
  if (typeof value === "string") return change(value);
  if (Array.isArray(value)) {
    const items = value.map((item) => mapped(item, change));
    return items.every((item, index) => item === value[index]) ? value : items;
  }
  if (!isJsonObject(value)) return value;
  const members = Object.entries(value).map(([name, item]) => [name, mapped(item ?? null, change)] as const);
  return members.every(([name, item]) => item === (value[name] ?? null)) ? value : Object.fromEntries(members);
}
