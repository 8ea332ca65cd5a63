import { z } from "zod";
import { isLoopback, isLoopbackHost } from "../base/loopback.ts";
import { accessSettingsSchema, metricsSettingsSchema, tlsSettingsSchema } from "./access-settings.ts";

const settings = z.strictObject({
  host: z
    .string()
    .min(1)
    .default("127.0.0.1")
    .describe(
      "Address to listen on. Health is open to whoever reaches it; beyond this machine the pages need a way to sign " +
        "in.",
    ),
  publicUrl: z
    .url({ protocol: /^https?$/u })
    .optional()
    .meta({
      description: "Where people reach its pages from outside; alerts link to them where it is set.",
      examples: ["https://crm-sync.example.com"],
    }),
  port: z.int().min(0).max(65_535).default(8787).describe("Port to listen on; 0: any free one."),
  pages: z.boolean().default(true).describe("Whether there are pages for people; false: health and metrics alone."),
  access: accessSettingsSchema.describe("Who may open the pages, and how they show who they are."),
  tls: tlsSettingsSchema.optional().describe("Certificate with which it answers by https itself."),
  metrics: metricsSettingsSchema.describe("Who may read `/metrics`."),
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

/** What does not fit together of where it listens and who may come in. */
function contradictions({ host, publicUrl, pages, access, tls }: ServeSettings): { path: string[]; message: string }[] {
  if (!pages) return [];
  const found: { path: string[]; message: string }[] = [];
  const { proxy, oidc } = access;
  const isLocal = isLoopbackHost(host);
  if (!isLocal && proxy === undefined && oidc === undefined)
    found.push({
      path: ["host"],
      message:
        "others than this machine reach it, and nobody could sign in; configure `serve.access.proxy` or `.oidc`, " +
        "set `serve.pages: false` where health and metrics are all that is wanted, or take the host away",
    });
  const isHttps = tls !== undefined || publicUrl?.startsWith("https:") === true;
  if (oidc !== undefined && publicUrl === undefined)
    found.push({
      path: ["access", "oidc"],
      message: "the provider has to send people back; set `serve.publicUrl` to where they reach these pages",
    });
  if (oidc !== undefined && publicUrl !== undefined && !isHttps && !isLoopback(new URL(publicUrl)))
    found.push({
      path: ["publicUrl"],
      message: "people would come back from the OpenID provider over plain http; use https",
    });
  return found;
}

/**
 * What whoever comes from this machine may do without signing in. Where people are meant to come from outside, a
 * reverse proxy on this machine would lend that to everybody, so it has to be said in so many words.
 */
export function roleOnLoopback({ publicUrl, access }: Pick<ServeSettings, "publicUrl" | "access">): "see" | "none" {
  if (access.loopback !== undefined) return access.loopback;
  const isPublic = publicUrl !== undefined && !isLoopback(new URL(publicUrl));
  const { proxy, oidc } = access;
  return isPublic || proxy !== undefined || oidc !== undefined ? "none" : "see";
}
