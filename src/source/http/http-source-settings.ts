import { z } from "zod";
import { durationSchema } from "../../base/duration.ts";
import { pathSchema } from "../file/file-source-settings.ts";
import { isZone } from "../mapping/coerce.ts";
import { authSchema } from "./auth-settings.ts";
import { pagingSchema } from "./paging-settings.ts";
import { answerFields, headersSchema, placeSchema, scalar, webUrl } from "./request-settings.ts";
import { timeFormatFault } from "./time-format.ts";

const sinceSchema = () =>
  z
    .strictObject({
      parameter: z.union([z.string().min(1), z.array(z.string().min(1)).min(1)]).meta({
        description:
          "Query parameter, header, or path in a JSON body, that asks for what changed since a time; a list where " +
          "the time is in several places",
        examples: ["updated_since", ["params[0][1][2]", "params[0][2][2]"]],
      }),
      in: z
        .enum(["query", "header", "body"])
        .default("query")
        .describe("Where it goes: query, header, or body of a POST"),
      format: z
        .string()
        .default("iso")
        .describe(
          "How the time is written: iso, epoch_ms, epoch_s, or a pattern as `date` of the mapping has it, such as " +
            "yyyy-MM-dd HH:mm:ss",
        ),
      zone: z
        .string()
        .refine(isZone, "is no zone; expected a name such as Europe/Berlin or UTC")
        .optional()
        .meta({
          description: "Zone of times of a pattern without an offset: the one in which the service keeps them",
          examples: ["UTC"],
        }),
      template: z
        .string()
        .includes("{since}")
        .default("{since}")
        .describe("The value, with {since} where the time goes"),
      changedAt: pathSchema.optional().meta({
        description:
          "Field of a record that holds when it was changed, in `changedFormat` or as an " +
          "ISO time with Z or an offset: the newest that was read is where the next " +
          "reading begins. Without it, the clock of the service (its Date header) is",
        examples: ["updatedAt"],
      }),
      changedFormat: z
        .string()
        .optional()
        .meta({
          description: "How times are written there, where it is not `format`",
          examples: ["epoch_s"],
        }),
      overlapMs: z
        .int()
        .min(0)
        .default(300_000)
        .describe(
          "How far the next reading reaches back behind that, a second at least: changes may become visible late",
        ),
      fullReadEvery: durationSchema
        .default("24h")
        .describe(
          "After this time without a full read, the next run makes one: only a full read notices missing records",
        ),
    })
    .superRefine(({ format, changedFormat, zone }, context) => {
      for (const [name, one] of Object.entries({ format, changedFormat })) {
        const fault = one === undefined ? undefined : timeFormatFault({ format: one, zone });
        if (fault !== undefined)
          context.addIssue({ code: "custom", path: [fault.key === "zone" ? "zone" : name], message: fault.message });
      }
    });
export type SinceSettings = z.infer<ReturnType<typeof sinceSchema>>;

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
  headers: headersSchema.meta({
    description: "Headers of every page; secrets belong into auth",
    examples: [{ Accept: "application/json" }],
  }),
  body: z
    .json()
    .optional()
    .meta({
      description: "Body of a POST",
      examples: [{ fields: ["id", "name"] }],
    }),
  bodyAs: z.enum(["json", "form"]).default("json").describe("How the body is written"),
  parametersIn: placeSchema.default("query").meta({
    description:
      "Where the parameters of paging go. In a body their names are paths, such as `params[1].offset` or " +
      "`variables.after`",
    examples: ["body"],
  }),
  records: pathSchema.optional().meta({
    description: "Where an answer holds the list of records; the answer itself is the list by default",
    examples: ["data.items"],
  }),
  total: pathSchema.optional().meta({
    description: "Where an answer holds the number of all records; a different sum is an incomplete reading",
    examples: ["meta.total"],
  }),
  ...answerFields(),
  paging: pagingSchema().prefault({ kind: "none" }).describe("How to come to the next page"),
  maxPages: z.int().min(1).max(1_000_000).default(10_000).describe("A reading that needs more pages is incomplete"),
});
const listSchema = () => z.strictObject(httpListFields());
export type HttpListSettings = z.infer<ReturnType<typeof listSchema>>;

export const httpStreamFields = () => ({
  ...httpListFields(),
  since: sinceSchema().optional().describe("How to ask for what changed"),
});

export function addressOf(url: string, baseUrl: string | undefined): URL {
  if (baseUrl === undefined || URL.canParse(url)) return new URL(url);
  return new URL(`${baseUrl.replace(/\/+$/, "")}/${url.replace(/^\/+/, "")}`);
}

export const httpSourceFields = {
  baseUrl: webUrl.optional().meta({
    description: "The base of the addresses of the streams",
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
  answerTimeoutMs: z
    .int()
    .min(1)
    .max(86_400_000)
    .default(600_000)
    .describe("Longest time for a whole answer, so that a very slow one ends"),
  maxPageBytes: z.int().min(1_000).default(32_000_000).describe("Largest answer"),
  requestsAtOnce: z
    .int()
    .min(1)
    .max(64)
    .default(4)
    .describe("Most requests under way at once, where they are made record by record"),
  requestsPerSecond: z
    .number()
    .min(0.01)
    .optional()
    .meta({ description: "Most requests a second, over all lists of the source", examples: [10] }),
  retries: z.int().min(0).max(20).default(4).describe("How often the request for a page is repeated"),
  retryBaseMs: z.int().min(1).default(200).describe("First back-off; doubled each time, with full jitter"),
  retryMaxMs: z.int().min(1).default(20_000).describe("Longest back-off"),
};
