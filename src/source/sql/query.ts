import { resolve } from "node:path";
import { readRegular } from "../../base/regular-file.ts";
import { messageOf } from "../../base/errors.ts";
import type { Problem } from "../../base/errors.ts";
import { sourceProblem } from "../problems.ts";
import { atLeastOrNone } from "./dialect.ts";
import type { Bound, Dialect, Statement } from "./dialect.ts";
import type { DialectName } from "./dialect-name.ts";
import { queryFault } from "./sql-source-settings.ts";
import { withoutSemicolon } from "./statement.ts";

/** A query of the configuration, and where a person finds it. */
export interface Query {
  text: string;
  /** Where its settings stand: `sources.erp.streams.customers`. */
  settings: string;
  /** The key that holds it, or the name of its file. */
  key: "query" | "queryFile";
  /** The file it is in, where that is one of its own. */
  file: string | undefined;
  /** Where its key stands in the configuration. */
  place: string;
}

export interface QueryPlaces {
  /** Folder of the configuration file. */
  directory: string;
  dialect: DialectName;
  /** Where a key stands in the configuration: `crm-sync.yaml:12:7`. */
  placeOf: (key: string) => string;
}

/** Reads a query from its settings or its file. Throws a Problem where it is not there or is one that writes. */
export function loadQuery(
  asked: { query?: string | undefined; queryFile?: string | undefined },
  settings: string,
  { directory, dialect, placeOf }: QueryPlaces,
): Query {
  const key = asked.queryFile === undefined ? "query" : "queryFile";
  const found = { settings, key, place: placeOf(`${settings}.${key}`) } as const;
  if (asked.queryFile === undefined)
    return { ...found, text: withoutSemicolon(asked.query ?? "", dialect), file: undefined };
  const query: Query = { ...found, text: "", file: asked.queryFile };
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(readRegular(resolve(directory, asked.queryFile)));
  } catch (thrown) {
    const why = thrown instanceof Error && "code" in thrown ? String(thrown.code) : messageOf(thrown);
    throw queryProblem(
      query,
      undefined,
      why === "ENOENT"
        ? `names the file ${asked.queryFile}, which does not exist (${why})`
        : `names the file ${asked.queryFile}, which cannot be read (${why})`,
      "Write the query into the file, or correct its name.",
    );
  }
  const fault = queryFault(text, dialect);
  const [, line = "1", message = ""] = /^line (\d+) (.*)$/su.exec(fault ?? "") ?? [];
  if (fault !== undefined) throw queryProblem(query, Number(line), message, "Correct the query.");
  return { ...query, text: withoutSemicolon(text, dialect) };
}

/** What is wrong with a query, with the file and the line where it is. */
export function queryProblem(query: Query, line: number | undefined, message: string, cure: string): Problem {
  const place = query.file === undefined ? query.place : `${query.file}:${line ?? 1}`;
  const where = line === undefined ? "" : `, line ${line} of the query,`;
  return sourceProblem("source.wrong-query", place, `\`${query.settings}.${query.key}\`${where} ${message}.`, cure);
}

/** What rows of a query are asked for. */
export interface Wanted {
  /** Only rows whose column is at least that, or has no value. */
  from?: { column: string; value: Bound } | undefined;
  /** The column whose order the rows have, and the value they begin at. */
  order?: { column: string; value: Bound | undefined } | undefined;
}

/** Lines of a statement before the first line of the query. */
export const linesBefore = 1;

/** The query as a statement of its own, for the columns or the rows that are wanted. */
export function statementOf(query: Query, wanted: Wanted, dialect: Speech): Statement {
  const { from, order } = wanted;
  const conditions: string[] = [];
  const values: Bound[] = [];
  if (from !== undefined) {
    conditions.push(changed(from, dialect));
    values.push(from.value);
  }
  const by = order === undefined ? "" : `q.${dialect.quoted(order.column)}`;
  if (order?.value !== undefined) {
    conditions.push(atLeastOrNone(by));
    values.push(order.value);
  }
  const where = conditions.length === 0 ? "" : ` where ${conditions.join(" and ")}`;
  return { text: `${within(query)}${where}${by === "" ? "" : ` order by ${by}`}`, values };
}

/** The query as a statement that gives its columns and no row. */
export function columnsStatement(query: Query): Statement {
  return { text: `${within(query)} where 1 = 0`, values: [] };
}

function within(query: Query): string {
  return `select * from (\n${query.text}\n) q`;
}

function changed({ column, value }: NonNullable<Wanted["from"]>, { quoted, atLeast }: Speech): string {
  return atLeast(`q.${quoted(column)}`, value.kind);
}

type Speech = Pick<Dialect, "quoted" | "atLeast">;

/** Of a query of details, the rows whose record changed. */
export function detailsOfChanged(
  details: { query: Query; column: string },
  headers: { query: Query; column: string; from: NonNullable<Wanted["from"]> },
  dialect: Speech,
): Statement {
  const { quoted } = dialect;
  return {
    text:
      `select * from (\n${details.query.text}\n) d where d.${quoted(details.column)} in (select ` +
      `q.${quoted(headers.column)} from (\n${headers.query.text}\n) q where ${changed(headers.from, dialect)})`,
    values: [headers.from.value],
  };
}
