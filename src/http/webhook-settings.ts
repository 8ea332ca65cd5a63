import { z } from "zod";
import { isPlainHttp } from "../base/loopback.ts";

export const timeoutMs = z.int().min(100).max(600_000).default(10_000);

/** `env:NAME` or `file:/path`. */
export const reference = z.string().regex(/^(env|file):/u, "expected env:NAME or file:/path");

/** Something that is posted, maybe with a token: then not over a network in clear. `more`: what else is said of it. */
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
