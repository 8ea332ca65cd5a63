import { z } from "zod";
import { isPlainHttp } from "../../base/loopback.ts";
import { secretReferenceSchema } from "../../http/http-settings.ts";
import type { Issue } from "../problems.ts";
import { answerErrorsSchema, headersSchema, scalar, webUrl } from "./request-settings.ts";

const secretRef = secretReferenceSchema.meta({
  description: "Where the secret is: env:NAME or file:/path",
  examples: ["env:CRM_SECRET"],
});
const valueName = z
  .string()
  .regex(/^[a-z][A-Za-z0-9]{0,39}$/u, "expected a name of letters and digits that begins with a small letter");

const sessionSchema = () =>
  z
    .strictObject({
      kind: z.literal("session").describe("A log-in whose answer gives the credentials of the other requests."),
      secrets: z
        .record(valueName, secretRef)
        .default({})
        .meta({
          description: "Secrets by the names under which `login` and `put` have them, in braces",
          examples: [{ password: "env:CRM_PASSWORD" }],
        }),
      login: z
        .strictObject({
          url: z
            .string()
            .min(1)
            .meta({
              description: "Address of the log-in; relative to baseUrl where that is set",
              examples: ["https://crm.example.com/login"],
            }),
          method: z.enum(["GET", "POST"]).default("POST").describe("Method of the log-in"),
          query: z
            .record(z.string(), scalar)
            .default({})
            .meta({ description: "Query parameters of the log-in", examples: [{ database: "sales" }] }),
          headers: headersSchema.meta({
            description: "Headers of the log-in",
            examples: [{ Accept: "application/json" }],
          }),
          body: z
            .json()
            .optional()
            .meta({
              description: "Body of the log-in; write secrets by their names, in braces",
              examples: [{ login: "sync", password: "{password}" }],
            }),
          bodyAs: z.enum(["json", "form"]).default("json").describe("How the body of the log-in is written"),
        })
        .describe("The request that begins a session"),
      take: z
        .record(
          valueName,
          z.strictObject({
            in: z.enum(["body", "header", "cookie"]).default("body").describe("Where the answer holds it"),
            at: z
              .string()
              .min(1)
              .meta({
                description: "Path in the body, or name of the header or of the cookie",
                examples: ["result.token"],
              }),
          }),
        )
        .meta({
          description: "Values to take from the answer of the log-in, by name; if one is missing, the log-in failed",
          examples: [{ token: { at: "result.token" } }],
        }),
      put: z
        .array(
          z.strictObject({
            in: z.enum(["header", "query", "body"]).default("header").describe("Where the requests show it"),
            parameter: z
              .string()
              .min(1)
              .meta({
                description: "Name of the header or query parameter, or path in the body",
                examples: ["Authorization"],
              }),
            value: z
              .string()
              .min(1)
              .meta({
                description: "The text of it, with names of `take` and `secrets` in braces",
                examples: ["{token}"],
              }),
            base64: z.boolean().default(false).describe("Whether the value is written in base64"),
            prefix: z
              .string()
              .default("")
              .meta({ description: "What stands before it", examples: ["Session "] }),
          }),
        )
        .min(1)
        .meta({
          description: "How every other request shows the session",
          examples: [[{ in: "header", parameter: "X-Password", value: "{password}" }]],
        }),
      errors: answerErrorsSchema().optional().describe("How the log-in says that it failed, where that is HTTP 200"),
    })
    .superRefine((auth, context) => {
      const names = new Set([...Object.keys(auth.secrets), ...Object.keys(auth.take)]);
      for (const [index, { value }] of auth.put.entries()) {
        const unknown = namesIn(value).find((name) => !names.has(name));
        if (unknown !== undefined) {
          const message = `{${unknown}} is neither in \`take\` nor in \`secrets\``;
          context.addIssue({ code: "custom", path: ["put", index, "value"], message });
        }
      }
      if (auth.login.method === "GET" && auth.login.body !== undefined) {
        context.addIssue({
          code: "custom",
          path: ["login", "body"],
          message: "found with the method GET, which has none",
        });
      }
    });

function namesIn(text: string): string[] {
  return [...text.matchAll(/\{([a-z][A-Za-z0-9]*)\}/gu)].map(([, name = ""]) => name);
}

/** A function: every command checks the configuration, and only http sources need this. */
export const authSchema = () =>
  z.discriminatedUnion("kind", [
    z.strictObject({ kind: z.literal("none").describe("Nothing is sent.") }),
    z.strictObject({
      kind: z.literal("bearer").describe("A fixed token in the Authorization header."),
      token: secretRef,
    }),
    z.strictObject({
      kind: z.literal("basic").describe("User and password."),
      user: z
        .string()
        .min(1)
        .meta({ description: "User", examples: ["sync"] }),
      password: secretRef,
    }),
    z
      .strictObject({
        kind: z.literal("apiKey").describe("A key in a header."),
        header: z
          .string()
          .min(1)
          .meta({ description: "Name of the header that carries the key", examples: ["X-Api-Key"] }),
        prefix: z
          .string()
          .regex(/^[\t\x20-\x7e]*$/u, "holds characters that a header cannot hold, such as a line end")
          .default("")
          .meta({ description: "The text before the key in the header", examples: ["Token "] }),
        key: secretRef,
      })
      .meta({
        examples: [
          { kind: "apiKey", header: "X-Api-Key", key: "env:CRM_KEY" },
          { kind: "apiKey", header: "Authorization", prefix: "Token ", key: "env:CRM_KEY" },
        ],
      }),
    z.strictObject({
      kind: z.literal("oauth2").describe("A token of an OAuth2 token endpoint."),
      tokenUrl: webUrl.meta({ description: "Token endpoint", examples: ["https://login.example.com/oauth/token"] }),
      clientId: z
        .string()
        .min(1)
        .meta({ description: "Client id", examples: ["crm-sync"] }),
      clientSecret: secretRef,
      clientAuth: z
        .enum(["basic", "body"])
        .default("basic")
        .describe("Client id and secret in the Authorization header or in the body"),
      scope: z
        .string()
        .min(1)
        .optional()
        .meta({ description: "Scope to ask for", examples: ["read"] }),
      parameters: z
        .record(z.string(), z.string())
        .default({})
        .meta({ description: "Further parameters of the token request", examples: [{ audience: "crm" }] }),
    }),
    sessionSchema(),
  ]);
export type AuthSettings = z.infer<ReturnType<typeof authSchema>>;

interface Asked {
  baseUrl?: string | undefined;
  auth: AuthSettings;
  allowPlainHttp: boolean;
}

interface AskedList {
  path: string[];
  url: string;
}

/** Where credentials would go to another machine over plain http, which everybody on the way can read. */
export function checkPlainHttp(asked: Asked, lists: readonly AskedList[]): Issue[] {
  const { baseUrl, auth } = asked;
  if (asked.allowPlainHttp || auth.kind === "none") return [];
  const message =
    "must be https, since credentials are sent there; plain http is allowed " +
    "to this machine only, or with `allowPlainHttp: true` for this source";
  const issues: Issue[] = [];
  if (auth.kind === "oauth2" && isPlainHttp(auth.tokenUrl)) issues.push({ path: ["auth", "tokenUrl"], message });
  if (baseUrl !== undefined && isPlainHttp(baseUrl)) issues.push({ path: ["baseUrl"], message });
  if (auth.kind === "session" && isPlainHttp(auth.login.url)) issues.push({ path: ["auth", "login", "url"], message });
  for (const { path, url } of lists) {
    if (isPlainHttp(url)) issues.push({ path: [...path, "url"], message });
  }
  return issues;
}
