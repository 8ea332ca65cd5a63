import { z } from "zod";
import type { RecordKey } from "../crm/model.ts";
import { formatKey } from "../crm/keys.ts";
import type { RequestKind } from "./request.ts";

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

export interface LoanRequestShapes {
  wanted: z.infer<typeof schemas.wanted>;
  details: z.infer<typeof schemas.details>;
  answer: z.infer<typeof schemas.answer>;
}

/** Asked of one lock for lending: that a member's assets go into it (M10). No operation returns it. */
export const loanRequest: RequestKind<LoanRequestShapes> = {
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
};

function loanText(staff: RecordKey, assets: number): string {
  return `lent to ${formatKey(staff)} with ${assets} asset${assets === 1 ? "" : "s"}`;
}
