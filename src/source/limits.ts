import { z } from "zod";

/** What a single record may cost. A record beyond a limit is a bad record; the reading goes on. */
export const recordLimitsSchema = z.strictObject({
  maxBytes: z
    .int()
    .min(1_000)
    .max(64_000_000)
    .default(8_000_000)
    .describe("Largest size of one record in the source, in bytes"),
  maxDepth: z.int().min(1).max(200).default(64).describe("How deep objects and lists of one record may be nested"),
  maxMembers: z
    .int()
    .min(10)
    .max(1_000_000)
    .default(50_000)
    .describe("Most members of one object, and most elements of one list, in a record"),
});
export type RecordLimits = z.infer<typeof recordLimitsSchema>;

/** Raw text kept with a bad record, in UTF-16 code units. */
const keptText = 65_536;

/** The raw text of a bad record, cut to what is kept, never through a surrogate pair. */
export function keptTextOf(text: string): string {
  return text.length <= keptText ? text : text.slice(0, keptText).toWellFormed();
}
