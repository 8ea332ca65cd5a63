import type { AssumptionSettings } from "../contract/assumption-settings.ts";
import { limits } from "../contract/limits.ts";
import { missingAssumptions } from "../contract/assumptions/missing.ts";
import type { RecordKey } from "../crm/model.ts";
import type { MeantOperation } from "../operation/operation.ts";
import { subjectOf } from "../operation/requests.ts";
import type { RequestIn } from "../operation/requests.ts";
import type { Block } from "./block.ts";
import type { RequestRule } from "./request-rule.ts";

/** Plans the locks that people asked to have disabled or enabled (E6, E7): calls for each direction. */
export const planLocks: RequestRule<"lock"> = (customer, due, settings) =>
  (["locked", "unlocked"] as const).flatMap((wanted) => {
    const locks = due.filter((lock) => lock.wanted === wanted);
    const calls: ReturnType<typeof change>[] = [];
    for (let from = 0; from < locks.length; from += limits.locksPerCall) {
      const [first, ...others] = locks.slice(from, from + limits.locksPerCall);
      if (first !== undefined) calls.push(change(customer, [first, ...others], wanted, settings));
    }
    return calls;
  });

function change(
  customer: RecordKey,
  locks: readonly [RequestIn<"lock">, ...RequestIn<"lock">[]],
  wanted: RequestIn<"lock">["wanted"],
  settings: AssumptionSettings,
): MeantOperation | Block {
  const [missing] = missingAssumptions(settings, wanted === "locked" ? "E6" : "E7");
  const { operatorIdentity } = settings;
  if (missing !== undefined || operatorIdentity === undefined) {
    const choices = missing?.choices.join(" or ") ?? "";
    const reason = `the setting assumptions.operatorIdentity (A40) has no value: ${choices}`;
    return { code: "assumption.missing", reason, again: true };
  }
  const by = [...new Set(locks.map((lock) => lock.by))].join(", ");
  const count = `${locks.length} lock${locks.length === 1 ? "" : "s"}`;
  return {
    kind: wanted === "locked" ? "lock-assets" : "unlock-assets",
    customer,
    subject: subjectOf(customer, locks[0]),
    records: [{ stream: "customers", ...customer }],
    target: {},
    payload: { assetNums: locks.map((lock) => lock.about), operatorIdentity },
    reason: `${by} asked to have ${count} ${wanted === "locked" ? "disabled" : "enabled"}`,
    before: Object.fromEntries(locks.map((lock) => [lock.about, lock.askedAt])),
    after: locks.map(({ about: assetNum, details }) => ({ assetNum, ...details })),
  };
}
