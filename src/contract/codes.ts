import type { EndpointId } from "./endpoints.ts";
import { endpointIds, endpoints } from "./endpoints.ts";

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

const settles = "Nothing: crm-sync reads the current state and goes on from there.";

/** Every code of the two contracts. The endpoints that list a code stand in `endpoints`. */
const rows: Record<string, Row> = {
  "13004": {
    effect: "rejected",
    meaning: "a parameter fails the validation of the service",
    cure:
      "Correct the field that the message names in the CRM or " +
      "in the mapping; the record is tried again when it changes.",
  },
  "500": {
    effect: "unknown",
    meaning: "the service reports a network error on its side",
    cure: "Nothing, unless it persists: then ask the operator of the service.",
  },
  "60000": {
    effect: "refresh-token",
    token: "application",
    meaning: "the application token is invalid, expired or lacks the permission",
    cure: "If it persists, check the application's key, secret and scope (auth_me), and that the scope was approved.",
  },
  "60005": {
    effect: "refresh-token",
    token: "user",
    meaning: "the user token is invalid or expired",
    cure: "If it persists, check the account and password behind the user token of this enterprise.",
  },
  "70001": {
    effect: "rejected",
    meaning: "the security check of the service failed",
    cure: "Ask the operator of the service why it refuses this application; nothing is sent again by itself.",
    alert: true,
  },
  "80001": {
    effect: "unknown",
    meaning: "the user center behind the service failed",
    cure: "Nothing, unless it persists: then ask the operator of the service.",
  },
  "40000": {
    effect: "rejected",
    meaning: "a parameter is empty",
    cure: "Fill the missing field in the CRM or in the mapping.",
  },
  "60002": {
    effect: "rejected",
    meaning: "the staff member is not there",
    cure: "Check whether somebody deleted the account on the platform; the next run plans again from the new state.",
    except: { M4: { effect: "already-done", cure: "Nothing: the staff member is gone, as was asked." } },
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
    cure: "Give the staff member an account name in the CRM or in the mapping.",
  },
  "40001": {
    effect: "rejected",
    meaning: "the password is empty",
    cure: "Where passwords come from the CRM, give the staff member one there; else set passwordSource to generate.",
  },
  "40009": {
    effect: "rejected",
    meaning: "the department is empty",
    cure: "Give the staff member a department in the CRM, or set defaultDepartmentId.",
  },
  "40022": {
    effect: "rejected",
    meaning: "the name is empty",
    cure: "Give the staff member a name in the CRM or in the mapping.",
  },
  "50003": {
    effect: "rejected",
    meaning: "the password is too short or too long",
    cure: "Set generatedPasswordLength to a length between the two bounds that the message names.",
  },
  "30002": {
    effect: "rejected",
    meaning: "the name is too long",
    cure: "Shorten the name in the CRM to 30; try lengthUnit: bytes if it has 30 characters or fewer.",
  },
  "30003": {
    effect: "rejected",
    meaning: "the note is too long",
    cure: "Shorten the note in the CRM to 200; try lengthUnit: bytes if it has 200 characters or fewer.",
  },
  "10003": {
    effect: "rejected",
    meaning: "the account name holds more than letters and digits",
    cure: "Correct the account name in the CRM or in the mapping.",
  },
  "10004": {
    effect: "rejected",
    meaning: "the mobile number is not valid",
    cure: "Correct the mobile number in the CRM, or map none.",
  },
  "40006": {
    effect: "rejected",
    meaning: "the enterprise has no account suffix",
    cure: "Ask the operator of the service to give the enterprise its code; the staff member is added afterwards.",
  },
  "60009": {
    effect: "rejected",
    meaning: "the enterprise may have no more trial accounts",
    cure: "Remove trial accounts of the enterprise, or buy ordinary ones; the message names the largest number.",
  },
  "60027": {
    effect: "partial",
    meaning: "some staff were added and others were not",
    cure: "Look at the staff members that were refused: each has its own reason.",
  },
  "60017": {
    effect: "rejected",
    meaning: "the account behind the user token is not bound to an authorization customer, so it cannot see this",
    cure:
      "Configure a user token of an account that belongs to this " +
      "enterprise. Nothing is removed only because a reading does not show it.",
  },
  "60023": {
    effect: "rejected",
    meaning: "the account matches several staff members",
    cure: "Remove or merge the doubled staff members of this enterprise on the platform, then retry.",
  },
  "60024": {
    effect: "rejected",
    meaning: "the asset number is not there",
    cure:
      "Check that the order that brings the asset went through, " +
      "and that nobody removed the number on the platform.",
    except: {
      M9: {
        effect: "settle",
        cure:
          "Nothing yet: crm-sync reads the assets of the staff member. If the " +
          "number is really missing, check the order that brings it.",
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
      "Check whether the staff member was deleted on the platform; " +
      "if so, the next run plans to add this person again.",
    except: {
      M9: {
        effect: "settle",
        cure:
          "Nothing yet: the staff list is read. If the staff member " +
          "is really gone, the next run plans to add this person again.",
      },
    },
  },
  "60028": {
    effect: "settle",
    meaning: "the asset number is configured already",
    cure:
      "Nothing yet: the holder is read. If another staff member " +
      "holds the number, take it away there or correct the CRM.",
  },
  "33006": {
    effect: "rejected",
    meaning: "there are not enough nodes to lend",
    cure: "Lend fewer assets, or buy more nodes.",
  },
  "33003": {
    effect: "rejected",
    meaning: "the staff member lacks the rights to lend",
    cure: "Give the staff member the assets first, then lend them.",
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
    meaning: "the borrow request failed without saying how far it came",
    cure: "Nothing: the borrowed locks are read before anything else is done.",
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
  cure: "Ask the operator of the service what the code means; until then crm-sync settles it by reading.",
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
      meaning: "the configuration names this code as one about the token",
      cure: "If it persists, check the application's key, secret and scope, and the setting tokenCodes.",
      listed: true,
      alert: false,
    };
  }
  return unlisted;
}
