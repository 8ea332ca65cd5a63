import type { RequestShapesOf, RequestIn } from "../../engine/model/requests.ts";
import type { RequestType } from "../../engine/model/resource.ts";
import { z } from "zod";
import type { RecordKey } from "../../crm/model.ts";
import { formatKey } from "../../crm/keys.ts";
import type { DraftOperation } from "../../engine/model/operation.ts";
import { subjectOf, theCrm } from "../../engine/model/requests.ts";
import { counted } from "../../report/text.ts";

/** Which assets go into a lock, and with whom: M10 takes asset ids, and people speak of numbers. */
export const loanSchema = z.object({
  staff: z.object({ namespace: z.string(), id: z.string() }),
  memberGlobalId: z.string(),
  assets: z.array(z.object({ number: z.string(), assetId: z.string() })),
});
export type Loan = z.infer<typeof loanSchema>;

const schemas = {
  wanted: z.literal("lent"),
  details: loanSchema,
  /** Numbers of the assets that are in the lock. */
  answer: z.object({ lent: z.array(z.string()) }),
};

export type LoanRequestShapes = RequestShapesOf<typeof schemas>;

declare module "../../engine/model/resource.ts" {
  interface RequestTypes {
    loan: LoanRequestShapes;
  }
}

/** Asked of one lock for lending: that a member's assets go into it (M10). No operation returns it. */
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

/** One M10 for each lock. A policy rules what the CRM asks for. */
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
