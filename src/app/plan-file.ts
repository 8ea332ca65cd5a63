import { readFileSync, writeFileSync } from "node:fs";
import { z } from "zod";
import type { Json, JsonObject } from "../base/canonical-json.ts";
import { canonicalJson, sha256 } from "../base/canonical-json.ts";
import { exitCodes, messageOf, Problem } from "../base/errors.ts";
import { formatKey } from "../crm/keys.ts";
import type { RecordKey } from "../crm/model.ts";
import type { CustomerPlan } from "../plan/plan.ts";

const headerSchema = z.strictObject({
  type: z.literal("plan"),
  format: z.literal(1),
  ledger: z.string(),
  run: z.string(),
  at: z.string(),
  config: z.string(),
});
const customerSchema = z.strictObject({
  type: z.literal("customer"),
  namespace: z.string(),
  id: z.string(),
  fingerprint: z.string(),
  operations: z.array(z.looseObject({ hash: z.string() })),
});
const trailerSchema = z.strictObject({ type: z.literal("end"), customers: z.int(), sha256: z.string() });

export type PlanHeader = z.infer<typeof headerSchema>;

/**
 * Writes plans as NDJSON: a header, a line for each customer with its operations, a trailer with the hash of every
 * line before it.
 */
export function writePlanFile(path: string, header: PlanHeader, plans: readonly CustomerPlan[]): void {
  const lines = [canonicalJson(header)];
  for (const plan of plans) {
    lines.push(
      canonicalJson({
        type: "customer",
        namespace: plan.customer.namespace,
        id: plan.customer.id,
        fingerprint: plan.fingerprint,
        operations: plan.operations.map((operation): JsonObject => ({
          kind: operation.kind,
          endpoint: operation.endpoint,
          stage: operation.stage,
          subject: operation.subject,
          reason: operation.reason,
          target: operation.target,
          payload: operation.payload,
          before: operation.before,
          after: operation.after,
          takesAway: operation.takesAway,
          hash: operation.hash,
        })),
      }),
    );
  }
  const trailer: Json = { type: "end", customers: plans.length, sha256: sha256(lines.join("\n")) };
  writeFileSync(path, `${[...lines, canonicalJson(trailer)].join("\n")}\n`, { mode: 0o600 });
}

export interface SavedPlan {
  header: PlanHeader;
  customers: Map<string, { customer: RecordKey; fingerprint: string; hashes: string[] }>;
}

function refused(path: string, why: string): Problem {
  return new Problem({
    code: "plan.refused",
    message: `the plan ${path} was refused: ${why}. Nothing was sent`,
    cure: "make a new plan with `crm-sync plan --out FILE`",
    exitCode: exitCodes.usage,
    place: path,
  });
}

/** Reads a saved plan and proves that it is whole, unchanged and of this ledger. */
export function readPlanFile(path: string, ledger: string): SavedPlan {
  let lines: string[];
  try {
    lines = readFileSync(path, "utf8").trimEnd().split("\n");
  } catch (error) {
    throw refused(path, messageOf(error));
  }
  const parse = (text: string | undefined): unknown => {
    try {
      return JSON.parse(text ?? "");
    } catch {
      throw refused(path, "it is no plan file");
    }
  };
  const trailer = trailerSchema.safeParse(parse(lines.at(-1)));
  const header = headerSchema.safeParse(parse(lines[0]));
  if (!header.success) throw refused(path, "it is no plan file of this version");
  if (!trailer.success) throw refused(path, "it was cut off: its last line is missing");
  const body = lines.slice(0, -1);
  if (sha256(body.join("\n")) !== trailer.data.sha256) throw refused(path, "it was changed after it was made");
  if (header.data.ledger !== ledger) throw refused(path, "it was made for another ledger");
  const customers: SavedPlan["customers"] = new Map();
  for (const line of body.slice(1)) {
    const customer = customerSchema.safeParse(parse(line));
    if (!customer.success) throw refused(path, "it is no plan file of this version");
    const key = { namespace: customer.data.namespace, id: customer.data.id };
    customers.set(formatKey(key), {
      customer: key,
      fingerprint: customer.data.fingerprint,
      hashes: customer.data.operations.map((operation) => operation.hash),
    });
  }
  return { header: header.data, customers };
}
