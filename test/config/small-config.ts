import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import type { JsonObject } from "../../src/base/canonical-json.ts";
import type { Problem } from "../../src/base/errors.ts";
import { loadWith } from "../../src/config/load.ts";
import { composeSchema } from "../../src/config/schema.ts";
import { folder } from "../support/world/start.ts";

/** A configuration whose services and sources are as small as they can be and still have everything that matters. */
export const smallSchema = composeSchema({
  orderService: z
    .strictObject({
      baseUrl: z.url().describe("Base."),
      appKey: z.string().describe("Key of the application."),
      tokens: z
        .strictObject({ authorization: z.string().regex(/^(env|file):/u, "expected env:NAME or file:/path") })
        .describe("Tokens."),
      ratePerSecond: z.number().positive().nullable().default(5).describe("Rate."),
    })
    .describe("Order service."),
  memberCenter: z.strictObject({ baseUrl: z.url() }).optional().describe("Member-center."),
  assumptions: z
    .strictObject({ codec: z.enum(["epoch_ms", "epoch_s", "iso"]).optional(), template: z.string().default("{id}") })
    .prefault({})
    .describe("Assumptions."),
  source: z.discriminatedUnion("kind", [
    z.strictObject({
      kind: z.literal("file"),
      path: z.union([z.string(), z.array(z.string()).min(1), z.strictObject({ glob: z.string(), most: z.int() })]),
      mapping: z.record(z.string(), z.json()).default({}),
    }),
    z.strictObject({
      kind: z.literal("http"),
      url: z.url(),
      auth: z.strictObject({ password: z.string() }),
    }),
  ]),
});

export const good = `# what a person writes
ledger:
  path: ledger.db
  sealKey: env:SEAL_KEY
zone: Europe/Berlin
orderService:
  baseUrl: https://orders.example.com
  appKey: "0012"
  tokens:
    authorization: env:ORDER_TOKEN
sources:
  crm:
    kind: file
    path: customers.csv
`;

export const environment = { SEAL_KEY: "0012", ORDER_TOKEN: "order-token-canary" };

/** Writes `text` to a file of its own and loads it. */
export async function load(
  text: string | Uint8Array,
  more: {
    environment?: Record<string, string | undefined>;
    profiles?: Record<string, string>;
    options?: { name: string; settings: JsonObject }[];
    secretsRequired?: boolean;
  } = {},
) {
  const directory = folder();
  const path = join(directory, "crm.yaml");
  writeFileSync(path, text);
  for (const [name, profile] of Object.entries(more.profiles ?? {}))
    writeFileSync(join(directory, `${name}.yaml`), profile);
  const result = loadWith(smallSchema, {
    path,
    profiles: Object.keys(more.profiles ?? {}),
    profileDirectory: directory,
    environment: { ...environment, ...more.environment },
    ...(more.options === undefined ? {} : { options: more.options }),
    ...(more.secretsRequired === undefined ? {} : { secretsRequired: more.secretsRequired }),
  });
  return { result, path, directory };
}

/** `line:column code message | cure` of every problem. */
export function shown(problems: Problem[], path: string): string[] {
  return problems.map((problem) => {
    const place = (problem.place ?? "").replace(`${path}:`, "");
    return `${place} ${problem.code} ${problem.message} | ${problem.cure}`;
  });
}

/** The problems of a configuration that must not load. */
export async function refusals(text: string | Uint8Array, more: Parameters<typeof load>[1] = {}): Promise<string[]> {
  const { result, path } = await load(text, more);
  if (result.ok) throw new Error("it was accepted");
  return shown(result.error, path);
}
