import type { AssumptionSettings } from "../contract/assumption-settings.ts";
import { missingAssumptions } from "../contract/assumptions/missing.ts";
import { lockStatuses, lockStatusMeanings } from "../contract/vocabulary.ts";
import { formatKey } from "../crm/keys.ts";
import { operation } from "../operation/new-operation.ts";
import type { Operation } from "../operation/operation.ts";
import { isDue } from "../operation/state/locks.ts";
import type { LockWish } from "../operation/state/locks.ts";
import type { Block } from "./block.ts";
import type { CustomerInput } from "./input.ts";
import type { StandingRejections } from "./rejections.ts";

/** What is sent of what people asked for, and why the rest of it is not. */
export interface LockStage {
  operations: Operation[];
  block: Block | undefined;
}

/** One subject for both directions: what is asked for now waits for what was asked for before. */
export function lockSubject(customer: CustomerInput["customer"]): string {
  return `locks:${formatKey(customer)}`;
}

/**
 * Plans the locks that people asked to have disabled or enabled (E6, E7). A lock that the service answered for stays as
 * answered: 3 is tried once in each attempt, 2 and 4 wait for a person (A26).
 */
export function planLocks(
  input: Pick<CustomerInput, "customer" | "known">,
  settings: AssumptionSettings,
  options: { rejections: Pick<StandingRejections, "of">; tried: ReadonlySet<string> },
): LockStage {
  const { customer, known } = input;
  const stage: LockStage = { operations: [], block: answeredBlock(known.locks) };
  const isTried = options.tried.has(lockSubject(customer));
  const due = known.locks.filter(isDue);
  for (const wanted of ["locked", "unlocked"] as const) {
    const locks = due.filter((lock) => lock.wanted === wanted);
    if (locks.length === 0) continue;
    const planned = change(input, locks, wanted, settings);
    const block = "code" in planned ? planned : options.rejections.of(planned);
    if ("code" in planned || block !== undefined) stage.block = block;
    else if (!isTried) stage.operations.push(planned);
  }
  return stage;
}

function change(
  { customer }: Pick<CustomerInput, "customer">,
  locks: readonly LockWish[],
  wanted: LockWish["wanted"],
  settings: AssumptionSettings,
): Operation | Block {
  const kind = wanted === "locked" ? "lock-assets" : "unlock-assets";
  const [missing] = missingAssumptions(settings, wanted === "locked" ? "E6" : "E7");
  const { operatorIdentity } = settings;
  if (missing !== undefined || operatorIdentity === undefined) {
    const choices = missing?.choices.join(" or ") ?? "";
    const reason = `the setting assumptions.operatorIdentity (A40) has no value: ${choices}`;
    return { code: "assumption.missing", reason, again: true };
  }
  const by = [...new Set(locks.map((lock) => lock.by))].join(", ");
  const count = `${locks.length} lock${locks.length === 1 ? "" : "s"}`;
  return operation(kind, {
    customer,
    subject: lockSubject(customer),
    records: [{ stream: "customers", ...customer }],
    target: {},
    payload: { assetNums: locks.map((lock) => lock.assetNumber), operatorIdentity },
    reason: `${by} asked to have ${count} ${wanted === "locked" ? "disabled" : "enabled"}`,
    before: Object.fromEntries(locks.map((lock) => [lock.assetNumber, lock.askedAt])),
    after: locks.map(({ assetNumber: assetNum, licenseType, largeCustomer }) => ({
      assetNum,
      licenseType,
      largeCustomer,
    })),
  });
}

/** Why a lock is not as it was asked to be, by what the service answered for it. */
export function answeredBlock(locks: readonly LockWish[]): Block | undefined {
  const not = locks.filter((lock) => lock.status !== null && lock.status !== lockStatuses.succeeded);
  const worst = not.find((lock) => !isDue(lock)) ?? not[0];
  if (worst === undefined || worst.status === null) return undefined;
  const { assetNumber, wanted, status } = worst;
  const more = not.length === 1 ? "" : ` (and ${not.length - 1} more)`;
  const { meaning } = lockStatusMeanings[status];
  const said = `the lock ${assetNumber}${more} is not ${wanted}: status ${status}, ${meaning}`;
  if (isDue(worst)) return { code: "lock.failed", reason: `${said}; the next run tries again`, again: true };
  const command = wanted === "locked" ? "lock" : "unlock";
  const cure = `ask for the right one, and take this back with \`crm-sync ${command} … --withdraw\``;
  return { code: "lock.refused", reason: `${said}; ${cure}`, again: false, rejected: true };
}
