import type { RecordKey } from "../crm/model.ts";
import { formatKey } from "../crm/keys.ts";
import type { MeantOperation } from "../operation/operation.ts";
import { subjectOf } from "../operation/requests.ts";
import type { RequestIn } from "../operation/requests.ts";
import type { RequestRule } from "./request-rule.ts";

/** Plans the passwords that somebody asked to have set anew (M3): a call for each person. */
export const planPasswords: RequestRule<"password"> = (customer, due) =>
  due.map((request) => setting(customer, request));

function setting(customer: RecordKey, request: RequestIn<"password">): MeantOperation<"reset-password"> {
  const { about, askedAt, by, details } = request;
  const { staff, memberGlobalId, given } = details;
  return {
    kind: "reset-password",
    customer,
    subject: subjectOf(customer, request),
    records: [{ stream: "customers", ...customer }],
    target: { enterpriseGlobalId: { $ref: "enterpriseGlobalId" }, memberGlobalId },
    payload: { password: given ?? { $newPassword: formatKey(staff) } },
    reason: `${by} asked to have a new password set for ${formatKey(staff)}`,
    before: { [about]: askedAt },
    after: { staff },
  };
}
