import { z } from "zod";
import { durationSchema } from "../../base/duration.ts";
import { secretReferenceSchema } from "../../http/http-settings.ts";
import { pathSchema } from "../file/file-source-settings.ts";
import { isZone } from "../mapping/coerce.ts";
import { parsePath } from "../mapping/path.ts";
import type { Issue } from "../problems.ts";

const text = z.string().min(1);
const port = z.int().min(1).max(65_535);

const queryFields = {
  query: text
    .refine((query) => !query.includes("\0"), "contains a NUL character")
    .meta({
      description: "The query; it only reads",
      examples: ["select id, name, changed_at from customer"],
    }),
};

const detailSchema = z
  .strictObject({
    ...queryFields,
    key: pathSchema.meta({
      description: "Column of a detail row that holds the key of its record",
      examples: ["order_id"],
    }),
  })
  .meta({ examples: [{ query: "select order_id, product, quantity from order_line", key: "order_id" }] });

const sinceSchema = z.strictObject({
  column: text.meta({
    description:
      "Column of the query with the time of the last change of a record. A change of a detail row has to change it " +
      "too. Rows without a value in it are read each time",
    examples: ["changed_at"],
  }),
  overlap: durationSchema
    .default("5m")
    .describe(
      "How far the next reading reaches back behind the latest time, because a change may become visible late. Times " +
        "without zone reach back two hours more, since clocks are set back",
    ),
  fullReadEvery: durationSchema
    .default("24h")
    .describe("After this time without a full read, the next run makes one: only a full read notices missing records"),
});
export type SqlSince = z.infer<typeof sinceSchema>;

export const sqlStreamFields = () => ({
  ...queryFields,
  key: pathSchema.optional().meta({
    description:
      "Column that identifies a row in every reading; the rows are read in its order. Needed where details are joined",
    examples: ["id"],
  }),
  details: z
    .record(z.string().regex(/^[A-Za-z][A-Za-z0-9_]*$/), detailSchema)
    .optional()
    .meta({
      description:
        "Queries whose rows belong to a record, by the name under which the mapping sees them; joined by key",
      examples: [{ lines: { query: "select order_id, product, quantity from order_line", key: "order_id" } }],
    }),
  since: sinceSchema.optional().describe("How to ask for what changed"),
});

const serverFields = {
  host: text.meta({
    description: "Name or address of the server; a path beginning with / is a socket on this machine",
    examples: ["erp-db.example.com"],
  }),
  database: text.meta({ description: "Database", examples: ["erp"] }),
  user: text.meta({ description: "User; one who may do nothing but read", examples: ["crm_sync"] }),
  password: secretReferenceSchema.optional().meta({
    description: "Password: env:NAME or file:/path",
    examples: ["env:ERP_DB_PASSWORD"],
  }),
  tls: z
    .enum(["verify", "off"])
    .default("verify")
    .describe("verify: TLS, and the server's certificate is checked; off: without TLS"),
  ca: text.optional().meta({
    description:
      "File with the certificates that are trusted in place of the system's (PEM), relative to the configuration file",
    examples: ["erp-ca.pem"],
  }),
  serverName: text.optional().meta({
    description: "Name that the certificate has to bear, where it is another than `host`",
    examples: ["erp-db.internal"],
  }),
  allowPlain: z
    .boolean()
    .default(false)
    .describe("`tls: off` may be used to another machine, although everybody on the way can read rows and password"),
};

/** Built only for a sql source, because every command checks the configuration. */
const connectionSchema = () =>
  z.discriminatedUnion("kind", [
    z.strictObject({
      kind: z.literal("postgres").describe("PostgreSQL."),
      port: port.default(5_432).describe("Port"),
      ...serverFields,
    }),
    z.strictObject({
      kind: z.literal("sqlite").describe("A SQLite file, opened read-only."),
      file: text.meta({ description: "The file, relative to the configuration file", examples: ["erp.db"] }),
    }),
  ]);
type SqlConnection = z.infer<ReturnType<typeof connectionSchema>>;
export type PostgresConnection = Extract<SqlConnection, { kind: "postgres" }>;

export const sqlSourceFields = {
  connection: z.lazy(connectionSchema).describe("The database"),
  zone: z
    .string()
    .refine(isZone, "is no zone; expected a name such as Europe/Berlin or UTC")
    .optional()
    .meta({
      description:
        "Zone of times that the database keeps without one; they become moments. Without it they stay local " +
        "times, such as 2026-11-20T08:00:00",
      examples: ["Europe/Berlin"],
    }),
  connectTimeout: durationSchema.default("10s").describe("Longest time for a connection"),
  statementTimeout: durationSchema.default("10m").describe("Longest time for a statement, or for the next rows of one"),
};

interface AskedStream {
  key?: string | undefined;
  details?: Readonly<Record<string, { key: string }>> | undefined;
}

interface SqlSettings {
  connection: SqlConnection;
  streams: Readonly<Record<string, AskedStream | undefined>>;
}

export function checkSqlSource({ connection, streams }: SqlSettings): Issue[] {
  const issues: Issue[] = checkConnection(connection);
  const checkKey = (key: string | undefined, path: string[]): void => {
    if (key !== undefined && columnOf(key) === undefined)
      issues.push({
        path: [...path, "key"],
        message: 'is no column; expected its name, or ["its name"] where that has dots',
      });
  };
  for (const [name, stream] of Object.entries(streams)) {
    if (stream === undefined) continue;
    checkKey(stream.key, ["streams", name]);
    for (const [detail, set] of Object.entries(stream.details ?? {}))
      checkKey(set.key, ["streams", name, "details", detail]);
  }
  return issues;
}

function checkConnection(connection: SqlConnection): Issue[] {
  if (connection.kind === "sqlite" || connection.tls === "verify" || connection.allowPlain) return [];
  // A path means a local socket.
  if (/^(?:\/.*|localhost|127(?:\.\d{1,3}){3}|::1)$/u.test(connection.host)) return [];
  const message =
    "must be verify, since the password and the rows go to another machine; off is allowed to this machine only, or " +
    "with `allowPlain: true`";
  return [{ path: ["connection", "tls"], message }];
}

/** Undefined if the path is empty or leads inside a column. */
export function columnOf(path: string): string | undefined {
  const parsed = parsePath(path);
  if (!parsed.ok || parsed.value.up > 0 || parsed.value.steps.length !== 1) return undefined;
  const [name] = parsed.value.steps;
  return typeof name === "string" ? name : undefined;
}
