import { z } from "zod";
import { parsePath } from "../mapping/path.ts";

/** A path into a raw record, such as `customer.address[0].city`. `written` is for the schema of editors. */
export const pathSchema = z
  .string()
  .superRefine((written, context) => {
    const path = parsePath(written);
    if (!path.ok) context.addIssue({ code: "custom", message: path.error });
  })
  .meta({ written: "path" });

function isEncoding(label: string): boolean {
  try {
    return new TextDecoder(label, { fatal: true }).encoding !== "";
  } catch {
    return false;
  }
}

export const encodingSchema = z.string().superRefine((label, context) => {
  if (!isEncoding(label)) {
    context.addIssue({
      code: "custom",
      message:
        `the encoding ${JSON.stringify(label)} is unknown; ` +
        "expected a name such as utf-8, windows-1252 or utf-16le",
    });
  }
});

const oneCharacter = z.string().length(1);
const text = z.string().min(1);

export const csvSettingsSchema = z
  .strictObject({
    delimiter: z.string().min(1).max(8).default(",").describe("The separator of fields"),
    quote: z.union([oneCharacter, z.null()]).default('"').describe("Quotes a field; null when fields are never quoted"),
    escape: oneCharacter
      .optional()
      .meta({ description: "Escapes a quote inside a quoted field; the quote itself by default", examples: ["\\"] }),
    relaxQuotes: z
      .boolean()
      .default(false)
      .describe("Takes a quote inside an unquoted field as a character like any other"),
    header: z
      .array(text)
      .min(1)
      .optional()
      .meta({
        description: "Column names of a file that has no header row, or instead of those in it",
        examples: [["customerNumber", "companyName", "remark"]],
      }),
    firstRow: z
      .enum(["header", "record"])
      .optional()
      .describe(
        "With `header`, whether the first row is a header, which is skipped, or a record. " +
          "Without it, a first row that has one of these names in its place is refused",
      ),
    surplusInto: z
      .string()
      .optional()
      .meta({
        description: "The column that holds unquoted delimiters: fields beyond the header's number are joined into it",
        examples: ["remark"],
      }),
    optionalColumns: z
      .array(text)
      .default([])
      .meta({
        description:
          "Columns that the mapping reads and a file may lack; without " +
          "any other column that the mapping reads it is not read",
        examples: [["remark"]],
      }),
    lastLineEnd: z
      .enum(["required", "optional"])
      .default("required")
      .describe(
        "required: a file whose last line does not end was cut off; optional: its " +
          "writer never ends the last line, and a cut inside it cannot be noticed",
      ),
  })
  .superRefine((csv, context) => {
    const repeated = csv.header?.findIndex((name, index, all) => all.indexOf(name) !== index) ?? -1;
    if (repeated !== -1) context.addIssue({ code: "custom", path: ["header", repeated], message: "is there twice" });
    if (csv.header === undefined && csv.firstRow === "record")
      context.addIssue({ code: "custom", path: ["firstRow"], message: "needs the names of the columns, as `header`" });
    if (csv.header !== undefined && csv.surplusInto !== undefined && !csv.header.includes(csv.surplusInto)) {
      context.addIssue({
        code: "custom",
        path: ["surplusInto"],
        message: `the header has no column ${JSON.stringify(csv.surplusInto)}`,
      });
    }
  });
export type CsvSettings = z.infer<typeof csvSettingsSchema>;

const { header, firstRow, optionalColumns } = csvSettingsSchema.shape;

const xlsxSettingsSchema = z.strictObject({
  sheet: text.optional().meta({
    description: "Name of the sheet that is read; needed if the workbook has several that are not hidden",
    examples: ["Customers"],
  }),
  skipRows: z.int().min(0).max(1_000).default(0).describe("Rows of the sheet above the header, such as a title"),
  header,
  firstRow,
  optionalColumns,
});
export type XlsxSettings = z.infer<typeof xlsxSettingsSchema>;

export const requiredDetails = z
  .boolean()
  .default(false)
  .describe("A header row without a row of these goes into quarantine; by default it has none");

export const fileFields = {
  files: z.union([text, z.array(text).min(1)]).meta({
    description:
      "File, glob, or a list of them, relative to the source's directory; several are read in order of their names",
    examples: ["customers-*.json.gz"],
  }),
  format: z
    .enum(["csv", "xlsx", "json", "ndjson"])
    .optional()
    .describe("By default from the name: .xlsx, or .csv, .tsv, .json, .ndjson or .jsonl, also with .gz"),
  gzip: z.boolean().optional().describe("Whether the files are compressed; by default those that end in .gz"),
  encoding: encodingSchema
    .default("utf-8")
    .describe("How the text is encoded; latin1 means windows-1252, as on the web"),
  csv: csvSettingsSchema.prefault({}).describe("How a CSV file is written"),
  xlsx: xlsxSettingsSchema.prefault({}).describe("Which rows of a workbook are read (.xlsx)"),
  records: pathSchema.optional().meta({
    description: "JSON: where the list of records is; the file itself is the list by default",
    examples: ["data.items"],
  }),
  completeWhen: z
    .union([
      z.strictObject({
        file: text.meta({
          description:
            "Marker of each data file, relative to its folder; `{file}` is its name without the folder. Without it, " +
            "or while it is older than the file and holds no SHA-256, nothing is read",
          examples: ["{file}.done"],
        }),
        contains: z
          .enum(["rows", "sha256"])
          .optional()
          .meta({
            description:
              "The text of the marker: the number of rows of its file, without the header of a CSV file, or " +
              "the SHA-256 of its bytes, as `sha256sum` writes it. No row of a file is used whose marker " +
              "is wrong, unless it is the first read of all. A marker of several files has a line for each, with its " +
              "name behind the value. By default the marker says nothing",
            examples: ["rows"],
          }),
      }),
      z.strictObject({
        count: pathSchema.meta({
          description: "NDJSON: member of the last line that holds the number of the lines before it",
          examples: ["count"],
        }),
      }),
    ])
    .optional()
    .describe("How the writer of the file says that it is finished"),
};

const fileSetSchema = z.strictObject(fileFields);
export type FileSet = z.infer<typeof fileSetSchema>;

const detailSchema = z.strictObject({
  ...fileFields,
  key: pathSchema.meta({
    description: "Field of a detail row that holds the key of its header row",
    examples: ["orderID"],
  }),
  required: requiredDetails,
});

export const fileStreamFields = {
  ...fileFields,
  details: z
    .record(z.string().regex(/^[A-Za-z][A-Za-z0-9_]*$/), detailSchema)
    .optional()
    .meta({
      description: "Files whose rows belong to a record, by the name under which the mapping sees them; joined by key",
      examples: [{ lines: { files: "order-lines.csv", key: "orderID" } }],
    }),
};
