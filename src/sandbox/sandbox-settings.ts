import { z } from "zod";
import { contradictedRows } from "./contradictions.ts";

export const sandboxSettingsSchema = z.strictObject({
  errorStatus: z
    .union([z.literal(200), z.literal(299)])
    .default(299)
    .describe("HTTP status of business errors"),
  channelCode: z.string().min(1).default("crm").describe("channel code of the customers that E2 makes (A9)"),
  requireAddress: z.boolean().default(true).describe("whether E5 refuses a new order without an address"),
  requireDepartment: z
    .boolean()
    .default(false)
    .describe("whether M1 answers 40009 where departmentId is left out (A32)"),
  asyncAnswer: z
    .enum(["orders", "none"])
    .default("orders")
    .describe("what E5 answers to an asynchronous call: its licence orders, or no data (A15)"),
  strictMatch: z
    .enum(["terms", "instance"])
    .default("terms")
    .describe("whether an exact delete_product compares the crmProductId too, beside productUri, limits and nodes"),
  fieldsLeftOutInM2: z
    .enum(["cleared", "kept"])
    .default("cleared")
    .describe("what becomes of optional fields that M2 leaves out (A41)"),
  contradicts: z
    .array(z.enum(contradictedRows))
    .default([])
    .describe("rows of A1–A43 that the services contradict from the start"),
  asyncDelayMs: z.int().min(0).default(200).describe("time until an asynchronous order shows, in milliseconds"),
  shellRegion: z.enum(["8", "6"]).default("8").describe("first digit of the numbers of E9"),
  maxPageSize: z.int().min(1).default(200).describe("largest page of M5; a larger one is cut"),
  trialMemberCap: z
    .int()
    .min(0)
    .optional()
    .describe("largest number of staff of an enterprise (60009); none when left out"),
  mobilePattern: z.string().default("^\\+?[0-9]{6,15}$").describe("what M1 takes for a mobile number (10004)"),
  showDeletedStaff: z.boolean().default(false).describe("whether M5 lists deleted staff with deleted=true (A36)"),
  fillPlaceholders: z.boolean().default(true).describe("whether {0} and {1} in messages are filled in"),
  tokenLifetimeMs: z
    .int()
    .min(1)
    .default(3_600_000)
    .describe("lifetime of the tokens that /oauth/token gives, in milliseconds"),
  appKey: z
    .string()
    .min(1)
    .default("sandbox-app")
    .describe("application key: client id of the token call and appKey of E5"),
  appSecret: z.string().min(1).default("sandbox-secret").describe("application secret of the token call"),
  userName: z.string().min(1).default("sandbox-user").describe("user of the password grant"),
  userPassword: z.string().min(1).default("sandbox-password").describe("password of the password grant"),
});

export type SandboxSettings = z.infer<typeof sandboxSettingsSchema>;
export type SandboxSettingsInput = z.input<typeof sandboxSettingsSchema>;
