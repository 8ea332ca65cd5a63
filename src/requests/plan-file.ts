import { lstatSync } from "node:fs";
import { z } from "zod";
import { canonicalJson, sha256, toJson, type JsonObject } from "../base/canonical-json.ts";
import { exitCodes, messageOf, Problem } from "../base/errors.ts";
import { programVersion } from "../base/program-version.ts";
import { readRegular } from "../base/regular-file.ts";
import { formatKey } from "../crm/keys.ts";
import type { RecordKey } from "../crm/model.ts";
import { nameOf } from "../engine/carry-out.ts";
import type { WaitsInPlan } from "../engine/run/limits-gate.ts";
import type { Operation } from "../engine/model/operation.ts";
import { payloadLines } from "../engine/model/operation-line.ts";
import type { HeldFor } from "../engine/plan/limits.ts";
import { needsOf } from "../engine/plan/blocks.ts";
import type { CustomerPlan } from "../engine/plan/plan.ts";
import { restsOf } from "../engine/plan/rejections.ts";
import type { RunRequest } from "../engine/run/request.ts";
import type { AppliedBy } from "../ledger/journal/run-operations.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { inTheWay, startOf, writeWhole } from "../operate/written-files.ts";

const planFormat = 2;

const headerSchema = z.strictObject({
  type: z.literal("plan"),
  format: z.literal(planFormat),
  version: z.string(),
  ledger: z.string(),
  run: z.string(),
  at: z.string(),
  config: z.string(),
  undo: z.string().optional(),
});
const customerSchema = z.looseObject({
  namespace: z.string(),
  id: z.string(),
  facts: z.record(z.string(), z.string()),
  operations: z.array(
    z.looseObject({ hash: z.string(), endpoint: z.string(), subject: z.string(), needs: z.array(z.string()) }),
  ),
});

type PlanHeader = z.infer<typeof headerSchema>;

interface SavedOperation {
  hash: string;
  endpoint: string;
  subject: string;
  needs: readonly string[];
}

interface SavedCustomer {
  customer: RecordKey;
  facts: Readonly<Record<string, string>>;
  operations: readonly SavedOperation[];
}

interface SavedPlan {
  header: PlanHeader;
  customers: ReadonlyMap<string, SavedCustomer>;
}

/** Audit entry with the hash of a saved plan; its subject is the run. */
const savedKind = "plan-saved";

/** `held`: held operations, by hash. The audit log keeps the file's SHA-256. Only the owner can read the file. */
export async function writePlanFile(
  { audit, identity }: Ledger,
  path: string,
  made: Omit<PlanHeader, "type" | "format" | "version" | "ledger">,
  { plans, held }: { plans: readonly CustomerPlan[]; held: WaitsInPlan["asked"] },
): Promise<void> {
  const program = { type: "plan", format: planFormat, version: programVersion() };
  const lines = [canonicalJson({ ...program, ledger: await identity.name(), ...made })];
  for (const plan of plans) {
    const needs = needsOf(plan.operations);
    lines.push(
      canonicalJson({
        type: "customer",
        namespace: plan.customer.namespace,
        id: plan.customer.id,
        facts: { ...plan.facts },
        operations: plan.operations.map((operation) => ({
          ...operationJson(operation, held.get(operation.hash)),
          needs: [...(needs.get(operation.hash) ?? [])],
        })),
      }),
    );
  }
  const text = `${lines.join("\n")}\n`;
  await audit.append({ kind: savedKind, subject: `run:${made.run}`, body: { sha256: sha256(text) } });
  await writeWhole(path, [text], { what: "plan", group: undefined });
}

function operationJson(operation: Operation, held: Pick<HeldFor, "scope" | "explanation"> | undefined): JsonObject {
  return {
    kind: operation.kind,
    endpoint: operation.endpoint,
    stage: operation.stage,
    subject: operation.subject,
    records: operation.records.map(({ stream, namespace, id }) => ({ stream, namespace, id })),
    reason: operation.reason,
    target: operation.target,
    payload: operation.payload,
    before: operation.before,
    after: operation.after,
    takesAway: operation.takesAway,
    weight: toJson(operation.weight),
    policy: operation.policy ?? null,
    heldBy: held === undefined ? null : { scope: held.scope, explanation: held.explanation },
    restsOn: [...new Set(restsOf(operation).map(({ row }) => row))],
    lines: payloadLines(operation),
    hash: operation.hash,
  };
}

const longestHeader = 65_536;

/** Throws a Problem if the path has another file: a plan never overwrites it. */
export function requirePlanPlace(path: string | undefined): void {
  const there = path === undefined ? undefined : lstatSync(path, { throwIfNoEntry: false });
  if (path === undefined || there === undefined) return;
  if (!there.isFile()) throw inTheWay(path, "plan", "it is not a regular file");
  if (there.size === 0) return;
  const [first = ""] = startOf(path, longestHeader).split("\n", 1);
  if (!z.looseObject({ type: z.literal("plan") }).safeParse(parsed(first)).success)
    throw inTheWay(path, "plan", "the existing file is not a saved plan, and it would be lost");
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** `undone`: the run that the plan undoes. */
export function refused(path: string, why: string, undone?: string): Problem {
  return new Problem({
    code: "plan.refused",
    message: `the plan ${path} was refused: ${why}. Nothing was sent`,
    cure: `make a new plan with \`crm-sync ${undone === undefined ? "plan" : `undo ${undone}`} --out FILE\``,
    exitCode: exitCodes.usage,
    place: path,
  });
}

/** Throws unless the file is byte for byte what this ledger saved. */
export async function readPlanFile(path: string, { audit, identity }: Ledger): Promise<SavedPlan> {
  let text: string;
  try {
    text = readRegular(path).toString("utf8");
  } catch (error) {
    throw refused(path, messageOf(error));
  }
  const lines = text.trimEnd().split("\n");
  const header = headerSchema.safeParse(parsed(lines[0] ?? ""));
  if (!header.success) throw refused(path, "it is not a plan file of this version of crm-sync");
  if (header.data.ledger !== (await identity.name())) throw refused(path, "it was made for another ledger");
  if (audit.said(savedKind, `run:${header.data.run}`)?.["sha256"] !== sha256(text))
    throw refused(path, "it was changed or cut off after it was saved");
  const customers = new Map<string, SavedCustomer>();
  for (const line of lines.slice(1)) {
    const { namespace, id, facts, operations } = customerSchema.parse(parsed(line));
    const customer = { namespace, id };
    customers.set(formatKey(customer), { customer, facts, operations });
  }
  return { header: header.data, customers };
}

/** Operations by the beginning of their hash, and customers; empty: everything. */
export interface Choice {
  operations: readonly string[];
  customers: readonly RecordKey[];
}

const shortest = 8;

/**
 * Includes customers with only unknown outcomes. Throws a Problem if nothing is left, or a named part is missing,
 * applied, or chosen without a needed one.
 */
export function chosenFrom(
  path: string,
  saved: SavedPlan,
  choice: Choice,
  applied: ReadonlyMap<string, AppliedBy>,
): { expected: NonNullable<RunRequest["expected"]>; before: string[] } {
  const all = [...saved.customers.values()];
  const { undo } = saved.header;
  const named = namedBy(path, all, choice);
  for (const operation of named?.alone ?? []) {
    const by = applied.get(operation.hash);
    if (by !== undefined) throw refused(path, appliedText(operation, by), undo);
  }
  const expected = new Map<string, { customer: RecordKey } & ExpectedCustomer>();
  const chosen = new Set<string>();
  for (const item of all) {
    const own = item.operations.filter(
      (operation) => !applied.has(operation.hash) && named?.all.has(operation) !== false,
    );
    if (own.length === 0 && !isInDoubt(item, named?.all, applied)) continue;
    for (const { hash } of own) chosen.add(hash);
    expected.set(formatKey(item.customer), {
      customer: item.customer,
      plan: saved.header.run,
      undo,
      facts: item.facts,
      operations: new Map(item.operations.map((operation) => [operation.hash, nameOf(operation)])),
      chosen: new Set(own.map(({ hash }) => hash)),
      applied: item.operations.some(({ hash }) => applied.has(hash)),
    });
  }
  requireNeeded(path, all, chosen, applied);
  const before = all.flatMap(({ operations }) =>
    operations.flatMap((operation) => {
      const by = applied.get(operation.hash);
      return by === undefined ? [] : [appliedText(operation, by)];
    }),
  );
  const [first] = before;
  if (expected.size === 0 && first !== undefined)
    throw refused(path, `all its operations are outdated: ${first}`, undo);
  return { expected, before };
}

/** The run settles such an operation and sends nothing else. */
function isInDoubt(
  { operations }: SavedCustomer,
  named: ReadonlySet<SavedOperation> | undefined,
  applied: ReadonlyMap<string, AppliedBy>,
): boolean {
  return operations.some((operation) => {
    const state = applied.get(operation.hash)?.state;
    return named?.has(operation) !== false && (state === "sending" || state === "unknown" || state === "parked");
  });
}

function appliedText(operation: SavedOperation, { run, state }: AppliedBy): string {
  const name = `op ${nameOf(operation)}`;
  if (state === "done") return `${name} was applied by ${run} already`;
  if (state === "sending" || state === "unknown" || state === "parked")
    return `${name} was sent by ${run}, and its outcome is not known yet (${state}): see \`crm-sync settle list\``;
  return `${name} was taken by ${run} already, which did not carry it out (${state}); a new plan has the rest`;
}

type ExpectedCustomer = Omit<
  NonNullable<RunRequest["expected"]> extends ReadonlyMap<string, infer E> ? E : never,
  "customer"
>;

function namedBy(
  path: string,
  all: readonly SavedCustomer[],
  choice: Choice,
): { alone: ReadonlySet<SavedOperation>; all: ReadonlySet<SavedOperation> } | undefined {
  if (choice.operations.length === 0 && choice.customers.length === 0) return undefined;
  const alone = new Set<SavedOperation>();
  for (const beginning of choice.operations) {
    const fits = all.flatMap(({ operations }) => operations.filter(({ hash }) => hash.startsWith(beginning)));
    const [operation] = fits;
    if (beginning.length < shortest)
      throw refused(path, `${beginning} is too short for an operation: give ${shortest} characters of its hash`);
    if (operation === undefined) throw refused(path, `it has no operation ${beginning}`);
    if (fits.length > 1) throw refused(path, `it has ${fits.length} operations that begin with ${beginning}`);
    alone.add(operation);
  }
  const named = new Set(alone);
  for (const key of choice.customers) {
    const found = all.find(({ customer }) => formatKey(customer) === formatKey(key));
    if (found === undefined) throw refused(path, `it has nothing for the customer ${formatKey(key)}`);
    for (const operation of found.operations) named.add(operation);
  }
  return { alone, all: named };
}

function requireNeeded(
  path: string,
  all: readonly SavedCustomer[],
  chosen: ReadonlySet<string>,
  applied: ReadonlyMap<string, AppliedBy>,
): void {
  for (const { operations } of all) {
    for (const operation of operations) {
      if (!chosen.has(operation.hash)) continue;
      const needed = neededBy(operation, operations);
      const missing = operations.filter(({ hash }) => needed.has(hash) && !chosen.has(hash) && !applied.has(hash));
      if (missing.length === 0) continue;
      const names = missing.map(nameOf).join(" and ");
      throw new Problem({
        code: "plan.needs-more",
        message: `op ${nameOf(operation)} of the plan ${path} needs ${names}, which was not chosen. Nothing was sent`,
        cure: `add ${missing.map(({ hash }) => `--only ${hash.slice(0, shortest)}`).join(" ")}`,
        exitCode: exitCodes.usage,
        place: path,
      });
    }
  }
}

function neededBy({ needs }: SavedOperation, operations: readonly SavedOperation[]): Set<string> {
  const found = new Set(needs);
  // A set also iterates over values added during the loop.
  for (const hash of found)
    for (const more of operations.find((one) => one.hash === hash)?.needs ?? []) found.add(more);
  return found;
}
