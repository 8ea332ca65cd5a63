import { z } from "zod";
import type { Json } from "../base/canonical-json.ts";
import { isLoopbackHost } from "../base/loopback.ts";
import { policySettingsSchema } from "../engine/model/policy-settings.ts";
import {
  bookSettingsSchema,
  headPlaceSchema,
  jobSettingsSchema,
  limitsSettingsSchema,
  mailSettingsSchema,
  orderSettingsSchema,
  settleSettingsSchema,
  zoneSchema,
} from "../engine/run/run-settings.ts";
import { alertSettingsSchema } from "../operate/notify-settings.ts";
import { reportSettingsSchema } from "../operate/report-settings.ts";
import { accessSettingsSchema, metricsSettingsSchema, tlsSettingsSchema } from "./access-settings.ts";
import { isMap, valueAt, type Path } from "./document.ts";

export type JsonSchema = z.core.JSONSchema.JSONSchema;
type Node = JsonSchema | boolean | undefined;

export function alternatives(schema: Node, root: JsonSchema): JsonSchema[] {
  return collect(schema, root, new Set());
}

function collect(schema: Node, root: JsonSchema, seen: Set<JsonSchema>): JsonSchema[] {
  if (schema === undefined || typeof schema === "boolean" || seen.has(schema)) return [];
  seen.add(schema);
  const target = schema.$ref === undefined ? undefined : referenced(schema.$ref, root);
  if (target !== undefined) return collect(target, root, seen);
  const inner = [...(schema.anyOf ?? []), ...(schema.oneOf ?? []), ...(schema.allOf ?? [])];
  return inner.length === 0 ? [schema] : inner.flatMap((one) => collect(one, root, seen));
}

function referenced(reference: string, root: JsonSchema): Node {
  if (reference === "#") return root;
  const name = /^#\/\$defs\/(.+)$/.exec(reference)?.[1];
  return name === undefined ? undefined : root.$defs?.[name];
}

/** Every schema allowed at a path. `value` excludes schemas of another `kind`. */
export function schemasAt(root: JsonSchema, path: Path, value?: Json): JsonSchema[] {
  let current = ofKind(alternatives(root, root), value);
  path.forEach((step, index) => {
    const inner = current.flatMap((schema) => alternatives(childOf(schema, step), root));
    current = ofKind(inner, valueAt(value, path.slice(0, index + 1)));
  });
  return current;
}

function ofKind(schemas: JsonSchema[], value: Json | undefined): JsonSchema[] {
  const kind = isMap(value) ? value["kind"] : undefined;
  if (kind === undefined) return schemas;
  const fitting = schemas.filter((schema) => {
    const wanted = schema.properties?.["kind"];
    return typeof wanted !== "object" || wanted.const === undefined || wanted.const === kind;
  });
  return fitting.length > 0 ? fitting : schemas;
}

function childOf(schema: JsonSchema, step: string | number): Node {
  if (typeof step === "number") {
    const items = schema.items;
    return Array.isArray(items) ? items[step] : items;
  }
  const properties = schema.properties;
  if (properties !== undefined && Object.hasOwn(properties, step)) return properties[step];
  return schema.additionalProperties;
}

export function keysAt(root: JsonSchema, path: Path, value?: Json): string[] {
  const keys = schemasAt(root, path, value).flatMap((schema) => Object.keys(schema.properties ?? {}));
  return [...new Set(keys)].sort();
}

/** `null` and `~` are text only if null is not allowed. */
export function acceptsText(root: JsonSchema, path: Path, text: string): boolean {
  const schemas = schemasAt(root, path);
  if (/^(?:null|~)$/iu.test(text.trim()) && schemas.some(({ type }) => [type].flat().includes("null"))) return false;
  return schemas.some(({ const: only, enum: words, type }) => {
    if (only !== undefined) return only === text;
    if (words !== undefined) return words.includes(text);
    return type === undefined || [type].flat().includes("string");
  });
}

const settings = z.strictObject({
  host: z
    .string()
    .min(1)
    .default("127.0.0.1")
    .describe(
      "Address to listen on. Beyond this machine the pages need a way to sign in; `/livez` is open to whoever reaches it.",
    ),
  publicUrl: z
    .url({ protocol: /^https$/u, abort: true, error: "must be https: people sign in there" })
    .refine((url) => !isOfThisMachine(new URL(url).hostname), {
      error:
        "must not be a name of this machine alone: a browser sends its cookies to every program there; " +
        "`crm-sync login` prints a link of its own",
    })
    .optional()
    .meta({
      description: "Where people reach its pages from outside; alerts link to them where it is set.",
      examples: ["https://crm-sync.example.com"],
    }),
  port: z.int().min(0).max(65_535).default(8787).describe("Port to listen on; 0: any free one."),
  pages: z.boolean().default(true).describe("Whether there are pages for people; false: health and metrics alone."),
  access: accessSettingsSchema.describe("Who may open the pages, and how they show who they are."),
  tls: tlsSettingsSchema.optional().describe("Certificate with which it answers by https itself."),
  metrics: metricsSettingsSchema.describe("Who may read `/metrics`; nobody where nothing is set."),
});

export const serveSettingsSchema = settings
  .superRefine((given: unknown, context) => {
    const read = settings.safeParse(given);
    if (!read.success) return;
    for (const { path, message } of contradictions(read.data)) context.addIssue({ code: "custom", path, message });
  })
  .prefault({});

export type ServeSettings = z.output<typeof settings>;

function isOfThisMachine(hostname: string): boolean {
  return isLoopbackHost(hostname) || /(?:^|\.)localhost\.?$/iu.test(hostname);
}

function contradictions({ host, pages, access }: ServeSettings): { path: string[]; message: string }[] {
  if (!pages) return [];
  const found: { path: string[]; message: string }[] = [];
  if (!isLoopbackHost(host) && access.proxy === undefined)
    found.push({
      path: ["host"],
      message:
        "others than this machine reach it, and nobody could sign in; configure `serve.access.proxy`, " +
        "set `serve.pages: false` where health and metrics are all that is wanted, or take the host away",
    });
  return found;
}

const secretReference = z.string().regex(/^(env|file):/u, "must be env:NAME or file:/path; never the secret itself");
const name = z.string().regex(/^[a-z0-9][a-z0-9._-]{0,62}$/iu);
const days = z.int().min(1).nullable();

const ledgerSettings = z.strictObject({
  path: z
    .string()
    .min(1)
    .meta({
      description: "The SQLite file of the ledger, relative to the configuration file.",
      examples: ["ledger.db"],
    }),
  sealKey: secretReference.optional().meta({
    description: "Key that seals passwords, as `env:NAME` or `file:/path`. Without it no staff is created (A30).",
    examples: ["env:SEAL_KEY"],
  }),
  formerSealKey: secretReference.optional().meta({
    description:
      "The `sealKey` of before, until nothing is sealed with it any more; " +
      "docs/how-to/change-a-key.md says how to change keys.",
    examples: ["env:FORMER_SEAL_KEY"],
  }),
  group: z
    .string()
    .min(1)
    .optional()
    .meta({
      description:
        "Group that may read the ledger, its reports and what lies beside it. Without it only the owner may.",
      examples: ["finance"],
    }),
});

const auditSettings = z
  .strictObject({
    signKey: secretReference.optional().meta({
      description:
        "Key that signs heads of the audit log, as `env:NAME` or `file:/path`: Ed25519, PEM (PKCS #8), as " +
        "`openssl genpkey -algorithm ed25519` makes one.",
      examples: ["file:/etc/crm-sync/audit.pem"],
    }),
    heads: z
      .array(headPlaceSchema)
      .default([])
      .describe("Where the head of the record is kept outside the database, with each run of a job."),
  })
  .prefault({});

const logSettings = z
  .strictObject({
    level: z
      .enum(["trace", "debug", "info", "warn", "error", "fatal", "silent"])
      .default("info")
      .describe("Least important kind of line that is written."),
  })
  .prefault({});

const retentionSettings = z
  .strictObject({
    rawRecordDays: days
      .default(400)
      .describe("Days to keep raw records of older versions and of records that left quarantine; null: for ever."),
    observationDays: days
      .default(400)
      .describe(
        "Days that observations are kept which the platform has shown otherwise since, and what people asked for and " +
          "took back; null: for ever.",
      ),
    runDays: days.default(null).meta({
      description: "Days that reads of sources and the settings and summaries of runs are kept; null: for ever.",
      examples: [800],
    }),
  })
  .prefault({});

const concurrencySettings = z
  .strictObject({
    customers: z
      .int()
      .min(1)
      .max(1024)
      .default(16)
      .describe("Customers worked on at once; calls at once are limited per service."),
  })
  .prefault({});

export function composeSchema<
  OrderService extends z.ZodType,
  MemberCenter extends z.ZodType,
  Assumptions extends z.ZodType,
  Source extends z.ZodType,
>(parts: { orderService: OrderService; memberCenter: MemberCenter; assumptions: Assumptions; source: Source }) {
  return z.strictObject({
    ledger: ledgerSettings.describe("The database that remembers everything."),
    audit: auditSettings.describe("The audit log of all changes; it shows when somebody alters it."),
    periods: bookSettingsSchema.describe("Periods that finance closes."),
    reports: reportSettingsSchema.describe("Settings of statements."),
    mail: mailSettingsSchema.optional().describe("The mail server that alerts are sent through."),
    instance: z
      .string()
      .min(1)
      .max(100)
      .optional()
      .meta({
        description:
          "Who speaks in alerts, where several instances report to one place; default: the name of this machine.",
        examples: ["production"],
      }),
    zone: zoneSchema.default("UTC").describe("Time zone of schedules, months and dates."),
    namespace: name.default("crm").describe("Namespace of records whose mapping names none."),
    log: logSettings.describe("The log on standard error."),
    orderService: parts.orderService,
    memberCenter: parts.memberCenter,
    assumptions: parts.assumptions,
    sources: z.record(name, parts.source).describe("Where CRM data comes from, by name."),
    settle: settleSettingsSchema.describe("Finding out what became of operations whose outcome is unknown."),
    limits: limitsSettingsSchema.describe("Limits of removals: removals beyond them wait for a person."),
    orders: orderSettingsSchema.describe("How orders are sent."),
    policies: policySettingsSchema.describe(
      "For each kind of change: ignore, report, ask a person, apply, or apply-after-approvals (ask until " +
        "`approvalsNeeded` operations under that policy were approved, then apply).",
    ),
    jobs: z
      .record(name, jobSettingsSchema)
      .default({})
      .describe("Changes to the jobs that ship with the program, and jobs of one's own, by id."),
    alerts: alertSettingsSchema.describe(
      "Who is notified when an issue begins or ends, reminders, and dead man's switches.",
    ),
    serve: serveSettingsSchema.describe("The web server of `crm-sync serve`."),
    retention: retentionSettings.describe(
      "How long history is kept. Rows that a promise or a report needs are always kept.",
    ),
    concurrency: concurrencySettings.describe("How much is done at once."),
  });
}

export function jsonSchemaOf(schema: z.ZodType): JsonSchema {
  return z.toJSONSchema(schema, { io: "input", unrepresentable: "any" });
}
