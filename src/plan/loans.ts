import type { RecordKey } from "../crm/model.ts";
import { formatKey } from "../crm/keys.ts";
import type { MeantOperation } from "../operation/operation.ts";
import { theCrm } from "../operation/request.ts";
import { subjectOf } from "../operation/requests.ts";
import type { RequestIn } from "../operation/requests.ts";
import type { RequestRule } from "./request-rule.ts";

/**
 * Plans the locks that somebody asked to have lent (M10): a call for each lock. What the CRM asks for is ruled by its
 * policy.
 */
export const planLoans: RequestRule<"loan"> = (customer, due) => due.map((loan) => lending(customer, loan));

function lending(customer: RecordKey, loan: RequestIn<"loan">): MeantOperation<"borrow-assets"> {
  const { about, askedAt, by, details } = loan;
  const { staff } = details;
  const count = `${details.assets.length} asset${details.assets.length === 1 ? "" : "s"}`;
  return {
    kind: "borrow-assets",
    customer,
    subject: subjectOf(customer, loan),
    records: [{ stream: "customers", ...customer }, ...(by === theCrm ? [{ stream: "staff" as const, ...staff }] : [])],
    target: { memberGlobalId: details.memberGlobalId },
    payload: { borrowedUsbKey: about, assetIDs: details.assets.map(({ assetId }) => assetId) },
    reason: `${by} asked to have ${count} of ${formatKey(staff)} lent`,
    before: { [about]: askedAt },
    after: details,
    ...(by === theCrm ? { policy: "loans.lent" as const } : {}),
  };
}
