import { z } from "zod";
import { durationSchema } from "../../base/duration.ts";
import { isLoopbackHost } from "../../base/loopback.ts";
import { streams } from "../../crm/model.ts";
import { statementKinds } from "../../report/statement/shape.ts";
import { statementFormats } from "../../report/statement/render.ts";
import { parseCron } from "../../base/cron.ts";
import { timeoutMs, webhook } from "../../http/http-settings.ts";

export const zoneSchema = z.string().superRefine((zone, context) => {
  try {
    Temporal.PlainDate.from("2026-01-01").toZonedDateTime(zone);
  } catch {
    context.addIssue("not a time zone; write one such as Europe/Berlin or UTC");
  }
});

export const cronSchema = z.string().superRefine((text, context) => {
  const cron = parseCron(text);
  if (!cron.ok) context.addIssue(`expected ${cron.error}`);
});

const atLeastOne = z.int().min(1);

const floor = z.int().min(0).describe("So many are allowed, whatever the share.");
const share = z.number().min(0).max(1).describe("Share of the live things of the same kind that is allowed.");
const deletionLimit = (floorOf: number, shareOf: number) =>
  z.strictObject({ floor: floor.default(floorOf), share: share.default(shareOf) }).prefault({});
const readLimit = (floorOf: number, shareOf: number) =>
  z
    .strictObject({
      floor: z.int().min(1).default(floorOf).describe("So many records at least."),
      share: z.number().min(0).max(1).default(shareOf).describe("Share of the records of the stream."),
    })
    .prefault({});
const ofFew = " A floor allows at most half of what exists, but always 5.";
const ofAll = "The share is of all that exist, plus those removed in that time.";

const removalsSchema = z.strictObject({
  enterprise: deletionLimit(5, 0.05).describe(
    "Within one enterprise: the larger of floor and share, of each kind of thing by itself.",
  ),
  run: deletionLimit(20, 0.01).describe(`Within one run: the larger of floor and share.${ofFew}`),
  day: deletionLimit(40, 0.02).describe(`Within any 24 hours: the larger of floor and share. ${ofAll}${ofFew}`),
  week: deletionLimit(100, 0.05).describe(`Within any 7 days: the larger of floor and share. ${ofAll}${ofFew}`),
});

export const usualSpread = "7d";

export const limitsSettingsSchema = z
  .strictObject({
    removals: removalsSchema
      .prefault({})
      .describe("How much may be removed before a person must approve it; each kind is counted separately."),
    sourceShrink: z
      .number()
      .min(0)
      .max(1)
      .default(0.2)
      .describe(
        "A read is not believed that lost this share of its records, or of the entries of a look-up table; " +
          "of fewer than 20, more than 2.",
      ),
    newIds: readLimit(5, 0.05).describe(
      "From so many records on that are missing from a stream while as many are new, or that look like others, " +
        "nothing of the read is taken in: its ids may have changed.",
    ),
    massChange: readLimit(20, 0.2).describe(
      "From so many records on in which one field changed at once, nothing of the read is taken in.",
    ),
    absenceReads: atLeastOne
      .default(3)
      .describe(
        "Whole, complete reads of runs in a row that must lack a record before it counts as gone; a plan does not count.",
      ),
    absenceTime: durationSchema
      .default("24h")
      .describe(
        "How long a record must be missing before it counts as gone, however often its source is read: 90m, 24h, 2d.",
      ),
    resumeWithin: durationSchema
      .default("24h")
      .describe(
        "For how long the next run continues a read that was interrupted, if its source can do that: 30m, 24h. After " +
          "that, the read starts again.",
      ),
  })
  .prefault({});

export const settleSettingsSchema = z
  .strictObject({
    maxWaitMs: z
      .int()
      .min(0)
      .default(30_000)
      .describe("Longest time a run waits for settle times that are due soon; the rest is parked."),
    timeMs: z
      .int()
      .min(0)
      .default(120_000)
      .describe(
        "Settle time: has to exceed the time that the platform takes to show an effect. Too short a " +
          "time makes duplicates.",
      ),
    readings: atLeastOne.default(3).describe("Complete readings over the settle time that must not show an effect."),
    asyncDeadlineMs: z
      .int()
      .min(0)
      .default(900_000)
      .describe(
        "Time within which the platform has to show an order that was sent with assumptions.syncMode: async; past it " +
          "a person decides, and it is never sent again by itself (A15).",
      ),
    asyncPauseMs: atLeastOne
      .default(2_000)
      .describe("Pause between two looks at whether the platform shows an asynchronous order, in milliseconds."),
  })
  .prefault({});

export const orderSettingsSchema = z
  .strictObject({
    unseen: z
      .enum(["ask", "resend"])
      .default("ask")
      .describe(
        "An order whose outcome is unknown and that the platform does not show: wait for a person, or send it again.",
      ),
  })
  .prefault({});

const verifyBudgetSchema = z.strictObject({
  calls: z
    .int()
    .min(1)
    .meta({ description: "The most calls that one run makes; one customer is read in any case.", examples: [20_000] }),
  spread: durationSchema
    .default(usualSpread)
    .describe("Within which time every customer is to be read once: 90m, 24h, 7d. `verify` says how far it is."),
});
export type VerifyBudget = z.infer<typeof verifyBudgetSchema>;

export const sharesSchema = z
  .array(z.number().gt(0).lt(100))
  .min(1)
  .refine((shares) => shares.every((share, index) => share > (shares[index - 1] ?? 0)), "expected shares that rise")
  .meta({ examples: [[1, 5, 25]] });

const jobFields = {
  schedule: cronSchema
    .nullable()
    .optional()
    .meta({
      description: "Cron expression, such as `*/15 * * * *`; null: it runs only when you start it.",
      examples: ["30 2 * * *"],
    }),
  streams: z.array(z.enum(streams)).min(1).optional().describe("Kinds of record the job works on."),
  sources: z
    .array(z.string().min(1))
    .min(1)
    .optional()
    .meta({ description: "Sources the job reads; default: all that have its streams.", examples: [["erp"]] }),
  budget: verifyBudgetSchema
    .optional()
    .describe("The budget of a job of kind `verify`: the customers with the oldest reading come first."),
  canary: sharesSchema
    .optional()
    .describe(
      "Shares of the enterprises that a job of kind `sync` applies to first, in per cent: each share is read back.",
    ),
  reports: z
    .strictObject({
      kind: z.enum(statementKinds).describe("Which report."),
      format: z.enum(statementFormats).default("csv").describe("Format of the files."),
      by: z.enum(["happened", "crm-date"]).default("happened").describe("Which date puts a row into a month."),
      to: z
        .string()
        .min(1)
        .optional()
        .meta({
          description:
            "The folder that its files are dropped into, relative to the configuration file; it is made where it is " +
            "missing. Default: `reports` beside the ledger.",
          examples: ["/mnt/finance/crm-sync"],
        }),
    })
    .array()
    .min(1)
    .optional()
    .describe("Reports that a job of kind `report` writes, each for the month before its scheduled time."),
  to: z
    .string()
    .min(1)
    .optional()
    .meta({
      description:
        "The folder that a job of kind `backup` copies the ledger into, relative to the configuration file; on " +
        "another disk than the ledger.",
      examples: ["/mnt/elsewhere/crm-sync"],
    }),
  keep: z
    .int()
    .min(1)
    .optional()
    .meta({
      description: "How many backups of this ledger a job of kind `backup` leaves in its folder; default: all.",
      examples: [14],
    }),
};

/** Changes a shipped job, or with `kind` defines your own. */
export const jobSettingsSchema = z.strictObject({
  kind: z
    .enum(["sync", "verify", "report", "backup"])
    .optional()
    .describe("The task of the job; needed only for your own jobs."),
  ...jobFields,
});

export type JobSettings = z.infer<typeof jobSettingsSchema>;
export type LimitsSettings = z.infer<typeof limitsSettingsSchema>;
export type SettleSettings = z.infer<typeof settleSettingsSchema>;

export const bookSettingsSchema = z
  .strictObject({
    formats: z
      .array(z.enum(statementFormats))
      .default(["csv", "html"])
      .describe("Formats that the statements of a closed period are kept in, beside JSON."),
  })
  .prefault({});

export const mailSettingsSchema = z
  .strictObject({
    host: z
      .string()
      .min(1)
      .meta({ description: "The mail server (SMTP).", examples: ["mail.example.com"] }),
    port: z.int().min(1).max(65_535).default(587).describe("Its port: 587 with starttls, 465 with implicit."),
    tls: z
      .enum(["starttls", "implicit", "none"])
      .default("starttls")
      .describe("How the connection is encrypted: it begins in clear and must change, is from the start, or never is."),
    user: z
      .string()
      .min(1)
      .optional()
      .meta({ description: "Who logs in there.", examples: ["crm-sync"] }),
    password: z
      .string()
      .regex(/^(env|file):/u)
      .optional()
      .meta({ description: "Password, as `env:NAME` or `file:/path`.", examples: ["env:MAIL_PASSWORD"] }),
    from: z.email().meta({ description: "Who sends it.", examples: ["crm-sync@example.com"] }),
    timeoutMs: timeoutMs.describe("Time after which a step of the conversation counts as failed."),
  })
  .superRefine(({ user, password, tls, host }, context) => {
    if ((user === undefined) !== (password === undefined))
      context.addIssue({ code: "custom", path: ["user"], message: "user and password are given together" });
    if (password !== undefined && tls === "none" && !isLoopbackHost(host))
      context.addIssue({
        code: "custom",
        path: ["tls"],
        message: "must be starttls or implicit where a password is sent",
      });
  });

export type MailSettings = z.infer<typeof mailSettingsSchema>;

export const headPlaceSchema = z.discriminatedUnion("kind", [
  z.strictObject({
    kind: z.literal("file").describe("A line at the end of a file, on another disk or machine."),
    path: z
      .string()
      .min(1)
      .meta({ description: "The file, relative to the configuration file.", examples: ["/mnt/elsewhere/crm.heads"] }),
  }),
  webhook("An HTTP POST of the head as JSON.", {}),
]);

export type HeadPlace = z.infer<typeof headPlaceSchema>;
