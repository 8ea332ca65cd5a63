import { endpointIds, endpoints } from "./endpoints.ts";
import type { EndpointId } from "./endpoints.ts";

/**
 * What a business code means for us.
 * - `rejected`: nothing was changed and the same call will be refused again.
 * - `unknown`: the service does not say whether it was done; a write is settled by reading, a read is tried again.
 * - `already-done`: what was asked for is there already.
 * - `refresh-token`: a token is refreshed; a read is tried once more, a write is settled first.
 * - `partial`: part was done and the data says which.
 * - `settle`: refused in words that an earlier, unseen success would explain: reading shows which.
 */
export type CodeEffect = "rejected" | "unknown" | "already-done" | "refresh-token" | "partial" | "settle";

export interface CodeMeaning {
  effect: CodeEffect;
  meaning: string;
  /** What the operator does about it. */
  cure: string;
  /**
   * False for a code that the contract does not list for this endpoint; such a code counts toward opening the circuit
   * (A2).
   */
  listed: boolean;
  /** True where a person has to be told at once. */
  alert: boolean;
  /** Which token `refresh-token` is about. */
  token?: "application" | "user";
}

interface Row {
  effect: CodeEffect;
  meaning: string;
  cure: string;
  alert?: true;
  token?: "application" | "user";
  /** Operations for which the effect, and with it the cure, is another one. */
  except?: Partial<Record<EndpointId, { effect: CodeEffect; cure: string }>>;
}

const settles = "Nothing: crm-sync reads the current state and continues from there.";

/** Every code of the two contracts. The endpoints that list a code stand in `endpoints`. */
const rows: Record<string, Row> = {
  "13004": {
    effect: "rejected",
    meaning: "the service does not accept the value of a field",
    cure:
      "Correct the field that the message names, in the CRM or in the mapping. If its value is right, ask the " +
      "provider of the order service. crm-sync sends the record again when it changes.",
  },
  "500": {
    effect: "unknown",
    meaning: "the service reports a network error on its side",
    cure: "Nothing. If this happens again and again, ask the provider of the service.",
  },
  "60000": {
    effect: "refresh-token",
    token: "application",
    meaning: "the application token is invalid, expired or lacks the permission",
    cure:
      "If this happens again, check the key, secret and scope (auth_me) of the application, and that the scope was " +
      "approved.",
  },
  "60005": {
    effect: "refresh-token",
    token: "user",
    meaning: "the user token is invalid or expired",
    cure: "If this happens again, check the account and password of the user token of this enterprise.",
  },
  "70001": {
    effect: "rejected",
    meaning: "the security check of the service refused the call",
    cure:
      "Ask the provider of the service why it refuses this application. crm-sync does not send the call again by " +
      "itself.",
    alert: true,
  },
  "80001": {
    effect: "unknown",
    meaning: "the user center that the service uses failed",
    cure: "Nothing. If this happens again and again, ask the provider of the service.",
  },
  "40000": {
    effect: "rejected",
    meaning: "a required field is empty",
    cure: "Fill in the missing field in the CRM, or correct the mapping.",
  },
  "60002": {
    effect: "rejected",
    meaning: "the staff member does not exist",
    cure: "Check whether somebody deleted the account on the platform; the next run plans again from the new state.",
    except: {
      M4: { effect: "already-done", cure: "Nothing: the staff member was to be deleted, and does not exist." },
    },
  },
  "40021": {
    effect: "rejected",
    meaning: "the staff list is empty",
    cure: "Report this as a defect of the program: it never sends an empty list.",
  },
  "60013": {
    effect: "rejected",
    meaning: "more than 100 staff were sent at once",
    cure: "Report this as a defect of the program: it sends at most 100.",
  },
  "40008": {
    effect: "rejected",
    meaning: "the account name is empty",
    cure: "Enter an account name for the staff member in the CRM, or correct the mapping.",
  },
  "40001": {
    effect: "rejected",
    meaning: "the password is empty",
    cure:
      "If passwords come from the CRM, enter a password for this person there. If not, set " +
      "assumptions.passwordSource: generate.",
  },
  "40009": {
    effect: "rejected",
    meaning: "the department is empty",
    cure: "Enter a department for the staff member in the CRM, or set assumptions.defaultDepartmentId.",
  },
  "40022": {
    effect: "rejected",
    meaning: "the name is empty",
    cure: "Enter a name for the staff member in the CRM, or correct the mapping.",
  },
  "50003": {
    effect: "rejected",
    meaning: "the password is too short or too long",
    cure: "Set assumptions.generatedPasswordLength to a length that the message allows.",
  },
  "30002": {
    effect: "rejected",
    meaning: "the name is too long",
    cure: "Shorten the name in the CRM to 30 characters. If it is not longer, set assumptions.lengthUnit: bytes.",
  },
  "30003": {
    effect: "rejected",
    meaning: "the note is too long",
    cure: "Shorten the note in the CRM to 200 characters. If it is not longer, set assumptions.lengthUnit: bytes.",
  },
  "10003": {
    effect: "rejected",
    meaning: "the account name has other characters than letters and digits",
    cure: "Correct the account name in the CRM or in the mapping.",
  },
  "10004": {
    effect: "rejected",
    meaning: "the mobile number is not valid",
    cure: "Correct the mobile number in the CRM, or map no mobile number.",
  },
  "40006": {
    effect: "rejected",
    meaning: "the enterprise has no account suffix",
    cure:
      "Ask the provider of the service to give the enterprise its code. Then run " +
      "`crm-sync resync --customer CUSTOMER`.",
  },
  "60009": {
    effect: "rejected",
    meaning: "the enterprise may have no more trial accounts",
    cure:
      "Remove trial accounts of the enterprise, or buy ordinary accounts (the message names the largest number). " +
      "Then run `crm-sync resync --customer CUSTOMER`.",
  },
  "60027": {
    effect: "partial",
    meaning: "some of the people were added, and others were not",
    cure: "Look at the people who were not added: each has a reason.",
  },
  "60017": {
    effect: "rejected",
    meaning:
      "the account of the user token belongs to no authorization customer, so the service does not show it this data",
    cure:
      "Configure a user token of an account that belongs to this enterprise. Until then, nothing is removed because " +
      "of this missing data.",
  },
  "60023": {
    effect: "rejected",
    meaning: "the account matches several staff members",
    cure:
      "Merge the duplicate staff members of this enterprise on the platform, or remove the duplicates there. Then " +
      "run `crm-sync resync --customer CUSTOMER`.",
  },
  "60024": {
    effect: "rejected",
    meaning: "the asset number does not exist",
    cure: "Check that the order of this asset was placed, and that nobody removed the asset on the platform.",
    except: {
      M9: {
        effect: "settle",
        cure:
          "Nothing yet: crm-sync reads the assets of the staff member. If the number is really missing, check the " +
          "order of this asset.",
      },
    },
  },
  "60025": {
    effect: "rejected",
    meaning: "the asset number belongs to another customer",
    cure: "Check which customer the CRM gives this asset to; the link between customer and enterprise may be wrong.",
  },
  "60026": {
    effect: "rejected",
    meaning: "the account matches no staff member",
    cure:
      "Look for the person on the platform. If the account was deleted, the next run plans to add this person again. " +
      "If it has another account name, enter that name in the CRM.",
    except: {
      M9: {
        effect: "settle",
        cure:
          "Nothing yet: crm-sync reads the staff list. If the staff member was really deleted, the next run plans " +
          "to add this person again.",
      },
    },
  },
  "60028": {
    effect: "settle",
    meaning: "the asset number already has a holder",
    cure:
      "Nothing yet: crm-sync reads who the holder is. If it is another staff member, take the asset from that " +
      "person on the platform, or correct the CRM.",
  },
  "33006": {
    effect: "rejected",
    meaning: "there are not enough nodes to lend",
    cure: "Lend fewer assets, or buy more nodes.",
  },
  "33003": {
    effect: "rejected",
    meaning: "the staff member may not borrow these assets",
    cure: "Give the staff member these assets in the CRM first; the next run then lends the lock.",
  },
  "33007": { effect: "settle", meaning: "the assets are lent to another borrowed lock", cure: settles },
  "33008": {
    effect: "rejected",
    meaning: "the state of the borrowed lock is abnormal",
    cure: "Have the lock checked on the platform before it is lent again.",
  },
  "33018": { effect: "settle", meaning: "the borrowed lock is lent to another staff member", cure: settles },
  "33009": {
    effect: "unknown",
    meaning: "the loan failed, and the service does not say how much of it was done",
    cure: "Nothing: crm-sync reads the borrowed locks before it does anything else.",
  },
};

/** The codes of the two contracts. */
export const documentedCodes: readonly string[] = Object.keys(rows);

function meaningFrom(row: Row, endpoint: EndpointId): CodeMeaning {
  const { effect, cure } = row.except?.[endpoint] ?? row;
  const meaning: CodeMeaning = { effect, meaning: row.meaning, cure, listed: true, alert: row.alert === true };
  if (row.token !== undefined && effect === "refresh-token") meaning.token = row.token;
  return meaning;
}

const unlisted: CodeMeaning = {
  effect: "unknown",
  meaning: "the contract does not list this code for this operation",
  cure:
    "Ask the provider of the service what the code means; until then crm-sync reads the platform to find the " +
    "outcome.",
  listed: false,
  alert: false,
};

const table = new Map<string, CodeMeaning>();
for (const endpoint of endpointIds) {
  for (const code of endpoints[endpoint].codes) {
    const row = rows[code];
    if (row !== undefined) table.set(`${endpoint} ${code}`, meaningFrom(row, endpoint));
  }
}

/** Whether the contract lists a code for an endpoint. */
export function isListed(code: string, endpoint: string): boolean {
  return table.has(`${endpoint} ${code}`);
}

/**
 * What a business code means on an endpoint. A code that the contract does not list there is never guessed: it is
 * `unknown` and not `listed`. `tokenCodes` are codes that the configuration declares to be about the application token
 * (A2).
 */
export function meaningOf(code: string, endpoint: EndpointId, tokenCodes: readonly string[] = []): CodeMeaning {
  const known = table.get(`${endpoint} ${code}`);
  if (known !== undefined) return known;
  if (tokenCodes.includes(code)) {
    return {
      effect: "refresh-token",
      token: "application",
      meaning: "the configuration lists this code as a code about the token",
      cure: "If this happens again, check the key, secret and scope of the application, and the setting tokenCodes.",
      listed: true,
      alert: false,
    };
  }
  return unlisted;
}

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
