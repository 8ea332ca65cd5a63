import { endpointIds, endpoints, type EndpointId } from "./endpoints.ts";

/**
 * - `rejected`: nothing changed, and the same call will be rejected again.
 * - `unknown`: the service does not say. A reading settles a write; a read is repeated.
 * - `already-done`: the requested state exists.
 * - `refresh-token`: refresh a token, then repeat a read once. A reading settles a write first.
 * - `partial`: the data says which part was done.
 * - `settle`: an earlier, unseen success would also explain the rejection. A reading decides.
 */
export type CodeEffect = (typeof effects)[number];
const effects = ["rejected", "unknown", "already-done", "refresh-token", "partial", "settle"] as const;

export interface CodeMeaning {
  effect: CodeEffect;
  meaning: string;
  cure: string;
  /** False if the contract does not list the code for this endpoint. It then counts toward opening the circuit (A2). */
  listed: boolean;
  alert: boolean;
  token?: "application" | "user";
}

/**
 * Every code of the two contracts. `endpoints` says which endpoint lists which. First line: code, effect, token,
 * `alert`, `of the` scope or `of` a field of the record, and the meaning. Then the hint, and what differs by operation:
 * another effect, or the hint once a reading showed nothing of it (`not-there`). An indented line continues the
 * previous one.
 */
const codes = `
500 unknown: the service reports a network error on its side
- Nothing. If this happens again and again, ask the provider of the service.
10003 rejected of userName: the account name has other characters than letters and digits
- Correct the account name in the CRM or in the mapping.
10004 rejected of mobile: the mobile number is not valid
- Correct the mobile number in the CRM, or map no mobile number.
13004 rejected: the service does not accept the value of a field
- Correct the field that the message names, in the CRM or in the mapping. If its value is right, ask the provider of
  the order service. crm-sync sends the record again when it changes.
30002 rejected of name: the name is too long
- Shorten the name in the CRM to 30 characters. If it is not longer, set assumptions.lengthUnit: bytes.
30003 rejected of remark: the note is too long
- Shorten the note in the CRM to 200 characters. If it is not longer, set assumptions.lengthUnit: bytes.
33003 rejected: the staff member may not borrow these assets
- Give the staff member these assets in the CRM first; the next run then lends the lock.
33006 rejected: there are not enough nodes to lend
- Lend fewer assets, or buy more nodes.
33007 settle: the assets are lent to another borrowed lock
- Nothing: crm-sync reads the current state and continues from there.
- M10 not-there: The assets are in another borrowed lock already: have it returned on the platform, then ask again; or
  take the request back with --withdraw.
33008 rejected: the state of the borrowed lock is abnormal
- Have the lock checked on the platform before it is lent again.
33009 unknown: the loan failed, and the service does not say how much of it was done
- Nothing: crm-sync reads the borrowed locks before it does anything else.
33018 settle: the borrowed lock is lent to another staff member
- Nothing: crm-sync reads the current state and continues from there.
- M10 not-there: The lock is with another staff member: have it returned on the platform, then ask again; or take the
  request back with --withdraw.
40000 rejected: a required field is empty
- Fill in the missing field in the CRM, or correct the mapping.
40001 rejected of password: the password is empty
- If passwords come from the CRM, enter a password for this person there. If not, set assumptions.passwordSource:
  generate.
40006 rejected of the enterprise: the enterprise has no account suffix
- Ask the provider of the service to give the enterprise its code. Then run \`crm-sync resync --customer CUSTOMER\`.
40008 rejected of userName: the account name is empty
- Enter an account name for the staff member in the CRM, or correct the mapping.
40009 rejected of departmentId: the department is empty
- Enter a department for the staff member in the CRM, or set assumptions.defaultDepartmentId.
40021 rejected of the call: the staff list is empty
- Report this as a defect of the program: it never sends an empty list.
40022 rejected of name: the name is empty
- Enter a name for the staff member in the CRM, or correct the mapping.
50003 rejected of password: the password is too short or too long
- Set assumptions.generatedPasswordLength to a length that the message allows.
60000 refresh-token application of the service: the application token is invalid, expired or lacks the permission
- If this happens again, check the key, secret and scope (auth_me) of the application, and that the scope was
  approved.
60002 rejected: the staff member does not exist
- Check whether somebody deleted the account on the platform; the next run plans again from the new state.
- M4 already-done: Nothing: the staff member was to be deleted, and does not exist.
60005 refresh-token user of the service: the user token is invalid or expired
- If this happens again, check the account and password of the user token of this enterprise.
60009 rejected of the enterprise: the enterprise may have no more trial accounts
- Remove trial accounts of the enterprise, or buy ordinary accounts (the message names the largest number). Then run
  \`crm-sync resync --customer CUSTOMER\`.
60013 rejected of the call: more than 100 staff were sent at once
- Report this as a defect of the program: it sends at most 100.
60017 rejected: the account of the user token belongs to no authorization customer, so the service does not show it
  this data
- Configure a user token of an account that belongs to this enterprise. Until then, nothing is removed because of this
  missing data.
60023 rejected: the account matches several staff members
- Merge the duplicate staff members of this enterprise on the platform, or remove the duplicates there. Then run
  \`crm-sync resync --customer CUSTOMER\`.
60024 rejected: the asset number does not exist
- Check that the order of this asset was placed, and that nobody removed the asset on the platform.
- M9 settle: Nothing yet: crm-sync reads the assets of the staff member. If the number is really missing, check the
  order of this asset.
- M9 not-there: Check that the order that brings the asset went through, and that nobody removed the number on the
  platform; then crm-sync resync --customer.
60025 rejected: the asset number belongs to another customer
- Check which customer the CRM gives this asset to; the link between customer and enterprise may be wrong.
60026 rejected: the account matches no staff member
- Look for the person on the platform. If the account was deleted, the next run plans to add this person again. If it
  has another account name, enter that name in the CRM.
- M9 settle: Nothing yet: crm-sync reads the staff list. If the staff member was really deleted, the next run plans to
  add this person again.
- M9 not-there: Check whether somebody deleted the staff member's account on the platform; once it is there, crm-sync
  resync --customer.
60027 partial: some of the people were added, and others were not
- Look at the people who were not added: each has a reason.
60028 settle: the asset number already has a holder
- Nothing yet: crm-sync reads who the holder is. If it is another staff member, take the asset from that person on the
  platform, or correct the CRM.
- M9 not-there: Take the number away from whoever holds it on the platform, or correct the CRM; then crm-sync resync
  --customer.
70001 rejected alert of the service: the security check of the service refused the call
- Ask the provider of the service why it refuses this application. crm-sync does not send the call again by itself.
80001 unknown: the user center that the service uses failed
- Nothing. If this happens again and again, ask the provider of the service.
`;

/**
 * - `record`: one sent record. The others are sent without it.
 * - `enterprise`: everything sent for this enterprise.
 * - `call`: the program made the call wrongly, no record is wrong.
 * - `service`: this application. The service would reject other calls too.
 */
export type RefusalScope = (typeof scopes)[number];
const scopes = ["record", "enterprise", "call", "service"] as const;

type Meaning = Omit<CodeMeaning, "listed">;

interface Row extends Meaning {
  code: string;
  scope: RefusalScope;
  field?: string;
  others: readonly (readonly [endpoint: string, effect: string, cure: string])[];
}

function oneOf<const Word extends string>(words: readonly Word[], text: string | undefined): Word {
  const found = words.find((word) => word === text);
  if (found === undefined) throw new TypeError(`found ${text}, expected one of ${words.join(", ")}`);
  return found;
}

function rowOf(text: string): Row {
  const [first = "", cure = "", ...others] = text.replaceAll("\n  ", " ").trimEnd().split("\n- ");
  const parts = /^(\d+) (\S+)(?: (application|user))?( alert)?(?: of the (\w+)| of (\w+))?: (.*)$/u.exec(first) ?? [];
  const [, code = "", effect, token, alert, scope = "record", field, meaning = ""] = parts;
  return {
    code,
    effect: oneOf(effects, effect),
    meaning,
    cure,
    alert: alert !== undefined,
    ...(token === undefined ? {} : { token: oneOf(["application", "user"], token) }),
    scope: oneOf(scopes, scope),
    ...(field === undefined ? {} : { field }),
    others: others.map((other) => {
      const [, endpoint = "", otherEffect = "", otherCure = ""] = /^(\S+) (\S+): (.*)$/u.exec(other) ?? [];
      return [endpoint, otherEffect, otherCure];
    }),
  };
}

const rows = new Map(
  codes
    .trimStart()
    .split(/\n(?=\d)/u)
    .map((text) => [rowOf(text).code, rowOf(text)]),
);

export const documentedCodes: readonly string[] = [...rows.keys()];

const notThere = "not-there";

function meaningFrom({ meaning, alert, token, ...row }: Row, endpoint: EndpointId): CodeMeaning {
  const [, effect = row.effect, cure = row.cure] =
    row.others.find(([of, other]) => of === endpoint && other !== notThere) ?? [];
  const known = { effect: oneOf(effects, effect), meaning, cure, listed: true, alert };
  return token === undefined || effect !== "refresh-token" ? known : { ...known, token };
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

const table = new Map<string, CodeMeaning>(
  endpointIds.flatMap((endpoint) =>
    endpoints[endpoint].codes.flatMap((code) => {
      const row = rows.get(code);
      return row === undefined ? [] : [[`${endpoint} ${code}`, meaningFrom(row, endpoint)]];
    }),
  ),
);

export function isListed(code: string, endpoint: string): boolean {
  return table.has(`${endpoint} ${code}`);
}

/** A code that the contract does not list here is never guessed: `unknown`. `tokenCodes`: from the settings (A2). */
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

export function refusalOf(code: string): Pick<Row, "scope" | "field"> {
  return rows.get(code) ?? { scope: "record" };
}

/** Whether an unseen success would also explain this rejection, so that a reading decides. The call changed nothing. */
export function refusedUnlessThere(code: string | null, endpoint: EndpointId): boolean {
  return code !== null && meaningOf(code, endpoint).effect === "settle";
}

export function settledCure(code: string, endpoint: EndpointId): string | undefined {
  return rows.get(code)?.others.find(([of, other]) => of === endpoint && other === notThere)?.[2];
}
