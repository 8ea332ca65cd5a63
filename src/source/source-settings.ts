import { z } from "zod";
import type { Json, JsonObject } from "../base/canonical-json.ts";
import { streams, type Stream } from "../crm/model.ts";
import { fileStreamFields, pathSchema } from "./file/file-source-settings.ts";
import { groupSchema, type GroupSettings } from "./group-settings.ts";
import { detailSchema, checkHttpStream, listsOf } from "./http/chain-settings.ts";
import { httpSourceFields, httpStreamFields } from "./http/http-source-settings.ts";
import { checkSession } from "./http/list-checks.ts";
import { checkPlainHttp } from "./http/auth-settings.ts";
import { recordLimitsSchema } from "./json.ts";
import { findMistakes, placeInStream, secretPaths } from "./mapping/compile.ts";
import type { LookupTable } from "./mapping/context.ts";
import { parseRawPath } from "./mapping/path.ts";
import { checkSqlSource, sqlSourceFields, sqlStreamFields } from "./sql/sql-source-settings.ts";
import { columnsOfTable, tableSchema, type TableSettings } from "./table-settings.ts";

const customerMapping = {
  id: "customerNumber",
  name: "companyName",
  customerType: { value: "company" },
  branchCode: { value: "B1" },
  branchName: { value: "Head office" },
};

const mappingSchema: z.ZodType<JsonObject> = z.record(z.string(), z.json()).meta({
  description: "Target field → expression; see the reference of the mapping",
  examples: [customerMapping],
});

const streamFields = {
  key: pathSchema.optional().meta({
    description:
      "Field that identifies a raw record in every reading, also " +
      "when it cannot be mapped; needed where details are joined; with `group`, of a row",
    examples: ["customerNumber"],
  }),
  group: groupSchema.optional().describe("Rows of one key become one record, such as the seats of a person"),
  nullTexts: z
    .array(z.string())
    .default([])
    .meta({ description: 'Texts that mean an empty value, such as "NULL"', examples: [["NULL"]] }),
  limits: recordLimitsSchema.prefault({}).describe("Limits of a single record"),
  skip: z
    .json()
    .optional()
    .meta({
      description:
        "The condition under which a record is left out: it counts as skipped, and does not change if it was known. " +
        "See the reference of the mapping",
      examples: [{ path: "status", in: ["draft", "quote"] }],
    }),
  mapping: mappingSchema,
};

const fileStreamSchema = z.strictObject({ ...fileStreamFields, ...streamFields });
export type FileStream = z.infer<typeof fileStreamSchema>;

const httpStreamSchema = () =>
  z.strictObject({
    ...httpStreamFields(),
    ...streamFields,
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
      description: "Look-up tables for the mapping, each written here or read from files, held in memory",
      examples: [
        {
          regions: { files: "regions.csv", key: "country", value: "region" },
          packs: { inline: { "CAD-10": { product: "CAD", seats: 10 } } },
        },
      ],
    }),
};

const streamsOf = <Settings extends z.ZodType>(stream: Settings) =>
  z.strictObject({
    customers: stream.optional().describe("Customers."),
    orders: stream.optional().describe("Orders."),
    staff: stream.optional().describe("Staff."),
  });

interface MappedStream {
  key?: string | undefined;
  details?: object | undefined;
  since?: object | undefined;
  skip?: Json | undefined;
  group?: GroupSettings | undefined;
  mapping: JsonObject;
}

interface MappedSource {
  tables: Record<string, TableSettings>;
  streams: Partial<Record<Stream, MappedStream | undefined>>;
}

export function declaredTables(tables: Record<string, TableSettings>): ReadonlyMap<string, LookupTable> {
  return new Map(
    Object.entries(tables).map(([name, table]) => [name, { columns: columnsOfTable(table), rows: new Map() }]),
  );
}

/** Shared fields of grouped rows that a mapping reads as secrets. The rows would keep the secret. */
function secretsInGroups({ streams: all }: MappedSource): [Stream, string][] {
  return streams.flatMap((stream) => {
    const settings = all[stream];
    if (settings?.group === undefined) return [];
    const secret = new Set(secretPaths(stream, settings.mapping).map((path) => parseRawPath(path)[0]));
    const names = Object.keys(settings.group.fields).filter((name) => secret.has(name));
    return names.map((name): [Stream, string] => [stream, name]);
  });
}

function checkMappings(source: MappedSource, context: z.RefinementCtx): void {
  const tables = declaredTables(source.tables);
  let count = 0;
  for (const stream of streams) {
    const settings = source.streams[stream];
    if (settings === undefined) continue;
    count += 1;
    const { mapping, key, skip, group, details, since } = settings;
    const add = (name: string, message: string): void =>
      context.addIssue({ code: "custom", path: ["streams", stream, name], message });
    const keys = key === undefined ? [] : [key];
    for (const mistake of findMistakes(stream, mapping, { tables, keys, skip })) {
      context.addIssue({
        code: "custom",
        path: ["streams", stream, ...placeInStream(mistake)],
        message: mistake.message,
        ...(mistake.names === undefined ? {} : { params: { names: mistake.names } }),
      });
    }
    if (details !== undefined && key === undefined)
      add("key", "missing; detail rows are joined by the key of their record");
    if (group !== undefined && since !== undefined)
      add("since", "cannot be used with group: the changed rows are only a part of a record");
    if (key !== undefined && group?.by === key)
      add(
        "key",
        "names one row where rows are grouped, and rows of one record have the same group.by; name a field that no " +
          "two rows share, or leave it out",
      );
  }
  for (const [stream, name] of secretsInGroups(source))
    context.addIssue({
      code: "custom",
      path: ["streams", stream, "group", "fields", name],
      message: "is read as a secret, and would stay in the rows that it is taken from; read the secret from the rows",
    });
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
    kind: z.literal("file").describe("Files: CSV, XLSX, JSON or lines of JSON."),
    ...commonFields,
    streams: streamsOf(fileStreamSchema).meta({
      description: "The streams of the source; at least one.",
      examples: [{ customers: { files: "customers.csv", mapping: customerMapping } }],
    }),
  })
  .superRefine(checkMappings);
export type FileSourceSettings = z.infer<typeof fileSourceSchema>;

const httpSourceSchema = z
  .strictObject({
    kind: z.literal("http").describe("An HTTP service that answers with JSON."),
    ...commonFields,
    ...httpSourceFields,
    streams: z
      .lazy(() => streamsOf(httpStreamSchema()))
      .meta({
        description: "The streams of the source; at least one.",
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
      for (const { path, message } of checkHttpStream(settings, source.baseUrl))
        issues.push({ path: ["streams", stream, ...path], message });
    }
    for (const { path, message } of issues) context.addIssue({ code: "custom", path, message });
  });
export type HttpSourceSettings = z.infer<typeof httpSourceSchema>;

const sqlStreamSchema = () =>
  z.strictObject({ ...streamFields, ...sqlStreamFields() }).meta({
    examples: [
      {
        query: "select id, name, changed_at from customer",
        key: "id",
        nullTexts: ["NULL"],
        skip: { path: "status", in: ["draft", "quote"] },
        mapping: { ...customerMapping, id: "id", name: "name" },
      },
    ],
  });

const sqlSourceSchema = z
  .strictObject({
    kind: z.literal("sql").describe("A database that is read with SQL: PostgreSQL, SQLite."),
    ...commonFields,
    ...sqlSourceFields,
    streams: z
      .lazy(() => streamsOf(sqlStreamSchema()))
      .meta({
        description: "The streams of the source; at least one. All are read in one view of the database.",
        examples: [{ customers: { query: "select id, name from customer", key: "id", mapping: customerMapping } }],
      }),
  })
  .superRefine(checkMappings)
  .superRefine((source, context) => {
    for (const { path, message } of checkSqlSource(source)) context.addIssue({ code: "custom", path, message });
  });
export type SqlSourceSettings = z.infer<typeof sqlSourceSchema>;

export const sourceSettingsSchema = z.discriminatedUnion("kind", [fileSourceSchema, httpSourceSchema, sqlSourceSchema]);
export type SourceSettings = z.infer<typeof sourceSettingsSchema>;
