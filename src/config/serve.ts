import { z } from "zod";

/** Where `serve` answers. */
export const serveSettingsSchema = z
  .strictObject({
    host: z
      .string()
      .min(1)
      .default("127.0.0.1")
      .describe("Address to listen on. Health and metrics are open to whoever reaches it."),
    publicUrl: z
      .url({ protocol: /^https?$/u })
      .optional()
      .meta({
        description: "Where people reach its pages from outside; alerts link to them where it is set.",
        examples: ["https://crm-sync.example.com"],
      }),
    port: z.int().min(0).max(65_535).default(8787).describe("Port to listen on; 0: any free one."),
  })
  .prefault({});
