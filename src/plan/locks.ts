import { counted } from "../report/text.ts";
import type { AssumptionSettings } from "../contract/assumption-settings.ts";
import { limits } from "../contract/limits.ts";
import { missingAssumptions } from "../contract/assumptions/missing.ts";
import { formatKey } from "../crm/keys.ts";
import type { RecordKey } from "../crm/model.ts";
import type { MeantOperation } from "../operation/operation.ts";
import { theCrm } from "../operation/request.ts";
import { only, standing, subjectOf } from "../operation/requests.ts";
import type { RequestIn } from "../operation/requests.ts";
import type { RecordReference } from "../operation/shape.ts";
import type { Known } from "../operation/state.ts";
import { noWeight } from "../operation/taking.ts";
import type { Weight } from "../operation/taking.ts";
import type { Block } from "./block.ts";
import type { RequestRule } from "./request-rule.ts";
import type { DoneOperation, Undoes, Undoing } from "./undoing.ts";

/**
 * Plans the locks that people or the CRM asked to have disabled or enabled (E6, E7): calls for each direction. A person
 * who asks approves; what the CRM asks for is ruled by its policy, in calls of its own.
 */
export const planLocks: RequestRule<"lock"> = (customer, due, settings, known) =>
  (["locked", "unlocked"] as const).flatMap((wanted) =>
    [false, true].flatMap((crm) => {
      const locks = due.filter((lock) => lock.wanted === wanted && (lock.by === theCrm) === crm);
      const calls: ReturnType<typeof change>[] = [];
      for (let from = 0; from < locks.length; from += limits.locksPerCall) {
        const [first, ...others] = locks.slice(from, from + limits.locksPerCall);
        if (first !== undefined) calls.push(change(customer, [first, ...others], wanted, { settings, known }));
      }
      return calls;
    }),
  );

function change(
  customer: RecordKey,
  locks: readonly [RequestIn<"lock">, ...RequestIn<"lock">[]],
  wanted: RequestIn<"lock">["wanted"],
  { settings, known }: { settings: AssumptionSettings; known: Pick<Known, "numbers"> },
): MeantOperation | Block {
  const [missing] = missingAssumptions(settings, wanted === "locked" ? "E6" : "E7");
  const { operatorIdentity } = settings;
  if (missing !== undefined || operatorIdentity === undefined) {
    const choices = missing?.choices.join(" or ") ?? "";
    const reason = `the setting assumptions.operatorIdentity (A40) has no value; choose ${choices}`;
    return { code: "assumption.missing", reason, again: true };
  }
  const by = [...new Set(locks.map((lock) => lock.by))].join(", ");
  const count = counted(locks.length, "lock");
  return {
    kind: wanted === "locked" ? "lock-assets" : "unlock-assets",
    customer,
    subject: subjectOf(customer, locks[0]),
    records: [{ stream: "customers", ...customer }, ...askedBy(locks, known)],
    target: {},
    payload: { assetNums: locks.map((lock) => lock.about), operatorIdentity },
    reason: `${by} asked to have ${count} ${wanted === "locked" ? "disabled" : "enabled"}`,
    before: Object.fromEntries(locks.map((lock) => [lock.about, lock.askedAt])),
    after: locks.map(({ about: assetNum, details }) => ({ assetNum, ...details })),
    ...(locks[0].by === theCrm ? { policy: `locks.${wanted}` as const, weight: weightOf(locks, wanted) } : {}),
  };
}

/** The orders that want locks switched; none where a person asked. */
function askedBy(locks: readonly RequestIn<"lock">[], { numbers }: Pick<Known, "numbers">): RecordReference[] {
  const asked = new Set(locks.flatMap(({ by, about }) => (by === theCrm ? [about] : [])));
  const byKey = new Map<string, RecordKey>();
  for (const { number, namespace, orderId: id } of numbers)
    if (asked.has(number)) byKey.set(formatKey({ namespace, id }), { namespace, id });
  return [...byKey.values()].map((order) => ({ stream: "orders", ...order }));
}

function weightOf(locks: readonly unknown[], wanted: RequestIn<"lock">["wanted"]): Weight {
  return wanted === "locked" ? { ...noWeight, locks: locks.length } : noWeight;
}

/** What an E6 disabled is enabled again. */
export function undoLocked(row: DoneOperation<"lock-assets">, of: Undoing): Undoes {
  return switchedBack(row, of, "unlocked");
}

/** What an E7 enabled is disabled again. */
export function undoUnlocked(row: DoneOperation<"unlock-assets">, of: Undoing): Undoes {
  return switchedBack(row, of, "locked");
}

/** Lock by lock, where it still is as the call left it. */
function switchedBack(
  row: DoneOperation<"lock-assets" | "unlock-assets">,
  { given, run }: Undoing,
  back: RequestIn<"lock">["wanted"],
): Undoes {
  const { operation } = row;
  const left = only(given.known.requests, "lock").filter(
    (request) => request.operationId === row.id && standing(request) === "done",
  );
  const [first] = left;
  if (first === undefined) return { is: "nothing-left" };
  const numbers = new Set(left.map(({ about }) => about));
  return {
    is: "meant",
    meant: [
      {
        kind: back === "locked" ? "lock-assets" : "unlock-assets",
        customer: given.customer,
        subject: subjectOf(given.customer, first),
        records: [{ stream: "customers", ...given.customer }],
        target: {},
        payload: { assetNums: [...numbers], operatorIdentity: operation.payload.operatorIdentity },
        reason: `${run} is taken back: it had ${counted(numbers.size, "lock")} ${back === "locked" ? "enabled" : "disabled"}`,
        before: {},
        after: operation.after.filter(({ assetNum }) => numbers.has(assetNum)),
        policy: `locks.${back}`,
        weight: weightOf(left, back),
      },
    ],
  };
}
