import { meaningOf } from "./codes.ts";
import type { EndpointId } from "./endpoints.ts";

/**
 * Whom a refused call is about.
 * - `record`: the record that it was sent for, or one of them; the others are sent without it.
 * - `enterprise`: all that was sent for this enterprise alike.
 * - `call`: the call as such, by a defect of the program; no record is at fault.
 * - `service`: this application as a whole; no record is at fault, and nothing else would be taken either.
 */
export type RefusalScope = "record" | "enterprise" | "call" | "service";

interface Refusal {
  scope: RefusalScope;
  /** The field of a staff member that the code speaks of, as the CRM's mapping names it. */
  field?: string;
}

const refusals: Record<string, Refusal> = {
  "60000": { scope: "service" },
  "60005": { scope: "service" },
  "70001": { scope: "service" },
  "40021": { scope: "call" },
  "60013": { scope: "call" },
  "40006": { scope: "enterprise" },
  "60009": { scope: "enterprise" },
  "10003": { scope: "record", field: "userName" },
  "10004": { scope: "record", field: "mobile" },
  "30002": { scope: "record", field: "name" },
  "30003": { scope: "record", field: "remark" },
  "40001": { scope: "record", field: "password" },
  "40008": { scope: "record", field: "userName" },
  "40009": { scope: "record", field: "departmentId" },
  "40022": { scope: "record", field: "name" },
  "50003": { scope: "record", field: "password" },
};

/** Whom a code that refuses a call is about; what the table does not name is about the record. */
export function refusalOf(code: string): Refusal {
  return Object.hasOwn(refusals, code) ? (refusals[code] ?? { scope: "record" }) : { scope: "record" };
}

/**
 * Whether a code says no in words that an earlier, unseen success would explain: reading shows which, and the call
 * itself changed nothing.
 */
export function refusedUnlessThere(code: string | null, endpoint: EndpointId): boolean {
  return code !== null && meaningOf(code, endpoint).effect === "settle";
}

/** What a person does about a code that said no in such words, once reading showed that nothing of it is there. */
export const settledCures: Readonly<Record<string, string>> = {
  "M10 33007":
    "The assets are in another borrowed lock already: have it returned on the platform, then ask again; or take the " +
    "request back with --withdraw.",
  "M10 33018":
    "The lock is with another staff member: have it returned on the platform, then ask again; or take the request " +
    "back with --withdraw.",
  "M9 60024":
    "Check that the order that brings the asset went through, and that nobody removed the number on the " +
    "platform; then crm-sync resync --customer.",
  "M9 60026":
    "Check whether somebody deleted the staff member's account on " +
    "the platform; once it is there, crm-sync resync --customer.",
  "M9 60028":
    "Take the number away from whoever holds it on the platform, or correct the CRM; then crm-sync resync --customer.",
};
