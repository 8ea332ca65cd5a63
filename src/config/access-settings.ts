import { BlockList, isIP } from "node:net";
import { z } from "zod";
import { durationMs, durationSchema } from "../base/duration.ts";
import { isPlainHttp } from "../base/loopback.ts";

/** What a person may do: see; see and make reports; decide, which is everything. */
const roles = ["see", "report", "decide"] as const;
export type Role = (typeof roles)[number];

const role = z.enum(roles);
const secretReference = z
  .string()
  .regex(/^(env|file):/u, "must be env:NAME or file:/path; a secret never stands here itself");

/** Whether a text is an address such as 10.0.0.7 or fd00::1, or a network such as 10.0.0.0/8. */
function isNetwork(text: string): boolean {
  const [address = "", bits, ...more] = text.split("/");
  const version = isIP(address);
  if (version === 0 || more.length > 0) return false;
  if (bits === undefined) return true;
  return /^\d{1,3}$/u.test(bits) && Number(bits) <= (version === 4 ? 32 : 128);
}

export const network = z.string().refine(isNetwork, {
  error: "expected an address such as 10.0.0.7, or a network such as 10.0.0.0/8",
});

/** Whether an address of a socket stands in a list of addresses and networks. */
export function isListed(address: string, networks: readonly string[]): boolean {
  // A socket for both versions shows an IPv4 address in this form.
  const plain = address.replace(/^::ffff:(?=\d+\.)/iu, "").replace(/%.*$/u, "");
  const version = isIP(plain);
  if (version === 0) return false;
  const list = new BlockList();
  for (const text of networks) {
    const [base = "", bits] = text.split("/");
    const family = isIP(base) === 6 ? "ipv6" : "ipv4";
    if (bits === undefined) list.addAddress(base, family);
    else list.addSubnet(base, Number(bits), family);
  }
  return list.check(plain, version === 6 ? "ipv6" : "ipv4");
}

const proxySettings = z.strictObject({
  header: z
    .string()
    .regex(/^[A-Za-z0-9-]{1,60}$/u, "expected the name of a header, of letters, digits and -")
    .meta({
      description:
        "Header in which the reverse proxy names who signed in there. It has to take away what a browser sends of " +
        "that name.",
      examples: ["X-Remote-User"],
    }),
  groups: z
    .string()
    .regex(/^[A-Za-z0-9-]{1,60}$/u, "expected the name of a header, of letters, digits and -")
    .optional()
    .meta({
      description: "Header in which the reverse proxy lists their groups, with commas between.",
      examples: ["X-Remote-Groups"],
    }),
  from: z
    .array(network)
    .min(1)
    .meta({
      description: "Addresses and networks of the reverse proxy. From elsewhere these headers are refused.",
      examples: [["127.0.0.1", "10.0.0.0/8"]],
    }),
  roles: z
    .record(z.string().min(1), role)
    .default({})
    .meta({
      description: "What a person or a group may do; of several, the most.",
      examples: [{ anna: "decide", "crm-support": "see" }],
    }),
  role: role.optional().meta({
    description: "What everybody may do whom the proxy names and `roles` does not. Without it they get no page.",
    examples: ["see"],
  }),
});

const oidcSettings = z.strictObject({
  issuer: z
    .url({ protocol: /^https?$/u })
    .refine((url) => !isPlainHttp(url), "must be https; plain http is allowed to this machine only")
    .meta({
      description: "Issuer of the OpenID provider, as its own configuration says it.",
      examples: ["https://login.example.com/realms/company"],
    }),
  clientId: z
    .string()
    .min(1)
    .meta({ description: "Id of this program at the provider.", examples: ["crm-sync"] }),
  clientSecret: secretReference.optional().meta({
    description: "Secret of this program at the provider, as `env:NAME` or `file:/path`. Without it: a public client.",
    examples: ["env:OIDC_SECRET"],
  }),
  claim: z
    .string()
    .min(1)
    .default("groups")
    .describe("Claim of the ID token that `roles` is about: a text or a list of texts."),
  person: z
    .string()
    .min(1)
    .default("preferred_username")
    .describe(
      "Claim of the ID token that names the person; decisions are written with it. Where it is missing: `sub`.",
    ),
  roles: z.record(z.string().min(1), role).meta({
    description:
      "What somebody may do who has this value in the claim; of several, the most. Who has none gets no page.",
    examples: [{ "crm-operators": "decide", finance: "report", support: "see" }],
  }),
  scopes: z
    .array(z.string().regex(/^[\x21\x23-\x5b\x5d-\x7e]+$/u))
    .default(["openid", "profile"])
    .describe("What is asked of the provider; `openid` is always asked."),
});

const sessionSettings = z
  .strictObject({
    idle: durationSchema.default("30m").describe("Time without a request after which a session ends."),
    longest: durationSchema.default("12h").describe("Time after which a session ends in any case."),
  })
  .refine(({ idle, longest }) => durationMs(idle) <= durationMs(longest), {
    path: ["idle"],
    error: "must not be longer than `longest`",
  })
  .prefault({});

/** Who may open the pages, and how they show who they are. */
export const accessSettingsSchema = z
  .strictObject({
    loopback: z
      .enum(["see", "none"])
      .optional()
      .meta({
        description:
          "What whoever reaches the port from this machine may do without signing in: see (no private values, no " +
          "decisions) or none. Default: see, and none where `serve.publicUrl` or a way to sign in is configured: " +
          "behind " +
          "a reverse proxy on this machine everybody comes from this machine.",
        examples: ["none"],
      }),
    private: z
      .array(role)
      .default(["see", "decide"])
      .describe("Who may ask for private values; each time is an audit entry."),
    proxy: proxySettings.optional().describe("A reverse proxy that people sign in at."),
    oidc: oidcSettings.optional().describe("An OpenID provider that people sign in at."),
    sessions: sessionSettings.describe("How long somebody stays signed in."),
  })
  .prefault({});

export type AccessSettings = z.output<typeof accessSettingsSchema>;

/** The certificate of the web server. */
export const tlsSettingsSchema = z.strictObject({
  certificate: z
    .string()
    .min(1)
    .meta({
      description: "PEM file of the certificate and what it is signed by, relative to the configuration file.",
      examples: ["/etc/crm-sync/server.crt"],
    }),
  key: z
    .string()
    .min(1)
    .meta({
      description: "PEM file of its key, relative to the configuration file.",
      examples: ["/etc/crm-sync/server.key"],
    }),
});

/** Who may read the metrics. */
export const metricsSettingsSchema = z
  .strictObject({
    token: secretReference.optional().meta({
      description: "Bearer token without which nobody gets `/metrics`, as `env:NAME` or `file:/path`.",
      examples: ["env:METRICS_TOKEN"],
    }),
    from: z
      .array(network)
      .default([])
      .meta({
        description:
          "Addresses and networks that get `/metrics` without a token. Without both: this machine, as long as " +
          "`serve.access.loopback` is not none.",
        examples: [["10.0.3.0/24"]],
      }),
  })
  .prefault({});
