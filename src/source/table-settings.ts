import { z } from "zod";
import { fileFields, pathSchema } from "./file/file-source-settings.ts";
import { valueColumn } from "./mapping/context.ts";

const columnName = z.string().regex(/^[A-Za-z][A-Za-z0-9_]*$/);

export const tableFields = {
  key: pathSchema.meta({ description: "Field to look up", examples: ["country"] }),
  value: pathSchema
    .optional()
    .meta({ description: "Field that a look-up gives if `lookup` names no column", examples: ["region"] }),
  columns: z
    .record(columnName, pathSchema)
    .optional()
    .meta({
      description: "Other fields that a look-up can give, by the names that `lookup` has for them (`column`)",
      examples: [{ product: "product", seats: "seats_per_unit" }],
    }),
  nullTexts: z
    .array(z.string())
    .default([])
    .meta({ description: "Texts that mean an empty value in this table", examples: [["NULL"]] }),
};
export type TableColumns = z.infer<z.ZodObject<typeof tableFields>>;

export function checkTable(table: TableColumns, context: z.RefinementCtx): void {
  const { value, columns } = table;
  if (value === undefined && columns === undefined)
    context.addIssue({ code: "custom", path: ["value"], message: "missing; a table has a value, or columns, or both" });
  else if (columns !== undefined && Object.keys(columns).length === 0)
    context.addIssue({ code: "custom", path: ["columns"], message: "empty; a table has one column at least" });
}

export function namedColumns({ value, columns = {} }: TableColumns): readonly string[] {
  return value === undefined ? Object.keys(columns) : [valueColumn, ...Object.keys(columns)];
}

const fileTableSchema = z
  .strictObject({ ...fileFields, ...tableFields })
  .superRefine(checkTable)
  .meta({ written: "table" });

const constant = z.union([z.string(), z.number(), z.boolean()]);
const entries = z.record(z.string().min(1).max(200), z.union([constant, z.record(columnName, constant)]));

const inlineTableSchema = z
  .strictObject({
    inline: entries.meta({
      description: "The entries themselves: by key the value, or the values of its columns by their names",
      written: "entries",
      examples: [{ "CAD-10": { product: "CAD", seats: 10 }, "CAD-25": { product: "CAD", seats: 25 } }],
    }),
  })
  .superRefine(({ inline }, context) => {
    const kinds = new Set(Object.values(inline).map((entry) => typeof entry === "object"));
    if (kinds.size > 1)
      context.addIssue({
        code: "custom",
        path: ["inline"],
        message: "has entries with columns and entries without; every entry of a table has the same form",
      });
  });
export type InlineTableSettings = z.infer<typeof inlineTableSchema>;

export const tableSchema = z.union([inlineTableSchema, fileTableSchema]);
export type TableSettings = z.infer<typeof tableSchema>;

export function columnsOfTable(settings: TableSettings): readonly string[] {
  if (!("inline" in settings)) return namedColumns(settings);
  const entries = Object.values(settings.inline).filter((entry) => typeof entry === "object");
  const names = [...new Set(entries.flatMap((entry) => Object.keys(entry)))].sort();
  return names.length === 0 ? [valueColumn] : names;
}
