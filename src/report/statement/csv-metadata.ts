import type { Json, JsonObject } from "../../base/canonical-json.ts";
import { listMark, withEscapes } from "./cell-text.ts";
import { headerFacts } from "./header-facts.ts";
import type { Column, ColumnType, Part } from "./shape.ts";
import { sumText } from "./totals.ts";
import type { PartTotals, Totals } from "./totals.ts";
import { fileNameOf, fileOfPart } from "./writer.ts";
import type { OpenStatement, StatementTotals } from "./writer.ts";

/** What CSV on the Web has no property for: it takes any whose name is a URL. */
function own(name: string): string {
  return `urn:crm-sync:statement:${name}`;
}

const datatypes: Record<ColumnType, string> = {
  text: "string",
  list: "string",
  integer: "integer",
  boolean: "boolean",
  money: "decimal",
  date: "date",
  instant: "dateTimeStamp",
};

/**
 * What describes the CSV files of a statement, after CSV on the Web: which files there are, their columns and types,
 * what the statement was made from, and its totals.
 */
export function csvMetadata(statement: OpenStatement, totals: StatementTotals): string {
  const { shape, header, name } = statement;
  const metadata: JsonObject = {
    "@context": ["http://www.w3.org/ns/csvw", { "@language": "en" }],
    "dc:title": header.title,
    "dc:description": shape.about,
    ...Object.fromEntries(headerFacts(header).map((fact) => [own(fact.name), fact.value])),
    dialect: {
      encoding: "utf-8",
      lineTerminators: ["\r\n"],
      delimiter: ",",
      quoteChar: '"',
      doubleQuote: true,
      header: true,
      headerRowCount: 1,
      skipInitialSpace: false,
      trim: false,
    },
    tables: shape.parts.map((part) => {
      const found = totals.get(part.name);
      return tableOf(part, encodeURI(fileNameOf(name, fileOfPart(shape, part))), found);
    }),
  };
  const lines = JSON.stringify(withoutNull(metadata), null, 2).split("\n");
  return `${lines.map(withEscapes).join("\n")}\n`;
}

/** CSV on the Web has no null: what is not known is left out. */
function withoutNull(metadata: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(metadata).filter(([, value]) => value !== null));
}

function tableOf(part: Part, url: string, totals: PartTotals | undefined): JsonObject {
  const key = part.key === undefined ? {} : { primaryKey: [...part.key] };
  return {
    url,
    "dc:title": part.title,
    "dc:description": part.about,
    [own("part")]: part.name,
    ...(totals === undefined ? {} : totalsOf(part, totals)),
    tableSchema: { columns: part.columns.map(columnOf), ...key },
  };
}

function columnOf({ name, title, about, type, required, currencyIn }: Column): JsonObject {
  return {
    name,
    titles: [name, title],
    "dc:description": about,
    datatype: datatypes[type],
    required: required === true,
    ...(type === "list" ? { separator: listMark } : {}),
    ...(currencyIn === undefined ? {} : { [own("currency_in")]: currencyIn }),
  };
}

function totalsOf(part: Part, totals: PartTotals): JsonObject {
  const plain = (one: Totals): JsonObject => ({
    [own("rows")]: one.rows,
    [own("totals")]: one.sums.map((sum): Json => {
      const currency = sum.currency === null ? {} : { [own("currency")]: sum.currency };
      return { [own("column")]: sum.column.name, ...currency, [own("total")]: sumText(sum) };
    }),
  });
  if (part.groupBy === undefined) return plain(totals);
  return {
    ...plain(totals),
    [own("group_by")]: part.groupBy,
    [own("groups")]: totals.groups.map(({ value, ...group }) => ({ [own("value")]: value ?? "", ...plain(group) })),
  };
}
