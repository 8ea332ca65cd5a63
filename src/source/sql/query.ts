import type { Problem } from "../../base/errors.ts";
import type { Stream } from "../../crm/model.ts";
import { columnsRead, placeInRecord, type ReadSettings } from "../group-settings.ts";
import type { RecordLimits } from "../json.ts";
import { hiddenPlaces, waysOf } from "../mapping/ways.ts";
import { queryProblem, type Query } from "./failures.ts";
import type { Column, Snapshot } from "./snapshot.ts";
import { columnOf, type SqlSince } from "./sql-source-settings.ts";
import { tellsChanges } from "./values.ts";

export interface ChangedFrom {
  column: string;
  time: string;
}

/** The query in brackets after `select`, so that the statement reads and the database accepts no second one. */
export function statementOf(
  { text }: Query,
  { from, order }: { from?: ChangedFrom | undefined; order?: string | undefined },
  snapshot: Snapshot,
): string {
  const where = from === undefined ? "" : ` where ${changed(from, snapshot)}`;
  return `select * from (\n${text}\n) q${where}${order === undefined ? "" : ` order by q.${quoted(order)}`}`;
}

function changed({ column, time }: ChangedFrom, snapshot: Snapshot): string {
  return snapshot.atLeast(`q.${quoted(column)}`, time);
}

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

export function detailsOfChanged(
  details: { query: Query; column: string },
  headers: { query: Query; column: string; from: ChangedFrom },
  snapshot: Snapshot,
): string {
  return (
    `select * from (\n${details.query.text}\n) d where d.${quoted(details.column)} in (select ` +
    `q.${quoted(headers.column)} from (\n${headers.query.text}\n) q where ${changed(headers.from, snapshot)})`
  );
}

/** Counts all rows of details, and those whose header row exists. */
export function countOfDetails(
  details: { query: Query; column: string },
  headers: { query: Query; column: string },
): string {
  const key = `q.${quoted(headers.column)}`;
  return (
    `select count(*) as rows_read, count(${key}) as rows_met from (\n${details.query.text}\n) d left join ` +
    `(\n${headers.query.text}\n) q on ${key} = d.${quoted(details.column)}`
  );
}

export interface StreamSettings extends ReadSettings {
  query: string;
  key?: string | undefined;
  details?: Readonly<Record<string, { query: string; key: string }>> | undefined;
  since?: SqlSince | undefined;
  limits: RecordLimits;
}

export interface Part {
  query: Query;
  columns: readonly Column[];
  key: Column | undefined;
  /** A private field is read from the key, so no place and no position may contain the key. */
  isKeyPrivate: boolean;
}

export interface Question {
  header: Part;
  details: Readonly<Record<string, Part>>;
  changed: Column | undefined;
}

/** Throws a Problem for an invalid query, a missing column, or a column that no record can hold. */
export async function questionOf(
  stream: Stream,
  settings: StreamSettings,
  place: string,
  snapshot: Snapshot,
  placeOf: (key: string) => string,
  failed: (thrown: unknown, query: Query) => Problem,
): Promise<Question> {
  const isKeyPrivate = readsKeyPrivately(stream, settings);
  const needed = ({ query, columns }: Pick<Part, "query" | "columns">, name: string, key: string): Column => {
    const found = columns.find((column) => column.name === name);
    if (found !== undefined) return found;
    throw queryProblem(
      { ...query, place: placeOf(key) },
      `gives no column ${name}, which \`${key}\` reads; it gives ${namesOf(columns)}`,
      "Correct the name, or have the query give it.",
    );
  };
  const describe = async (set: { query: string; key?: string | undefined }, at: string): Promise<Part> => {
    // Strips trailing semicolons, which are valid only outside the brackets.
    const text = set.query.replace(/(?<![;\s])[;\s]*$/u, "");
    const query = { text, settings: at, place: placeOf(`${at}.query`) };
    let columns: Column[];
    try {
      columns = await snapshot.columns(statementOf(query, {}, snapshot));
      // Also without our brackets: a query with an extra bracket is valid only inside them.
      await snapshot.columns(text);
    } catch (thrown) {
      throw failed(thrown, query);
    }
    refuseColumns(query, columns);
    const key = set.key === undefined ? undefined : needed({ query, columns }, columnOf(set.key) ?? "", `${at}.key`);
    return { query, columns, key, isKeyPrivate };
  };
  const header = await describe(settings, place);
  const details: Record<string, Part> = {};
  for (const [name, set] of Object.entries(settings.details ?? {}))
    details[name] = await describe(set, `${place}.details.${name}`);
  for (const { part, column, key } of columnsRead(stream, settings))
    needed((part === undefined ? undefined : details[part]) ?? header, column, `${place}.${key}`);
  if (settings.since === undefined) return { header, details, changed: undefined };
  const changed = needed(header, settings.since.column, `${place}.since.column`);
  if (tellsChanges(changed)) return { header, details, changed };
  throw queryProblem(
    header.query,
    `gives ${changed.name}, which \`${place}.since.column\` names, as ${changed.type}; expected a time`,
    "Name another column, or leave `since` out.",
  );
}

function readsKeyPrivately(stream: Stream, { key, group, mapping, skip }: StreamSettings): boolean {
  const name = key === undefined ? undefined : columnOf(key);
  const hidden = hiddenPlaces(stream, waysOf(stream, mapping, skip), (steps) => String(placeInRecord(steps, group)[0]));
  return name !== undefined && hidden.has(name);
}

function refuseColumns(query: Query, columns: readonly Column[]): void {
  const seen = new Set<string>();
  const refuse = (message: string, cure: string): never => {
    throw queryProblem(query, message, cure);
  };
  for (const { name, kind, type } of columns) {
    if (name === "" || name === "?column?") refuse("gives a column without a name", "Give it one with `as`.");
    if (name === "__proto__") refuse("gives a column __proto__, which no record can have", "Rename it with `as`.");
    if (seen.has(name)) refuse(`gives two columns ${name}`, "Rename one of them with `as`.");
    seen.add(name);
    if (kind === "binary")
      refuse(
        `gives the column ${name} as bytes (${type}), which no record can hold`,
        "Leave it out, or have the query write it as text.",
      );
  }
}

function namesOf(columns: readonly Column[]): string {
  const most = 30;
  const names = columns.slice(0, most).map(({ name }) => name);
  return `${names.join(", ")}${columns.length > most ? ` and ${columns.length - most} others` : ""}`;
}
