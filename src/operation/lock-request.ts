import { z } from "zod";
import { lockStatuses, lockStatusMeanings } from "../contract/vocabulary.ts";
import { formatKey } from "../crm/keys.ts";
import { licenseTypes } from "../crm/model.ts";
import type { RequestKind, Verdict } from "./request.ts";

const { succeeded, doesNotExist, failed, wrongType } = lockStatuses;

const schemas = {
  wanted: z.enum(["locked", "unlocked"]),
  /** The person says that it is a large-customer lock; no field shows it. */
  details: z.object({ licenseType: z.enum(licenseTypes), largeCustomer: z.boolean() }),
  answer: z.object({ status: z.literal([succeeded, doesNotExist, failed, wrongType]) }),
};

export interface LockRequestShapes {
  wanted: z.infer<typeof schemas.wanted>;
  details: z.infer<typeof schemas.details>;
  answer: z.infer<typeof schemas.answer>;
}

const verdicts: Record<LockRequestShapes["answer"]["status"], Verdict> = {
  [succeeded]: "done",
  [doesNotExist]: "refused",
  [failed]: "failed",
  [wrongType]: "refused",
};

/** Asked of one lock: that it is disabled (E6) or enabled (E7). Each lock has a status of its own (A26). */
export const lockRequest: RequestKind<LockRequestShapes> = {
  noun: "lock",
  schemas,
  commands: { locked: "lock", unlocked: "unlock" },
  isOfAsset: true,
  // One for both directions: what is asked for now waits for what was asked for before.
  subject: (customer) => `locks:${formatKey(customer)}`,
  verdict: ({ status }) => verdicts[status],
  stands({ wanted, answer }) {
    if (answer === null) return `is to be ${wanted}, not answered yet`;
    const { status } = answer;
    return `is ${status === succeeded ? "" : "not "}${wanted}: status ${status}, ${lockStatusMeanings[status].meaning}`;
  },
};
