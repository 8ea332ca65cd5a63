import { BlockList, isIP } from "node:net";
import { z } from "zod";
import { durationMs, durationSchema } from "../base/duration.ts";
import { isPlainHttp } from "../base/loopback.ts";

/** Rising rights: support, finance, operators. */
export const roles = ["see", "report", "decide"] as const;
export type Role = (typeof roles)[number];

const role = z.enum(roles);
const secretReference = z.string().regex(/^(env|file):/u, "must be env:NAME or file:/path; never the secret itself");

function isNetwork(text: string): boolean {
  const [address = "", bits, ...more] = text.split("/");
  const version = isIP(address);
  if (version === 0 || more.length > 0) return false;
  if (bits === undefined) return true;
  return /^\d{1,3}$/u.test(bits) && Number(bits) <= (version === 4 ? 32 : 128);
}

const network = z.string().refine(isNetwork, {
  error: "expected an address such as 10.0.0.7, or a network such as 10.0.0.0/8",
});

/** A dual-stack socket shows IPv4 addresses in IPv6 form. */
export function plainAddress(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.)/iu, "").replace(/%.*$/u, "");
}

export function isListed(address: string, networks: readonly string[]): boolean {
  const plain = plainAddress(address);
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
      description: "Header in which the reverse proxy sends its signed assertion (a JWT) of who signed in there.",
      examples: ["X-Pomerium-Jwt-Assertion"],
    }),
  issuer: z
    .string()
    .min(1)
    .meta({ description: "Issuer (`iss`) of the assertion.", examples: ["crm-sync.example.com"] }),
  audience: z
    .string()
    .min(1)
    .meta({ description: "Audience (`aud`) of the assertion: these pages.", examples: ["crm-sync.example.com"] }),
  keys: z
    .string()
    .min(1)
    .refine((place) => !isPlainHttp(place), "must be https, or a file; plain http is allowed to this machine only")
    .meta({
      description:
        "Public keys of the proxy: https URL of a JWKS, or a file with a JWKS or a public key in PEM, relative to the " +
        "configuration file.",
      examples: ["https://crm-sync.example.com/.well-known/pomerium/jwks.json"],
    }),
  longest: durationSchema
    .default("24h")
    .describe("Time since it was made (`iat`) after which an assertion is refused, whatever its `exp` says."),
  person: z
    .string()
    .min(1)
    .default("email")
    .describe("Claim that names the person; decisions are written with it. Where it is missing: `sub`."),
  claim: z.string().min(1).default("groups").describe("Claim that `roles` is about: a text or a list of texts."),
  roles: z
    .record(z.string().min(1), role)
    .default({})
    .meta({
      description:
        "The right of a person with this value in the claim; of several values, the highest. Who has none " +
        "gets no page.",
      examples: [{ "crm-operators": "decide", finance: "report", support: "see" }],
    }),
  role: role.optional().meta({
    description: "What everybody may do whom the proxy names and `roles` does not. Without it they get no page.",
    examples: ["see"],
  }),
  from: z
    .array(network)
    .min(1)
    .optional()
    .meta({
      description: "Addresses and networks of the reverse proxy; an assertion from elsewhere is refused.",
      examples: [["127.0.0.1", "10.0.0.0/8"]],
    }),
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

export const accessSettingsSchema = z
  .strictObject({
    private: z
      .array(role)
      .default(["see", "decide"])
      .describe("Who may ask for private values; each time is an audit entry."),
    proxy: proxySettings.optional().describe("A reverse proxy that people sign in at, and that signs who they are."),
    sessions: sessionSettings.describe("How long somebody stays signed in."),
  })
  .prefault({});

export type AccessSettings = z.output<typeof accessSettingsSchema>;

export const tlsSettingsSchema = z.strictObject({
  certificate: z
    .string()
    .min(1)
    .meta({
      description: "PEM file of the certificate and its chain, relative to the configuration file.",
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

export const metricsSettingsSchema = z
  .strictObject({
    token: secretReference.optional().meta({
      description: "Bearer token that a request for `/metrics` must send, as `env:NAME` or `file:/path`.",
      examples: ["env:METRICS_TOKEN"],
    }),
    from: z
      .array(network)
      .default([])
      .meta({
        description:
          "Addresses and networks that get `/metrics` without a token. Through a reverse proxy everybody has its address.",
        examples: [["10.0.3.0/24"]],
      }),
    open: z.boolean().default(false).describe("Whether everybody who reaches the port gets `/metrics`."),
  })
  .prefault({});
