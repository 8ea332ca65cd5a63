import { z } from "zod";
import { pathSchema } from "../file/file-source-settings.ts";

export const scalar = z.union([z.string(), z.number(), z.boolean()]);

export const headerName = z.string().regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/u, "is no name that a header can have");

/** A line end in a value would begin another header. */
export const headersSchema = z
  .record(
    headerName,
    z.string().regex(/^[\t\x20-\x7e\x80-\xff]*$/u, "holds characters that a header cannot hold, such as a line end"),
  )
  .default({});

export const placeSchema = z.enum(["query", "header", "body"]);

export const webUrl = z.url({ protocol: /^https?$/, abort: true }).refine((text) => {
  const url = new URL(text);
  return url.username === "" && url.password === "";
}, "has a user or password in it; they belong into auth");

const codes = z.array(z.union([z.string(), z.number()])).default([]);

/** How to recognise an error in an answer with HTTP 200. */
export const answerErrorsSchema = () =>
  z.union([
    z.literal("none").meta({ examples: ["none"] }),
    z.strictObject({
      at: pathSchema.meta({
        description: "Where an answer holds the error, or whether there is one",
        examples: ["error"],
      }),
      ok: z
        .array(z.union([z.string(), z.number(), z.boolean(), z.null()]))
        .optional()
        .meta({
          description:
            "The value that means success; every other value, also none, is then an error. By default nothing, " +
            "false, 0 and empty values mean success",
          examples: [[true]],
        }),
      message: pathSchema.optional().meta({
        description: "Where an answer holds the words for it",
        examples: ["error.data.message"],
      }),
      code: pathSchema.optional().meta({
        description: "Where an answer holds a code or a name for it",
        examples: ["error.code"],
      }),
      expired: codes.meta({
        description: "Codes that mean that the session is over: credentials are renewed, once",
        examples: [[100]],
      }),
      retry: codes.meta({
        description: "Codes that mean that the same request may work later: it is repeated, as after HTTP 503",
        examples: [["THROTTLED"]],
      }),
    }),
  ]);
export type AnswerErrors = z.infer<ReturnType<typeof answerErrorsSchema>>;

export const answerFields = () => ({
  errors: answerErrorsSchema()
    .optional()
    .describe(
      "How an answer with HTTP 200 says that it failed. By default one with something in `error` or `errors` did; " +
        "none: no answer does",
    ),
  nothing: z
    .array(z.literal([204, 304]))
    .default([])
    .meta({
      description:
        "HTTP statuses without content that mean that nothing is there. 304 does so only in an incremental " +
        "read: an answer without changes is not a full list",
      examples: [[204, 304]],
    }),
  totalHeader: headerName.optional().meta({
    description: "The header that holds the number of all records, in place of `total`",
    examples: ["X-Total-Count"],
  }),
});
