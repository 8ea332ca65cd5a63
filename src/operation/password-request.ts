import { z } from "zod";
import { privateMarker } from "./references.ts";
import type { RequestKind } from "./request.ts";

const schemas = {
  wanted: z.literal("reset"),
  details: z.object({
    staff: z.object({ namespace: z.string(), id: z.string() }),
    memberGlobalId: z.string(),
    /** The password that the CRM gave; null: one is generated. */
    given: privateMarker.nullable(),
  }),
  answer: z.object({ generated: z.boolean() }),
};

export interface PasswordRequestShapes {
  wanted: z.infer<typeof schemas.wanted>;
  details: z.infer<typeof schemas.details>;
  answer: z.infer<typeof schemas.answer>;
}

/** The subject of the operations that set a person's password anew; `staff` is the key of the record. */
export function passwordSubject(staff: string): string {
  return `password:${staff}`;
}

/** Asked of one member of staff: that a new password is set (M3). Only a person asks for it. */
export const passwordRequest: RequestKind<PasswordRequestShapes> = {
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
};
