import { z } from "zod";
import { durationSchema } from "../../base/duration.ts";
import { secretReferenceSchema } from "../../http/http-settings.ts";
import { pathSchema } from "../file/file-source-settings.ts";

const secretRef = secretReferenceSchema.meta({
  description: "Where the secret is: env:NAME or file:/path",
  examples: ["env:CRM_SECRET"],
});
const scalar = z.union([z.string(), z.number(), z.boolean()]);
const webUrl = z.url({ protocol: /^https?$/ }).refine((text) => {
  const url = new URL(text);
  return url.username === "" && url.password === "";
}, "has a user or password in it; they belong into auth");

/** What only an http source needs is made when there is one: every command checks the configuration. */
const authSchema = () =>
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
        kind: z.literal("apiKey").describe("A key in a header or in the query."),
        header: z
          .string()
          .min(1)
          .optional()
          .meta({ description: "Name of the header that carries the key", examples: ["X-Api-Key"] }),
        query: z
          .string()
          .min(1)
          .optional()
          .meta({ description: "Name of the query parameter that carries the key", examples: ["api_key"] }),
        key: secretRef,
      })
      .refine((auth) => (auth.header === undefined) !== (auth.query === undefined), "expected either header or query")
      .meta({
        examples: [
          { kind: "apiKey", header: "X-Api-Key", key: "env:CRM_KEY" },
          { kind: "apiKey", query: "api_key", key: "env:CRM_KEY" },
        ],
      }),
    z
      .strictObject({
        kind: z.literal("oauth2").describe("A token of an OAuth2 token endpoint."),
        tokenUrl: webUrl.meta({ description: "Token endpoint", examples: ["https://login.example.com/oauth/token"] }),
        grant: z
          .enum(["client_credentials", "password"])
          .default("client_credentials")
          .describe("Grant: client_credentials for the application, password for a user"),
        clientId: z
          .string()
          .min(1)
          .meta({ description: "Client id", examples: ["crm-sync"] }),
        clientSecret: secretRef,
        clientAuth: z
          .enum(["basic", "body"])
          .default("basic")
          .describe("Client id and secret in the Authorization header or in the body"),
        user: z
          .string()
          .min(1)
          .optional()
          .meta({ description: "User, for the password grant", examples: ["sync"] }),
        password: secretRef.optional(),
        scope: z
          .string()
          .min(1)
          .optional()
          .meta({ description: "Scope to ask for", examples: ["read"] }),
        parameters: z
          .record(z.string(), z.string())
          .default({})
          .meta({ description: "Further parameters of the token request", examples: [{ audience: "crm" }] }),
      })
      .refine(
        (auth) => auth.grant !== "password" || (auth.user !== undefined && auth.password !== undefined),
        "the grant password needs user and password",
      ),
  ]);
export type AuthSettings = z.infer<ReturnType<typeof authSchema>>;

const sizeFields = {
  sizeParameter: z
    .string()
    .min(1)
    .optional()
    .meta({ description: "Carries the number of records to a page, where the service wants it", examples: ["limit"] }),
  size: z.int().min(1).default(100).describe("Records to a page"),
};
const lastPageSchema = z
  .enum(["empty", "short"])
  .default("empty")
  .describe(
    "What ends the list where no total is given: an empty page, or one with fewer " +
      "records than `size` (wrong where the service gives fewer than it is asked for)",
  );

const pagingSchema = () =>
  z.discriminatedUnion("kind", [
    z.strictObject({ kind: z.literal("none").describe("One answer holds everything.") }),
    z.strictObject({
      kind: z.literal("page").describe("Pages have numbers."),
      parameter: z.string().min(1).default("page").describe("Carries the page number"),
      first: z.int().min(0).default(1).describe("Number of the first page"),
      ...sizeFields,
      lastPage: lastPageSchema,
    }),
    z.strictObject({
      kind: z.literal("offset").describe("A page begins after so many records."),
      parameter: z.string().min(1).default("offset").describe("Carries the number of records before the page"),
      ...sizeFields,
      lastPage: lastPageSchema,
    }),
    z.strictObject({
      kind: z.literal("cursor").describe("An answer names a cursor for the next page."),
      parameter: z.string().min(1).default("cursor").describe("Carries the cursor"),
      next: pathSchema.meta({
        description: "Where an answer holds the cursor of the next page; the last page has none",
        examples: ["meta.cursor"],
      }),
      ...sizeFields,
    }),
    z.strictObject({
      kind: z.literal("nextLink").describe("An answer holds the address of the next page."),
      next: pathSchema.meta({
        description: "Where an answer holds the address of the next page; the last page has none",
        examples: ["links.next"],
      }),
    }),
    z.strictObject({ kind: z.literal("linkHeader").describe("The Link header of an answer names the next page.") }),
  ]);
export type PagingSettings = z.infer<ReturnType<typeof pagingSchema>>;

const sinceSchema = () =>
  z.strictObject({
    parameter: z
      .string()
      .min(1)
      .meta({
        description: "Query parameter, or member of a JSON body, that asks for what changed since a time",
        examples: ["updated_since"],
      }),
    in: z
      .enum(["query", "body"])
      .default("query")
      .describe("Whether it goes into the query or into the body of a POST"),
    format: z.enum(["iso", "epoch_ms", "epoch_s"]).default("iso").describe("How the time is written"),
    template: z.string().includes("{since}").default("{since}").describe("The value, with {since} where the time goes"),
    changedAt: pathSchema.optional().meta({
      description:
        "Field of a record that holds when it was changed, in `format` or as an " +
        "ISO time with Z or an offset: the newest that was read is where the next " +
        "reading begins. Without it, the clock of the service (its Date header) is",
      examples: ["updatedAt"],
    }),
    overlapMs: z
      .int()
      .min(0)
      .default(300_000)
      .describe(
        "How far the next reading reaches back behind that, a second at least: changes may become visible late",
      ),
    wholeEvery: durationSchema
      .default("24h")
      .describe("When this long no run has read everything, the next run does: only then is noticed what is gone"),
  });
export type SinceSettings = z.infer<ReturnType<typeof sinceSchema>>;

/** What one list is asked with and how its answers are read, whatever it is for. */
export const httpListFields = () => ({
  url: z
    .string()
    .min(1)
    .meta({
      description: "Address of the list; relative to baseUrl where that is set",
      examples: ["https://crm.example.com/api/customers"],
    }),
  method: z
    .enum(["GET", "POST"])
    .default("GET")
    .meta({
      description: "POST only for searches that change nothing: it is sent again after a failure",
      examples: ["POST"],
    }),
  query: z
    .record(z.string(), scalar)
    .default({})
    .meta({ description: "Query parameters of every page", examples: [{ status: "active" }] }),
  headers: z
    .record(z.string(), z.string())
    .default({})
    .meta({
      description: "Headers of every page; secrets belong into auth",
      examples: [{ Accept: "application/json" }],
    }),
  body: z
    .json()
    .optional()
    .meta({ description: "JSON body of a POST", examples: [{ fields: ["id", "name"] }] }),
  parametersIn: z
    .enum(["query", "body"])
    .default("query")
    .meta({ description: "Where the parameters of paging go", examples: ["body"] }),
  records: pathSchema.optional().meta({
    description: "Where an answer holds the list of records; the answer itself is the list by default",
    examples: ["data.items"],
  }),
  total: pathSchema.optional().meta({
    description: "Where an answer holds the number of all records; a different sum is an incomplete reading",
    examples: ["meta.total"],
  }),
  paging: pagingSchema().default({ kind: "none" }).describe("How to come to the next page"),
  maxPages: z.int().min(1).max(1_000_000).default(10_000).describe("A reading that needs more pages is incomplete"),
});
const listSchema = () => z.strictObject(httpListFields());
export type HttpListSettings = z.infer<ReturnType<typeof listSchema>>;

export const httpStreamFields = () => ({
  ...httpListFields(),
  since: sinceSchema().optional().describe("How to ask for what changed"),
});

/** The address of a stream: absolute, or what follows `baseUrl`. */
export function addressOf(url: string, baseUrl: string | undefined): URL {
  if (baseUrl === undefined || URL.canParse(url)) return new URL(url);
  return new URL(`${baseUrl.replace(/\/+$/, "")}/${url.replace(/^\/+/, "")}`);
}

interface Addressed {
  url: string;
  method: "GET" | "POST";
  parametersIn: "query" | "body";
  since?: SinceSettings | undefined;
}

/** What one key of an http stream demands of another. */
export function checkHttpStream(stream: Addressed, baseUrl: string | undefined): { path: string[]; message: string }[] {
  const issues: { path: string[]; message: string }[] = [];
  let url: URL | undefined;
  try {
    url = addressOf(stream.url, baseUrl);
  } catch {
    issues.push({ path: ["url"], message: "is no address; expected https://…, or a path together with baseUrl" });
  }
  if (url !== undefined && !/^https?:$/.test(url.protocol)) {
    issues.push({ path: ["url"], message: `found ${url.protocol}//…; expected https://…` });
  }
  if (url !== undefined && (url.username !== "" || url.password !== "")) {
    issues.push({ path: ["url"], message: "has a user or password in it; they belong into auth" });
  }
  if (stream.method === "GET" && stream.parametersIn === "body") {
    issues.push({ path: ["parametersIn"], message: "found body with the method GET, which has none; expected query" });
  }
  if (stream.method === "GET" && stream.since?.in === "body") {
    issues.push({ path: ["since", "in"], message: "found body with the method GET, which has none; expected query" });
  }
  return issues;
}

export const httpSourceFields = {
  baseUrl: webUrl.optional().meta({
    description: "What the addresses of the streams are relative to",
    examples: ["https://crm.example.com/api"],
  }),
  auth: z.lazy(authSchema).default({ kind: "none" }).describe("How the source knows us"),
  allowPlainHttp: z
    .boolean()
    .default(false)
    .describe("Credentials may go to another machine over plain http, where everybody on the way can read them"),
  connectTimeoutMs: z.int().min(1).default(10_000).describe("Longest time for a connection"),
  headersTimeoutMs: z.int().min(1).default(60_000).describe("Longest wait for the beginning of an answer"),
  bodyTimeoutMs: z.int().min(1).default(60_000).describe("Longest silence inside an answer"),
  maxPageBytes: z.int().min(1_000).default(32_000_000).describe("Largest answer"),
  retries: z.int().min(0).max(20).default(4).describe("How often one page is asked for again"),
  retryBaseMs: z.int().min(1).default(200).describe("First back-off; doubled each time, with full jitter"),
  retryMaxMs: z.int().min(1).default(20_000).describe("Longest back-off"),
  maxRetryAfterMs: z.int().min(0).default(300_000).describe("A longer Retry-After ends the reading"),
};
