import { z } from "zod";
import { durationSchema } from "../base/duration.ts";
import { reference, timeoutMs, webhook } from "../http/http-settings.ts";
import { alertKinds, severities } from "./notify/alert.ts";

const common = {
  name: z
    .string()
    .regex(/^[a-z0-9][a-z0-9._-]{0,62}$/iu, "expected letters, digits, dots, dashes and underscores")
    .optional()
    .meta({
      description: "The name of the channel; default: its kind. Each channel needs its own name.",
      examples: ["on-call"],
    }),
  kinds: z
    .array(z.enum(alertKinds))
    .min(1)
    .optional()
    .meta({ description: "Kinds of alert that this channel sends; default: all.", examples: [["hold", "unknown"]] }),
  severity: z
    .enum(severities)
    .default("notice")
    .describe("The lowest severity that this channel sends: notice (all of them), warning or critical."),
};

const channelSchema = z.discriminatedUnion("kind", [
  webhook("An HTTP POST of the alert as JSON.", common),
  z.strictObject({
    kind: z.literal("mail").describe("A message through the server of `mail`."),
    to: z
      .array(z.email())
      .min(1)
      .max(50)
      .meta({ description: "Who gets it.", examples: [["operations@example.com"]] }),
    ...common,
  }),
]);

const deadMansSwitchSchema = z.strictObject({
  name: z
    .string()
    .regex(/^[a-z0-9][a-z0-9._-]{0,62}$/iu, "expected letters, digits, dots, dashes and underscores")
    .default("dead-mans-switch")
    .describe("Its name. Each needs its own."),
  url: reference.meta({
    description: "The address that is called (GET), which is a secret, as `env:NAME` or `file:/path`.",
    examples: ["env:PING_URL"],
  }),
  jobs: z
    .array(z.string().min(1))
    .min(1)
    .optional()
    .meta({ description: "Jobs after whose good runs it is called; default: all.", examples: [["verify"]] }),
  goodExits: z
    .array(z.union([z.literal(0), z.literal(3), z.literal(4)]))
    .min(1)
    .default([0])
    .describe(
      "Exit codes of a run that count as good. 3 and 4 add runs that did all they could and after which records " +
        "wait for a correction (3) or something waits for approval (4). A run with 4 that did not reach a source or a " +
        "service is never good.",
    ),
  timeoutMs: timeoutMs.describe("Time after which the call counts as failed."),
});

export const alertSettingsSchema = z
  .strictObject({
    remindAfter: durationSchema
      .nullable()
      .default("24h")
      .describe("Time until an alert for an open issue is repeated: 90m, 24h, 2d; null: never."),
    channels: z
      .array(channelSchema)
      .default([])
      .describe(
        "Channels for alerts, beside the log. Each alert goes to all of them. If a channel fails, it alone sends the " +
          "alert again with the next run.",
      ),
    deadMansSwitches: z
      .array(deadMansSwitchSchema)
      .default([])
      .describe("Addresses that are called after each good run, and whose owner notices when no call comes."),
  })
  .prefault({});

export type ChannelSettings = z.infer<typeof channelSchema>;
export type AlertSettings = z.infer<typeof alertSettingsSchema>;
export type DeadMansSwitch = z.infer<typeof deadMansSwitchSchema>;
