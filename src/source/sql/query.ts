import type { Problem } from "../../base/errors.ts";
import type { Stream } from "../../crm/model.ts";
import { placeInRecord, placesRead, type ReadSettings } from "../group-settings.ts";
import type { RecordLimits } from "../json.ts";
import { hiddenPlaces, waysOf } from "../mapping/ways.ts";
import { sourceProblem } from "../problems.ts";
import type { Column, Dialect } from "./dialect.ts";
import type { Open } from "./reading.ts";
import { columnOf, type SqlSince } from "./sql-source-settings.ts";
import { withoutSemicolon, type DialectName } from "./statement.ts";
import { tellsChanges } from "./values.ts";

/** A query of the configuration, and where a person finds it. */
export interface Query {
  text: string;
  /** Where its settings stand: `sources.erp.streams.customers`. */
  settings: string;
  /** Where its key stands in the configuration. */
  place: string;
}

export interface QueryPlaces {
  dialect: DialectName;
  /** Where a key stands in the configuration: `crm-sync.yaml:12:7`. */
  placeOf: (key: string) => string;
}

function loadQuery({ query }: { query: string }, settings: string, { dialect, placeOf }: QueryPlaces): Query {
  return { text: withoutSemicolon(query, dialect), settings, place: placeOf(`${settings}.query`) };
}

/** What is wrong with a query, with the file and the line where it is. */
export function queryProblem(query: Query, line: number | undefined, message: string, cure: string): Problem {
  const where = line === undefined ? "" : `, line ${line} of the query,`;
  return sourceProblem("source.wrong-query", query.place, `\`${query.settings}.query\`${where} ${message}.`, cure);
}

/** Only rows whose column is at least that time, or has no value. */
export interface ChangedFrom {
  column: string;
  time: string;
}

/** Lines of a statement before the first line of the query. */
export const linesBefore = 1;

/** The query as a statement of its own; its rows in the order of a column. */
export function statementOf(
  query: Query,
  { from, order }: { from?: ChangedFrom | undefined; order?: string | undefined },
  dialect: Speech,
): string {
  const where = from === undefined ? "" : ` where ${changed(from, dialect)}`;
  return `${within(query)}${where}${order === undefined ? "" : ` order by q.${dialect.quoted(order)}`}`;
}

/** The query as a statement that gives its columns and no row. */
function columnsStatement(query: Query): string {
  return `${within(query)} where 1 = 0`;
}

function within(query: Query): string {
  return `select * from (\n${query.text}\n) q`;
}

function changed({ column, time }: ChangedFrom, { quoted, atLeast }: Speech): string {
  return atLeast(`q.${quoted(column)}`, time);
}

type Speech = Pick<Dialect, "quoted" | "atLeast">;

/** Of a query of details, the rows whose record changed. */
export function detailsOfChanged(
  details: { query: Query; column: string },
  headers: { query: Query; column: string; from: ChangedFrom },
  dialect: Speech,
): string {
  const { quoted } = dialect;
  return (
    `select * from (\n${details.query.text}\n) d where d.${quoted(details.column)} in (select ` +
    `q.${quoted(headers.column)} from (\n${headers.query.text}\n) q where ${changed(headers.from, dialect)})`
  );
}

/** The settings of a stream, as far as they say what is asked for. */
export interface StreamSettings extends ReadSettings {
  query: string;
  key?: string | undefined;
  details?: Readonly<Record<string, { query: string; key: string }>> | undefined;
  since?: SqlSince | undefined;
  limits: RecordLimits;
}

/** One query with its columns as the database describes them. */
export interface Part {
  query: Query;
  columns: readonly Column[];
  /** The column of its key, by which details are joined. */
  key: Column | undefined;
  /** A private field of the records is read from the key, such as a login: it stands in no place and no position. */
  isKeyPrivate: boolean;
}

/** What is asked of the database for a stream, looked through before anything is read. */
export interface Question {
  header: Part;
  details: Readonly<Record<string, Part>>;
  /** The column that tells changes. */
  changed: Column | undefined;
}

/**
 * Loads the queries of a stream and has the database describe them. Throws a Problem, with the place of its query or
 * its key, for one that cannot be run, lacks a column that is read, or has one that no record can hold.
 */
export async function questionOf(
  stream: Stream,
  settings: StreamSettings,
  place: string,
  { snapshot }: Open,
  places: QueryPlaces,
  failed: (thrown: unknown, query: Query) => Problem,
): Promise<Question> {
  const isKeyPrivate = readsKeyPrivately(stream, settings);
  const describe = async (query: Query, key: string | undefined): Promise<Part> => {
    let columns: Column[];
    try {
      columns = await snapshot.columns(columnsStatement(query));
    } catch (thrown) {
      throw failed(thrown, query);
    }
    refuseColumns(query, columns);
    const name = key === undefined ? undefined : columnOf(key);
    return { query, columns, key: columns.find((column) => column.name === name), isKeyPrivate };
  };
  const header = await describe(loadQuery(settings, place, places), settings.key);
  const needed = (part: Part, name: string, key: string): void => {
    if (part.columns.some((column) => column.name === name)) return;
    throw queryProblem(
      { ...part.query, place: places.placeOf(key) },
      undefined,
      `gives no column ${name}, which \`${key}\` reads; it gives ${namesOf(part.columns)}`,
      "Correct the name, or have the query give it.",
    );
  };
  if (settings.key !== undefined) needed(header, columnOf(settings.key) ?? "", `${place}.key`);
  const details: Record<string, Part> = {};
  for (const [name, set] of Object.entries(settings.details ?? {})) {
    const at = `${place}.details.${name}`;
    const part = await describe(loadQuery(set, at, places), set.key);
    needed(part, columnOf(set.key) ?? "", `${at}.key`);
    details[name] = part;
  }
  for (const { steps, key: read } of placesRead(stream, settings)) {
    const key = `${place}.${read}`;
    const [first, , inside] = steps;
    const part = typeof first === "string" ? details[first] : undefined;
    if (part === undefined && typeof first === "string") needed(header, first, key);
    else if (part !== undefined && typeof inside === "string") needed(part, inside, key);
  }
  if (settings.since === undefined) return { header, details, changed: undefined };
  needed(header, settings.since.column, `${place}.since.column`);
  const changed = header.columns.find(({ name }) => name === settings.since?.column);
  if (changed !== undefined && !tellsChanges(changed))
    throw queryProblem(
      header.query,
      undefined,
      `gives ${changed.name}, which \`${place}.since.column\` names, as ${changed.type}; expected a time`,
      "Name another column, or leave `since` out.",
    );
  return { header, details, changed };
}

/** Whether the mapping reads the key of the records for a private field, or for an id that it hashes. */
function readsKeyPrivately(stream: Stream, { key, group, mapping, skip }: StreamSettings): boolean {
  const name = key === undefined ? undefined : columnOf(key);
  const hidden = hiddenPlaces(stream, waysOf(stream, mapping, skip), (steps) => String(placeInRecord(steps, group)[0]));
  return name !== undefined && hidden.has(name);
}

function refuseColumns(query: Query, columns: readonly Column[]): void {
  const seen = new Set<string>();
  for (const { name, kind, type } of columns) {
    if (name === "" || name === "?column?")
      throw queryProblem(query, undefined, "gives a column without a name", "Give it one with `as`.");
    if (seen.has(name))
      throw queryProblem(query, undefined, `gives two columns ${name}`, "Rename one of them with `as`.");
    seen.add(name);
    if (kind === "binary")
      throw queryProblem(
        query,
        undefined,
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
