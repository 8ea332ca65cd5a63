import { z } from "zod";
import { isPlainHttp } from "../base/loopback.ts";

// Made once, because a configuration is checked at each start.
const text = z.string().min(1);
const span = z.int().min(1).max(3_600_000);
const milliseconds = (standard: number) => span.default(standard);

/** `env:NAME` or `file:/path`. A configuration never has the secret itself. */
export const secretReferenceSchema = z
  .string()
  .regex(/^(env:[A-Za-z_][A-Za-z0-9_]*|file:.+)$/, "must be env:NAME or file:/path; never the secret itself");

export const programEnvironment = z
  .array(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/u, "expected the name of an environment variable"))
  .default([])
  .meta({
    description: "Environment variables that the program gets, beside PATH and HOME; it gets no other",
    examples: [["VAULT_ADDR"]],
  });

const serviceUrl = z.url({ protocol: /^https?$/ }).refine((url) => URL.canParse(url) && !isPlainHttp(url), {
  message: "must be https; plain http is allowed to this machine only",
});

const oauth2Schema = z
  .strictObject({
    tokenUrl: serviceUrl.meta({ description: "Token endpoint", examples: ["https://login.example.com/oauth/token"] }),
    grant: z.enum(["client_credentials", "password"]).meta({
      description: "Grant: client_credentials for the application, password for a user",
      examples: ["client_credentials"],
    }),
    clientId: text.meta({ description: "Application key", examples: ["crm-sync"] }),
    clientSecret: secretReferenceSchema.meta({
      description: "Application secret: env:NAME or file:/path",
      examples: ["env:CLIENT_SECRET"],
    }),
    clientAuth: z
      .enum(["basic", "body"])
      .default("body")
      .describe("Whether key and secret go in the Authorization header (basic) or in the body (body)"),
    username: text.optional().meta({ description: "Account, for the password grant", examples: ["sync@example.com"] }),
    password: secretReferenceSchema
      .optional()
      .meta({ description: "Password of the account: env:NAME or file:/path", examples: ["env:ACCOUNT_PASSWORD"] }),
    scope: text.optional().meta({ description: "Scope to ask for", examples: ["auth_order"] }),
    timeoutMs: milliseconds(15_000).describe("Longest time for one token request"),
  })
  .refine((oauth) => oauth.grant !== "password" || (oauth.username !== undefined && oauth.password !== undefined), {
    message: "the password grant needs username and password",
  });

export const tokenSourceSchema = z.union([
  secretReferenceSchema.meta({ examples: ["env:ORDER_TOKEN"] }),
  z.strictObject({
    command: z
      .array(z.string())
      .min(1)
      .meta({
        description: "Program and arguments; it prints the token, or JSON with access_token and expires_in",
        examples: [["/usr/local/bin/token", "--for", "orders"]],
      }),
    environment: programEnvironment,
    timeoutMs: milliseconds(15_000).describe("Longest time for the program"),
  }),
  z.strictObject({ oauth2: oauth2Schema.describe("An OAuth2 token endpoint") }),
  z.strictObject({
    fixed: text.meta({ description: "The token itself: for the sandbox and for tests only", examples: ["sandbox"] }),
  }),
]);
export type TokenSource = z.infer<typeof tokenSourceSchema>;

export const serviceSettingsSchema = z.strictObject({
  baseUrl: serviceUrl.meta({
    description: "Base URL, without the path of the service itself",
    examples: ["https://orders.example.com"],
  }),
  tokens: z
    .strictObject({
      authorization: tokenSourceSchema.describe("Token of the Authorization header"),
      clientToken: tokenSourceSchema
        .optional()
        .describe("Token of the clientToken header; without it, the one of Authorization (A6)"),
      userToken: tokenSourceSchema
        .optional()
        .describe("Token of the userToken header, for every enterprise not named below (A7)"),
      userTokens: z
        .record(text, tokenSourceSchema)
        .default({})
        .describe("userToken by enterpriseGlobalId, for enterprises that need their own (A7)"),
    })
    .describe("Where the tokens come from"),
  tokenCodes: z
    .array(z.string())
    .default([])
    .meta({
      description: "Further business codes that mean that the token must be renewed (A2)",
      examples: [["A0230"]],
    }),
  callsAtOnce: z.int().min(1).max(256).default(2).describe("Calls in flight at once (A37)"),
  callsPerSecond: z
    .number()
    .positive()
    .max(10_000)
    .nullable()
    .default(5)
    .describe("Calls a second; null for no limit (A37)"),
  connectTimeoutMs: milliseconds(10_000).describe("Longest time for a connection"),
  headersTimeoutMs: milliseconds(30_000).describe("Longest time until the answer begins"),
  bodyTimeoutMs: milliseconds(15_000).describe("Longest pause inside an answer"),
  callTimeoutMs: milliseconds(90_000).describe("Longest time for a call in all, from its sending"),
  turnTimeoutMs: milliseconds(60_000).describe(
    "Longest time that a call waits for its turn before it is given up unsent",
  ),
  answerLimitBytes: z
    .int()
    .min(1024)
    .max(256 * 1024 * 1024)
    .default(8 * 1024 * 1024)
    .describe("Largest answer in bytes; a longer one is cut off and counts as unreadable"),
  readAttempts: z.int().min(1).max(10).default(5).describe("Attempts of a read; a write has one"),
  backoffBaseMs: milliseconds(200).describe("First step of the back-off between the attempts of a read"),
  backoffCapMs: milliseconds(20_000).describe("Longest back-off between the attempts of a read"),
  retryBudget: z
    .int()
    .min(0)
    .max(1000)
    .default(10)
    .describe("Repetitions of reads in store; ten successful calls bring one back"),
  breakerFailures: z
    .int()
    .min(1)
    .max(1000)
    .default(8)
    .describe("Failures in a row after which the circuit of a service opens: no call is sent"),
  breakerOpenMs: milliseconds(15_000).describe(
    "How long the circuit stays open before one call tries again; doubled each time, up to 20 times as long",
  ),
  caFile: text.optional().meta({
    description: "PEM file with the certificate authority of the service, where the system does not know it",
    examples: ["/etc/ssl/certs/company-ca.pem"],
  }),
});
export type ServiceSettings = z.infer<typeof serviceSettingsSchema>;

export const timeoutMs = z.int().min(100).max(600_000).default(10_000);

export const reference = z.string().regex(/^(env|file):/u, "expected env:NAME or file:/path");

/** Something posted, perhaps with a token, which then needs https. `more`: further settings. */
export function webhook<More extends z.core.$ZodLooseShape>(described: string, more: More) {
  return z
    .strictObject({
      kind: z.literal("webhook").describe(described),
      url: z
        .url({ protocol: /^https?$/u })
        .meta({ description: "Where it is posted.", examples: ["https://hooks.example.com/crm"] }),
      token: z
        .string()
        .regex(/^(env|file):/u)
        .optional()
        .meta({ description: "Bearer token, as `env:NAME` or `file:/path`.", examples: ["env:HOOK_TOKEN"] }),
      timeoutMs: timeoutMs.describe("Time after which it counts as not delivered."),
      ...more,
    })
    .superRefine((given: unknown, context) => {
      const sent = postedSchema.safeParse(given);
      if (!sent.success || sent.data.token === undefined || !isPlainHttp(sent.data.url)) return;
      const message = "must be https, since the token is sent there; plain http is allowed to this machine only";
      context.addIssue({ code: "custom", path: ["url"], message });
    });
}

const postedSchema = z.object({ url: z.string(), token: z.string().optional() });
