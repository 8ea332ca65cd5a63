import { z } from "zod";
import { pathSchema } from "../file/file-source-settings.ts";
import { checkTable, tableFields } from "../table-settings.ts";
import { httpListFields } from "./http-source-settings.ts";

/** A list of the service as a look-up table of the mapping. */
export const httpTableSchema = () =>
  z
    .strictObject({
      ...httpListFields(),
      ...tableFields,
      rowKey: pathSchema.optional().meta({
        description:
          "Field that identifies a row, to notice that the list changed during a read; `key` by default. " +
          "Needed if the table has rows with the same key and the same values",
        examples: ["id"],
      }),
    })
    .superRefine(checkTable);
export type HttpTable = z.infer<ReturnType<typeof httpTableSchema>>;
