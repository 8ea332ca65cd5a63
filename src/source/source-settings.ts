import { z } from "zod";
import type { JsonObject } from "../base/canonical-json.ts";
import { streams } from "../crm/model.ts";
import type { Stream } from "../crm/model.ts";
import { fileStreamFields, pathSchema, tableSchema } from "./file/file-source-settings.ts";
import { groupSchema } from "./group-settings.ts";
import { detailSchema, streamChainSchema } from "./http/chain-settings.ts";
import { checkSession } from "./http/list-checks.ts";
import { checkHttpStream, listsOf } from "./http/stream-checks.ts";
import { checkPlainHttp } from "./http/plain.ts";
import { httpSourceFields, httpStreamFields } from "./http/http-source-settings.ts";
import { recordLimitsSchema } from "./limits.ts";
import { findMistakes } from "./mapping/compile.ts";

const customerMapping = {
  id: "customerNumber",
  name: "companyName",
  customerType: { value: "company" },
  branchCode: { value: "B1" },
  branchName: { value: "Head office" },
};

/** A mapping as the configuration writes it. Its own compiler checks it, with the path of every mistake. */
const mappingSchema: z.ZodType<JsonObject> = z.record(z.string(), z.json()).meta({
  description: "Target field → expression; see the reference of the mapping",
  examples: [customerMapping],
});

const streamFields = {
  key: pathSchema.optional().meta({
    description:
      "Field that identifies a raw record in every reading, also " +
      "when it cannot be mapped; needed where details are joined",
    examples: ["customerNumber"],
  }),
  group: groupSchema.optional().describe("Rows of one key become one record, such as the seats of a person"),
  nullTexts: z
    .array(z.string())
    .default([])
    .meta({ description: 'Texts that stand for nothing, such as "NULL"', examples: [["NULL"]] }),
  limits: recordLimitsSchema.prefault({}).describe("What a single record may cost"),
  mapping: mappingSchema,
};

const fileStreamSchema = z.strictObject({ ...fileStreamFields, ...streamFields }).superRefine((stream, context) => {
  if (stream.details !== undefined && stream.key === undefined) {
    context.addIssue({
      code: "custom",
      path: ["key"],
      message: "missing; detail rows are joined by the key of their header row",
    });
  }
});
export type FileStream = z.infer<typeof fileStreamSchema>;

const httpStreamSchema = () =>
  z.strictObject({
    ...httpStreamFields(),
    ...streamFields,
    each: streamChainSchema().optional().describe("The records are asked for by those of another list"),
    details: z
      .record(z.string().regex(/^[A-Za-z][A-Za-z0-9_]*$/), detailSchema())
      .optional()
      .meta({
        description:
          "Lists whose rows belong to a record, by the name under which the mapping sees them; joined by key",
        examples: [
          { lines: { url: "order-lines", key: "orderId" } },
          { contacts: { url: "companies/{id}/contacts", each: {} } },
        ],
      }),
  });
export type HttpStream = z.infer<ReturnType<typeof httpStreamSchema>>;

const commonFields = {
  namespace: z
    .string()
    .min(1)
    .max(200)
    .default("crm")
    .describe("Namespace of the record ids, where the mapping does not set one"),
  directory: z
    .string()
    .optional()
    .meta({ description: "Where the files are, relative to the configuration file", examples: ["exports"] }),
  tables: z
    .record(z.string(), tableSchema)
    .default({})
    .meta({
      description: "Look-up tables for the mapping, each read from a file, held in memory",
      examples: [{ regions: { files: "regions.csv", key: "country", value: "region" } }],
    }),
};

interface MappedSource {
  tables: Record<string, unknown>;
  streams: Partial<Record<Stream, { key?: string | undefined; mapping: JsonObject } | undefined>>;
}

/** Makes every mistake in a mapping an issue with its own path, so that the configuration can name file and line. */
function checkMappings(source: MappedSource, context: z.RefinementCtx): void {
  const tables = Object.keys(source.tables);
  let count = 0;
  for (const stream of streams) {
    const settings = source.streams[stream];
    if (settings === undefined) continue;
    count += 1;
    const keys = settings.key === undefined ? [] : [settings.key];
    for (const mistake of findMistakes(stream, settings.mapping, { tables, keys })) {
      context.addIssue({
        code: "custom",
        path: ["streams", stream, "mapping", ...mistake.path],
        message: mistake.message,
      });
    }
  }
  if (count === 0) {
    context.addIssue({
      code: "custom",
      path: ["streams"],
      message: `empty; expected at least one of ${streams.join(", ")}`,
    });
  }
}

const fileSourceSchema = z
  .strictObject({
    kind: z.literal("file").describe("Files: CSV, JSON or lines of JSON."),
    ...commonFields,
    streams: z
      .strictObject({
        customers: fileStreamSchema.optional().describe("Customers."),
        orders: fileStreamSchema.optional().describe("Orders."),
        staff: fileStreamSchema.optional().describe("Staff."),
      })
      .meta({
        description: "What the source gives; one of the streams at least.",
        examples: [{ customers: { files: "customers.csv", mapping: customerMapping } }],
      }),
  })
  .superRefine(checkMappings);
export type FileSourceSettings = z.infer<typeof fileSourceSchema>;

const httpSourceSchema = z
  .strictObject({
    kind: z.literal("http").describe("An HTTP service that answers with JSON, XML, CSV or lines of JSON."),
    ...commonFields,
    ...httpSourceFields,
    streams: z
      .lazy(() => {
        const stream = httpStreamSchema();
        return z.strictObject({
          customers: stream.optional().describe("Customers."),
          orders: stream.optional().describe("Orders."),
          staff: stream.optional().describe("Staff."),
        });
      })
      .meta({
        description: "What the source gives; one of the streams at least.",
        examples: [{ customers: { url: "https://crm.example.com/api/customers", mapping: customerMapping } }],
      }),
  })
  .superRefine(checkMappings)
  .superRefine((source, context) => {
    const lists = streams.flatMap((stream) => listsOf(["streams", stream], source.streams[stream]));
    const issues = [...checkPlainHttp(source, lists), ...checkSession(source.auth, lists, source.baseUrl)];
    for (const stream of streams) {
      const settings = source.streams[stream];
      if (settings === undefined) continue;
      for (const { path, message } of checkHttpStream(settings, stream, source))
        issues.push({ path: ["streams", stream, ...path], message });
    }
    for (const { path, message } of issues) context.addIssue({ code: "custom", path, message });
  });
export type HttpSourceSettings = z.infer<typeof httpSourceSchema>;

const sqlSourceSchema = z
  .looseObject({ kind: z.literal("sql").describe("Refused: not built yet.") })
  .meta({ description: "Not built yet: such a source is refused.", examples: [] })
  .transform((_source, context): never => {
    context.addIssue({
      code: "custom",
      path: ["kind"],
      message: 'sources of the kind "sql" are not built yet; export the data to a file, or offer it over http',
    });
    return z.NEVER;
  });

/** The settings of one source: `sources.<name>` in the configuration. */
export const sourceSettingsSchema = z.discriminatedUnion("kind", [fileSourceSchema, httpSourceSchema, sqlSourceSchema]);
export type SourceSettings = z.infer<typeof sourceSettingsSchema>;
