import { z } from "zod";
import { reportSettingsSchema } from "../operate/report-settings.ts";
import {
  bookSettingsSchema,
  mailSettingsSchema,
  headPlaceSchema,
  jobSettingsSchema,
  limitsSettingsSchema,
  orderSettingsSchema,
  settleSettingsSchema,
  zoneSchema,
} from "../engine/run/run-settings.ts";
import { alertSettingsSchema, notifySettingsSchema } from "../operate/notify-settings.ts";
import { policySettingsSchema } from "../engine/model/policy-settings.ts";
import { serveSettingsSchema } from "./serve.ts";
import type { JsonSchema } from "./schema-walk.ts";

/** `env:NAME` or `file:/path`. The value behind it is in Secrets. */
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

/** The whole configuration, from the schemas of the rooms that other people's needs shape. */
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
    mail: mailSettingsSchema.optional().describe("The mail server that reports and alerts are sent through."),
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
    notify: notifySettingsSchema.describe("How people are notified when an issue begins or ends."),
    alerts: alertSettingsSchema.describe("More channels for alerts, reminders, and dead man's switches."),
    serve: serveSettingsSchema.describe("The web server of `crm-sync serve`."),
    retention: retentionSettings.describe(
      "How long history is kept. Rows that a promise or a report needs are always kept.",
    ),
    concurrency: concurrencySettings.describe("How much is done at once."),
  });
}

/** The schema as editors and the documentation see it: JSON Schema of what may be written. */
export function jsonSchemaOf(schema: z.ZodType): JsonSchema {
  return z.toJSONSchema(schema, { io: "input", unrepresentable: "any" });
}
