import {
  type RequestShapesOf,
  type Verdict,
  type RequestIn,
  subjectOf,
  theCrm,
  only,
  standing,
} from "../../engine/model/requests.ts";
import type { RequestType, RecordReference } from "../../engine/model/resource.ts";
import { limits } from "../../contract/limits.ts";
import { type AssumptionSettings, missingAssumptions } from "../../contract/assumption-settings.ts";
import { type RecordKey, licenseTypes } from "../../crm/model.ts";
import { type DraftOperation, noWeight, type Weight } from "../../engine/model/operation.ts";
import type { Known } from "../../engine/model/state.ts";
import type { Block } from "../../engine/plan/blocks.ts";
import { counted } from "../../report/text.ts";
import { z } from "zod";
import { lockStatuses, lockStatusMeanings } from "../../contract/vocabulary.ts";
import { formatKey } from "../../crm/keys.ts";
import { assume } from "./plan.ts";
import type { DoneOperation, Undoes, Undoing } from "../../engine/plan/undo.ts";

const { succeeded, doesNotExist, failed, wrongType } = lockStatuses;

const schemas = {
  wanted: z.enum(["locked", "unlocked"]),
  /** A person states that it is a large-customer lock; no field shows it. */
  details: z.object({ licenseType: z.enum(licenseTypes), largeCustomer: z.boolean() }),
  answer: z.object({ status: z.literal([succeeded, doesNotExist, failed, wrongType]) }),
};

export type LockRequestShapes = RequestShapesOf<typeof schemas>;

declare module "../../engine/model/resource.ts" {
  interface RequestTypes {
    lock: LockRequestShapes;
  }
}

const verdicts: Record<LockRequestShapes["answer"]["status"], Verdict> = {
  [succeeded]: "done",
  [doesNotExist]: "refused",
  [failed]: "failed",
  [wrongType]: "refused",
};

/** A person's request is its approval. The CRM's requests follow the policy, in calls of their own. */
const plan: RequestType<"lock">["plan"] = (customer, due, settings, known) =>
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
): DraftOperation | Block {
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
    ...(locks[0].by === theCrm ? { policy: `locks.${wanted}` as const, weight: weightOf(locks.length, wanted) } : {}),
  };
}

function askedBy(locks: readonly RequestIn<"lock">[], { numbers }: Pick<Known, "numbers">): RecordReference[] {
  const asked = new Set(locks.flatMap(({ by, about }) => (by === theCrm ? [about] : [])));
  const byKey = new Map<string, RecordKey>();
  for (const { number, namespace, orderId: id } of numbers)
    if (asked.has(number)) byKey.set(formatKey({ namespace, id }), { namespace, id });
  return [...byKey.values()].map((order) => ({ stream: "orders", ...order }));
}

export function weightOf(count: number, wanted: LockRequestShapes["wanted"]): Weight {
  return wanted === "locked" ? { ...noWeight, locks: count } : noWeight;
}

const lock: RequestType<"lock"> = {
  noun: "lock",
  schemas,
  commands: { locked: "lock", unlocked: "unlock" },
  isOfAsset: true,
  // One subject for both directions, so that a new request waits for the earlier one.
  subject: (customer) => `locks:${formatKey(customer)}`,
  verdict: ({ status }) => verdicts[status],
  stands({ wanted, answer }) {
    if (answer === null) return `is to be ${wanted}, not answered yet`;
    const { status } = answer;
    return `is ${status === succeeded ? "" : "not "}${wanted}: status ${status}, ${lockStatusMeanings[status].meaning}`;
  },
  plan,
  assume,
};

export const requests = { lock };

function undoLocked(row: DoneOperation<"lock-assets">, of: Undoing): Undoes {
  return switchedBack(row, of, "unlocked");
}

function undoUnlocked(row: DoneOperation<"unlock-assets">, of: Undoing): Undoes {
  return switchedBack(row, of, "locked");
}

function switchedBack(
  row: DoneOperation<"lock-assets" | "unlock-assets">,
  { given, run }: Undoing,
  back: LockRequestShapes["wanted"],
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
        reason: `undo of ${run}, which ${back === "locked" ? "enabled" : "disabled"} ${counted(numbers.size, "lock")}`,
        before: {},
        after: operation.after.filter(({ assetNum }) => numbers.has(assetNum)),
        policy: `locks.${back}`,
        weight: weightOf(left.length, back),
      },
    ],
  };
}

export const undo = { "lock-assets": undoLocked, "unlock-assets": undoUnlocked };
