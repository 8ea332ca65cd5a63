import { ByteWriter, ParquetWriter } from "hyparquet-writer";
import { canonicalJson } from "../../base/canonical-json.ts";
import { Problem } from "../../base/errors.ts";
import { minorDigits } from "../../crm/currency.ts";
import { cellText, withEscapes } from "./cell-text.ts";
import { factValue, knownFacts } from "./header-facts.ts";
import type { Exact } from "./exact.ts";
import { cellOf, currencyOf, isList, minorOf } from "./rows.ts";
import type { Column, ColumnType, Part, Row } from "./shape.ts";
import { totalsJson } from "./totals.ts";
import { fileOfPart } from "./writer.ts";
import type { FileChunk, OpenStatement, StatementWriter } from "./writer.ts";

type SchemaElement = ConstructorParameters<typeof ParquetWriter>[0]["schema"][number];

/** What wrote the file, as readers of the format know their writers by. */
const program = "crm-sync";

/** Rows that are held until they are written together: cells of a column stand side by side. */
const rowsInGroup = 5000;

/** Amounts of all currencies of a column have one scale, that of the currency with most digits. */
const scale = 4;
const precision = 18;
const beyondPrecision = 10n ** BigInt(precision);

/**
 * A statement as Parquet, a file for each part. What it was made from and its totals stand in the file's key-value
 * metadata.
 */
export function parquetWriter(statement: OpenStatement): StatementWriter {
  let open: PartFile | undefined;
  return {
    begin: () => [],
    beginPart(part) {
      open = new PartFile(statement, part);
      return [];
    },
    rows: (_part, rows) => open?.rows(rows) ?? [],
    endPart: (part, totals) => open?.end(withEscapes(canonicalJson(totalsJson(part, totals)))) ?? [],
    end: () => [],
  };
}

class PartFile {
  readonly #part: Part;
  readonly #file: string;
  readonly #bytes = new ByteWriter();
  readonly #metadata: { key: string; value: string }[];
  readonly #parquet: ParquetWriter;
  #columns: unknown[][];
  #held = 0;

  constructor({ shape, header }: OpenStatement, part: Part) {
    this.#part = part;
    this.#file = fileOfPart(shape, part);
    this.#metadata = [
      ...knownFacts(header).map((fact) => ({ key: `crm-sync.${fact.name}`, value: factValue(fact) })),
      { key: "crm-sync.part", value: part.name },
    ];
    this.#parquet = new ParquetWriter({
      writer: this.#bytes,
      schema: schemaOf(part),
      kvMetadata: this.#metadata,
      createdBy: `${program} version ${header.program}`,
    });
    this.#columns = part.columns.map(() => []);
  }

  *rows(rows: readonly Row[]): Iterable<FileChunk> {
    for (const row of rows) {
      for (const [index, column] of this.#part.columns.entries())
        this.#columns[index]?.push(cellValue(row, column, this.#part));
    }
    this.#held += rows.length;
    if (this.#held >= rowsInGroup) yield* this.#group();
  }

  *end(totals: string): Iterable<FileChunk> {
    if (this.#held > 0) yield* this.#group();
    this.#metadata.push({ key: "crm-sync.totals", value: totals });
    void this.#parquet.finish();
    if (this.#parquet.row_groups.length === 0) typeEmptyList(this.#bytes.getBytes());
    yield this.#written();
  }

  *#group(): Iterable<FileChunk> {
    const columnData = this.#part.columns.map(({ name }, index) => ({ name, data: this.#columns[index] ?? [] }));
    void this.#parquet.write({ columnData, rowGroupSize: this.#held });
    this.#columns = this.#part.columns.map(() => []);
    this.#held = 0;
    yield this.#written();
  }

  /** What was written since the last time; the buffer begins anew. */
  #written(): FileChunk {
    const chunk = this.#bytes.getBytes().slice();
    this.#bytes.index = 0;
    return { file: this.#file, chunk };
  }
}

/** In a footer: no rows (field 3), row groups (field 4) as an empty list without a type, the beginning of field 5. */
const emptyList = Buffer.from([0x16, 0x00, 0x19, 0x00, 0x19]);

/**
 * Says of the empty list of row groups in a footer that it is one of structures: the library gives an empty list no
 * type, which strict readers refuse.
 */
function typeEmptyList(bytes: Uint8Array): void {
  const footer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const at = footer.indexOf(emptyList);
  if (at === -1 || footer.includes(emptyList, at + 1)) throw new TypeError("the footer of an empty file is not known");
  bytes[at + 3] = 0x0c;
}

const elements: Record<Exclude<ColumnType, "list">, Omit<SchemaElement, "name">> = {
  text: { type: "BYTE_ARRAY", converted_type: "UTF8", logical_type: { type: "STRING" } },
  integer: { type: "INT64" },
  boolean: { type: "BOOLEAN" },
  money: {
    type: "INT64",
    converted_type: "DECIMAL",
    scale,
    precision,
    logical_type: { type: "DECIMAL", scale, precision },
  },
  date: { type: "INT32", converted_type: "DATE", logical_type: { type: "DATE" } },
  instant: {
    type: "INT64",
    converted_type: "TIMESTAMP_MILLIS",
    logical_type: { type: "TIMESTAMP", isAdjustedToUTC: true, unit: "MILLIS" },
  },
};

function schemaOf(part: Part): SchemaElement[] {
  const columns = part.columns.flatMap(({ name, type, required }): SchemaElement[] => {
    const repetition_type = required === true ? "REQUIRED" : "OPTIONAL";
    if (type !== "list") return [{ name, repetition_type, ...elements[type] }];
    return [
      { name, repetition_type, num_children: 1, converted_type: "LIST", logical_type: { type: "LIST" } },
      { name: "list", repetition_type: "REPEATED", num_children: 1 },
      { name: "element", repetition_type: "REQUIRED", ...elements.text },
    ];
  });
  return [{ name: "statement", num_children: part.columns.length }, ...columns];
}

/** A cell as the library takes it: amounts as whole numbers of the column's scale, times as whole numbers. */
function cellValue(row: Row, column: Column, part: Part): unknown {
  const cell = cellOf(row, column);
  if (cell === null) return null;
  if (isList(cell)) return cell.map(cellText);
  switch (column.type) {
    case "integer":
      return BigInt(minorOf(cell));
    case "money":
      return scaledAmount(minorOf(cell), currencyOf(row, column), column, part);
    case "date":
      return Math.floor(Date.parse(String(cell)) / 86_400_000);
    case "instant":
      return BigInt(Date.parse(String(cell)));
    case "text":
    case "list":
      return cellText(String(cell));
    case "boolean":
      return cell;
  }
}

function scaledAmount(minor: Exact, currency: string, column: Column, part: Part): bigint {
  const scaled = BigInt(minor) * 10n ** BigInt(scale - minorDigits(currency));
  if (scaled < beyondPrecision && scaled > -beyondPrecision) return scaled;
  throw new Problem({
    code: "statement.amount-too-large",
    message:
      `an amount in ${column.name} of the part ${part.name} has more digits than Parquet's ` +
      `DECIMAL(${precision},${scale}) holds; the statement was not written`,
    cure: "look for the wrong amount in the statement as CSV or JSON",
  });
}
