import { type RequestShapesOf, type RequestIn, subjectOf } from "../../engine/model/requests.ts";
import type { RequestType } from "../../engine/model/resource.ts";
import { z } from "zod";
import type { RecordKey } from "../../crm/model.ts";
import { formatKey } from "../../crm/keys.ts";
import type { DraftOperation } from "../../engine/model/operation.ts";
import { privateMarker } from "../../engine/model/references.ts";

const schemas = {
  wanted: z.literal("reset"),
  details: z.object({
    staff: z.object({ namespace: z.string(), id: z.string() }),
    memberGlobalId: z.string(),
    /** Null: a password is generated. */
    given: privateMarker.nullable(),
  }),
  answer: z.object({ generated: z.boolean() }),
};

export type PasswordRequestShapes = RequestShapesOf<typeof schemas>;

declare module "../../engine/model/resource.ts" {
  interface RequestTypes {
    password: PasswordRequestShapes;
  }
}

/** `staff`: the record's key. */
export function passwordSubject(staff: string): string {
  return `password:${staff}`;
}

export const passwordRequest: RequestType<"password"> = {
  noun: "new password of",
  schemas,
  commands: { reset: "staff reset-password" },
  isOfAsset: false,
  subject: (_customer, about) => passwordSubject(about),
  verdict: () => "done",
  stands({ answer, details: { staff } }) {
    if (answer === null) return "is to be set, not answered yet";
    const key = `${staff.namespace}/${staff.id}`;
    return answer.generated
      ? `is set; crm-sync staff password ${key} hands it out, once`
      : "is set: it is the one that the CRM gave";
  },
  plan: (customer, due) => due.map((request) => setting(customer, request)),
};

function setting(customer: RecordKey, request: RequestIn<"password">): DraftOperation<"reset-password"> {
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
