import { z } from "zod";
import { isLoopbackHost } from "../base/loopback.ts";
import { accessSettingsSchema, metricsSettingsSchema, tlsSettingsSchema } from "./access-settings.ts";

const settings = z.strictObject({
  host: z
    .string()
    .min(1)
    .default("127.0.0.1")
    .describe(
      "Address to listen on. Beyond this machine the pages need a way to sign in; `/livez` is open to whoever reaches it.",
    ),
  publicUrl: z
    .url({ protocol: /^https$/u, error: "must be https: people sign in there" })
    .refine((url) => !isOfThisMachine(new URL(url).hostname), {
      error:
        "must not be a name of this machine alone: a browser sends its cookies to every program there; " +
        "`crm-sync login` prints a link of its own",
    })
    .optional()
    .meta({
      description: "Where people reach its pages from outside; alerts link to them where it is set.",
      examples: ["https://crm-sync.example.com"],
    }),
  port: z.int().min(0).max(65_535).default(8787).describe("Port to listen on; 0: any free one."),
  pages: z.boolean().default(true).describe("Whether there are pages for people; false: health and metrics alone."),
  access: accessSettingsSchema.describe("Who may open the pages, and how they show who they are."),
  tls: tlsSettingsSchema.optional().describe("Certificate with which it answers by https itself."),
  metrics: metricsSettingsSchema.describe("Who may read `/metrics`; nobody where nothing is set."),
});

/** Where `serve` answers, and whom. */
export const serveSettingsSchema = settings
  .superRefine((given: unknown, context) => {
    const read = settings.safeParse(given);
    if (!read.success) return;
    for (const { path, message } of contradictions(read.data)) context.addIssue({ code: "custom", path, message });
  })
  .prefault({});

export type ServeSettings = z.output<typeof settings>;

function isOfThisMachine(hostname: string): boolean {
  return isLoopbackHost(hostname) || /(?:^|\.)localhost\.?$/iu.test(hostname);
}

/** What does not fit together of where it listens and who may come in. */
function contradictions({ host, publicUrl, pages, access }: ServeSettings): { path: string[]; message: string }[] {
  if (!pages) return [];
  const found: { path: string[]; message: string }[] = [];
  const { proxy, oidc } = access;
  if (!isLoopbackHost(host) && proxy === undefined && oidc === undefined)
    found.push({
      path: ["host"],
      message:
        "others than this machine reach it, and nobody could sign in; configure `serve.access.proxy` or `.oidc`, " +
        "set `serve.pages: false` where health and metrics are all that is wanted, or take the host away",
    });
  if (oidc !== undefined && publicUrl === undefined)
    found.push({
      path: ["access", "oidc"],
      message: "the provider has to send people back; set `serve.publicUrl` to where they reach these pages",
    });
  return found;
}
