import { numbersOfInstance } from "../order/index.ts";
import { formatKey } from "../../crm/keys.ts";
import type { Desired, DesiredStaff } from "../../engine/model/desired.ts";
import { theCrm, only, subjectOf, type RequestShapesOf, type RequestIn } from "../../engine/model/requests.ts";
import type { Known, RequestChange } from "../../engine/model/state.ts";
import type { ResourcePlan, RequestType } from "../../engine/model/resource.ts";
import type { Reads, LoadedCustomer, Observed, PlanOptions, PlanInput } from "../../engine/plan/input.ts";
import type { Block } from "../../engine/plan/blocks.ts";
import { consider } from "../../engine/plan/rejections.ts";
import type { RecordKey } from "../../crm/model.ts";
import type { ObservedAsset, ObservedLoan, ObservedMember } from "../../platform/snapshot.ts";
import { z } from "zod";
import type { DraftOperation } from "../../engine/model/operation.ts";
import { counted } from "../../report/text.ts";

type Given = Pick<PlanInput, "customer" | "staff"> & {
  known: Pick<Known, "staffLinks" | "numbers" | "requests" | "crmAsked">;
  observed: Pick<Observed, "members" | "assets" | "loans">;
};
type Borrow = NonNullable<DesiredStaff["borrows"]>[number];

function mayBorrow({ pending, state, body }: Desired<DesiredStaff>): boolean {
  return pending && state === "current" && (body.borrows ?? []).length > 0;
}

export function reads({ staff }: Pick<LoadedCustomer, "staff">): Reads {
  return { loans: staff.some(mayBorrow) };
}

/** Each lock is requested once, because no call returns one. */
export function plan(given: Given, _: unknown, { policies }: Pick<PlanOptions, "policies">): ResourcePlan {
  const wishes: ResourcePlan = { records: "staff", operations: [], changes: [], blocks: [] };
  const asked = new Map(
    only(given.known.requests, "loan")
      .filter(({ answer }) => answer === null)
      .map(({ about, details }) => [about, formatKey(details.staff)]),
  );
  for (const staff of given.staff.filter(mayBorrow)) {
    for (const borrow of staff.body.borrows ?? []) {
      const wished = wishedOf(given, staff, borrow);
      if (wished === undefined) continue;
      const key = formatKey(staff.key);
      const ruled = consider(policies, "loans.lent", `the CRM wants the lock ${borrow.lock} lent to ${key}`);
      if (ruled === "nothing") continue;
      if (ruled !== "act") wishes.blocks.push([key, ruled]);
      else if ("code" in wished) wishes.blocks.push([key, wished]);
      else if (asked.has(borrow.lock)) wishes.blocks.push([key, askedFor(borrow.lock, asked.get(borrow.lock))]);
      else {
        asked.set(borrow.lock, key);
        wishes.changes.push(wished);
      }
    }
  }
  return wishes;
}

/** Undefined: already requested by the CRM, or M8 and M6 show the loan. */
function wishedOf(given: Given, staff: Desired<DesiredStaff>, borrow: Borrow): RequestChange | Block | undefined {
  const { known, observed, customer } = given;
  const memberGlobalId = known.staffLinks.get(formatKey(staff.key))?.memberGlobalId;
  const { members, assets, loans } = observed;
  if (memberGlobalId === undefined || members === undefined || assets === undefined || loans === undefined)
    return { code: "loan.not-read", reason: "crm-sync has not read the platform for this loan yet", again: true };
  const numbers = borrow.assets.flatMap((claim) => {
    if ("assetNumber" in claim) return [claim.assetNumber];
    const { namespace } = staff.key;
    const held = numbersOfInstance(known.numbers, { namespace, id: claim.instanceId }).filter((number) =>
      assets.some((asset) => asset.assetNum === number && asset.holder === memberGlobalId),
    );
    return held.length === 0 ? [`of ${claim.instanceId}`] : held;
  });
  const wasAnswered = only(known.requests, "loan").some(
    ({ about, answer }) => about === borrow.lock && answer !== null,
  );
  const asked = wasAsked(given, staff, borrow.lock, numbers);
  if (asked && wasAnswered && loans.some((row) => row.lock === borrow.lock && !row.lent)) return returned(borrow.lock);
  if (asked) return undefined;
  const lent = loans.find((row) => row.lock === borrow.lock && row.lent);
  const isInto = (number: string): boolean => assets.some((asset) => asset.assetNum === number && asset.borrowed);
  if (lent?.borrower === memberGlobalId && numbers.every(isInto)) return undefined;
  const loan = loanOf({ staff: staff.key, memberGlobalId, lock: borrow.lock, numbers }, { members, assets, loans });
  if ("code" in loan) return loan;
  return {
    type: "request-made",
    customer,
    request: {
      of: "loan",
      about: borrow.lock,
      wanted: "lent",
      details: loan,
      by: theCrm,
      reason: `staff ${formatKey(staff.key)}`,
      askedAt: staff.since,
    },
  };
}

/** The CRM may mean the finished loan or a new one. Nothing is lent by guess. */
function returned(lock: string): Block {
  const reason =
    `the CRM wants the lock ${lock} lent, but crm-sync lent it already and M8 shows that it was returned. crm-sync ` +
    "does not lend it a second time by itself";
  return { code: "loan.returned", reason, again: true };
}

function askedFor(lock: string, whom = "somebody"): Block {
  return { code: "loan.lock-asked", reason: `a loan of the lock ${lock} to ${whom} is requested already`, again: true };
}

function wasAsked({ known }: Given, { key }: Desired<DesiredStaff>, lock: string, numbers: readonly string[]): boolean {
  return known.crmAsked.some(
    (asked) =>
      asked.of === "loan" &&
      asked.about === lock &&
      formatKey(asked.details.staff) === formatKey(key) &&
      new Set(asked.details.assets.map(({ number }) => number)).symmetricDifference(new Set(numbers)).size === 0,
  );
}

export interface MeantLoan {
  staff: RecordKey;
  memberGlobalId: string;
  lock: string;
  numbers: readonly string[];
}

interface Shown {
  members: readonly ObservedMember[];
  assets: readonly ObservedAsset[];
  loans: readonly ObservedLoan[];
}

export function loanOf({ staff, memberGlobalId, lock, numbers }: MeantLoan, shown: Shown): Loan | Block {
  if (!shown.members.some((member) => member.globalId === memberGlobalId && !member.deleted))
    return no(
      "loan.no-member",
      `M5 does not show the member ${memberGlobalId} that ${formatKey(staff)} is linked with`,
    );
  const row = shown.loans.find((loan) => loan.lock === lock);
  if (row === undefined) return no("loan.lock-not-shown", `M8 does not show ${lock} as a lock for lending`);
  if (row.lent) {
    const whom = row.borrower === null ? "somebody" : `the member ${row.borrower}`;
    return no("loan.lock-lent", `the lock ${lock} is lent to ${whom} already (M8), and crm-sync cannot return a lock`);
  }
  const assets: Loan["assets"] = [];
  for (const number of new Set(numbers)) {
    const asset = shown.assets.find((item) => item.assetNum === number);
    if (asset?.holder !== memberGlobalId)
      return no("loan.not-held", `${formatKey(staff)} does not hold the asset number ${number} (M6)`);
    if (asset.borrowed) return no("loan.asset-lent", `the asset number ${number} is lent already (M6)`);
    assets.push({ number, assetId: asset.assetId });
  }
  return { staff, memberGlobalId, assets };
}

function no(code: string, reason: string): Block {
  return { code, reason, again: true };
}

/** M10 takes asset ids, people use numbers. */
export const loanSchema = z.object({
  staff: z.object({ namespace: z.string(), id: z.string() }),
  memberGlobalId: z.string(),
  assets: z.array(z.object({ number: z.string(), assetId: z.string() })),
});
export type Loan = z.infer<typeof loanSchema>;

const schemas = {
  wanted: z.literal("lent"),
  details: loanSchema,
  answer: z.object({ lent: z.array(z.string()) }),
};

export type LoanRequestShapes = RequestShapesOf<typeof schemas>;

declare module "../../engine/model/resource.ts" {
  interface RequestTypes {
    loan: LoanRequestShapes;
  }
}

const loan: RequestType<"loan"> = {
  noun: "lock",
  schemas,
  commands: { lent: "borrow" },
  isOfAsset: false,
  subject: (_customer, about) => `loan:${about}`,
  verdict: () => "done",
  stands({ answer, details }) {
    const to = loanText(details.staff, details.assets.length);
    return answer === null ? `is to be ${to}, not answered yet` : `is ${to}. No operation returns a lent lock.`;
  },
  plan: (customer, due) => due.map((loan) => lending(customer, loan)),
};

export const requests = { loan };

function loanText(staff: RecordKey, assets: number): string {
  return `lent to ${formatKey(staff)} with ${counted(assets, "asset")}`;
}

function lending(customer: RecordKey, request: RequestIn<"loan">): DraftOperation<"borrow-assets"> {
  const { about, askedAt, by, details } = request;
  const { staff } = details;
  return {
    kind: "borrow-assets",
    customer,
    subject: subjectOf(customer, request),
    records: [{ stream: "customers", ...customer }, ...(by === theCrm ? [{ stream: "staff" as const, ...staff }] : [])],
    target: { memberGlobalId: details.memberGlobalId },
    payload: { borrowedUsbKey: about, assetIDs: details.assets.map(({ assetId }) => assetId) },
    reason: `${by} asked to have ${counted(details.assets.length, "asset")} of ${formatKey(staff)} lent`,
    before: { [about]: askedAt },
    after: details,
    ...(by === theCrm ? { policy: "loans.lent" as const } : {}),
  };
}
