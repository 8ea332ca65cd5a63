import { z } from "zod";
import { durationSchema } from "../../base/duration.ts";
import { pathSchema } from "../file/file-source-settings.ts";
import { headersSchema } from "./request-settings.ts";

/** An export that the service makes on request: it is begun, waited for, and then read as any other list. */
export const jobSchema = () =>
  z.strictObject({
    start: z
      .strictObject({
        url: z
          .string()
          .min(1)
          .meta({ description: "Address, as `url` of the stream is written", examples: ["jobs/query"] }),
        method: z.enum(["GET", "POST"]).default("POST").describe("Method"),
        headers: headersSchema.meta({ description: "Headers", examples: [{ Accept: "application/json" }] }),
        body: z
          .json()
          .optional()
          .meta({
            description: "JSON body",
            examples: [{ operation: "query", query: "SELECT Id, Name FROM Account" }],
          }),
      })
      .describe("The request that begins it; it may be sent again after a failure"),
    take: z.record(z.string().regex(/^[a-z][A-Za-z0-9]{0,39}$/u), pathSchema).meta({
      description: "What the answer gives, by name; the addresses of the state and of the list have it in braces",
      examples: [{ job: "id" }],
    }),
    status: z
      .string()
      .min(1)
      .meta({ description: "Address that tells how far it is", examples: ["jobs/query/{job}"] }),
    state: pathSchema.meta({ description: "Where its answer holds the state", examples: ["state"] }),
    done: z
      .array(z.string())
      .min(1)
      .meta({ description: "States in which the list is there", examples: [["JobComplete"]] }),
    failed: z
      .array(z.string())
      .default([])
      .meta({ description: "States in which it never will be", examples: [["Failed", "Aborted"]] }),
    message: pathSchema
      .optional()
      .meta({ description: "Where the answer says why it failed", examples: ["errorMessage"] }),
    every: durationSchema.default("5s").describe("How often the state is asked for, a second at least"),
    atMost: durationSchema.default("1h").describe("After this long the reading is given up, and incomplete"),
  });
export type JobSettings = z.infer<ReturnType<typeof jobSchema>>;
