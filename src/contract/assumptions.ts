import { requiredBefore } from "./assumption-settings.ts";
import type { EndpointId } from "./endpoints.ts";

export type AssumptionId = `A${number}`;

export interface Assumption {
  id: AssumptionId;
  /** An assumption is about the services, which can contradict it. A choice is ours. */
  kind: "assumption" | "choice";
  question: string;
  default: string;
  decidedBy: { setting: string } | "fixed";
  contradictedBy: string;
  stops: string;
  requiredBefore: EndpointId[];
}

const nothing = "nothing";

export const cannotBeSeen = "cannot be seen: ";

/** Rows: id and settings (without `assumptions.`), question, default, contradiction, effect. Indented: continued. */
const table = `
A1
Which business codes come with HTTP 200 and which with 299? Does code 0 ever come with 299?
Default: Success is HTTP 200 with code 0 and fitting data; a known error code counts in either status; anything else
  leaves a write unknown and fails a read
Against: code 0 under HTTP 299. Stops: nothing: the outcome is read
A2 orderService.tokenCodes, memberCenter.tokenCodes
Which codes come with a bad or expired token, a missing scope, and a nonce that was used before?
Default: None are known; HTTP 401 and the codes in tokenCodes refresh the token; an unlisted code met for three
  customers within five minutes stops calls to that service
Against: a code that the contract does not list. Stops: nothing yet: after three customers with such a code, crm-sync
  stops all calls to the service
A3
Where a call answers 500 (network error, retry), may it have been carried out all the same?
Default: Reads are tried again; writes that set a state (E4, E6, E7, M2) are sent again with the same value; the
  program settles other writes by reading; M3 waits for a person
Against: cannot be seen: no outcome is assumed: it is read, or the same value is sent again, whatever became of the
  first call. Stops: nothing
A4
Form of g_nonce
Default: 32 hexadecimal characters, new for every attempt, never used to recognise a repetition
A5 orderService.tokens, memberCenter.tokens
How are the tokens requested (address, form of the call), and how long does each live?
Default: From the environment, a file, a command or an OAuth2 token endpoint; one refresh for all callers, one
  repetition, then stop
Against: cannot be seen: a token that is refused once more after it was renewed stops the calls, and no answer says
  for what. Stops: nothing
A6 memberCenter.tokens.clientToken
Whether Authorization and clientToken hold the same token
Default: They do
A7 memberCenter.tokens.userTokens
Whose userToken is used
Default: One for all enterprises, and others by enterprise; what such an account cannot see (60017) is never taken for
  absent
A8 channelCustomerIdTemplate
Is the channelCustomerId of E3 and E5 the crmCustomerId that E2 was given?
Default: They are equal; confirmed once E3 has shown an enterprise that E2 created
Against: an enterprise that E2 made and E3 does not show over the settle time. Stops: E2
A9 channelCode
Under which channelCode does E3 show a customer that E2 created?
Default: The own channel code and the further ones are searched
Against: E3 shows an enterprise that E2 made under another one. Stops: nothing
A10
What happens where E1 or E2 is sent twice for the same customer?
Default: Neither is repeated: E3 is read first, and one intent at a time is written down per customer
Against: two enterprises after one call. Stops: E1 and E2
A11 enterpriseCreation, boundEnterpriseUpdate
Whether an enterprise is created by E2 or bound by E1
Default: Created by E2; one that E1 bound gets no E4
A12 customerSelection
Which of an enterprise's two customers (default or industry-information) takes orders of which licenseType?
Default: The default one; without exactly one hit the order is blocked
Against: 13004 that names customerId. Stops: E5 of that licence type
A13 nullEnterprises
How does E3 answer where there is no such customer: an empty list, null, or an error code?
Default: An empty list; null or no data is ambiguous, and nothing is made on it; 13004 is an error
Against: null or no data of E3. Stops: nothing more than E2 of the customer that was read
A14 emptyAddress
What does E4 do where the address is left out, or empty? Can name, branch and address be read anywhere?
Default: The address is left out; drift compares with the last acknowledged value, and the field is shown as not
  observable
Against: 13004 of an E4 that names the address. Stops: E4 without an address
A15 syncMode
How does the result of an asynchronous E5 come, and after how long may it be taken for failed?
Default: Orders are placed synchronously; asynchronous ones count once M6 or E8, and M7, show them
Against: an E5 that was answered as taken and is not shown in time. Stops: asynchronous E5
A16 channelOrderIdTemplate, amendmentOrderIdTemplate
Is an E5 applied whole or not at all, how many orders may it hold, and what if a channelOrderId is sent again?
Default: One CRM order is one call with all its licence groups and is never split
Against: some products of an E5 shown over the settle time and others never, or an order in two licence orders. Stops:
  E5 of several records
A17 sequenceBase
Is the sequence in E5's answer the one that was sent, and does it count from 1?
Default: 1
Against: as many other sequences come back. Stops: E5
A18 deleteShape
What delete orders may leave out
Default: Everything that the contract does not list for them
A19 cloudTypes
Which licenseTypes count as cloud authorization, so that a deletion has to name srcLicenseOrderId?
Default: cloud_account, cloud_customer and cloud_personal
Against: 13004 of a deletion that names srcLicenseOrderId. Stops: deletions of that licence type
A20 timeCodecs
Which unit and time zone do the Long, Integer and Date times have, in requests and in answers?
Default: None is assumed: each kind of time that is used needs its unit; times outside 2000–2100 are refused
Against: 13004 that names a time. Stops: E5 with such a time
A21 sentinels
What should required trial and limit fields hold where they do not apply?
Default: None is assumed: each such field needs its value
Against: 13004 that names the field. Stops: E5 with that field
A22 timeUnits, productTypes
Which words do timeUnit and productType take, and what does the y-m-d expression mean exactly?
Default: None are assumed: both lists are needed; another word is quarantined; expression, unit and limits must agree
Against: 13004 that names timeUnit or productType. Stops: E5 with that word
A23 packageProducts, packageOnly
Are a package's products repeated in the asset's? What does the asset list if it holds packages only?
Default: They are not; an asset that holds packages only is blocked
Against: 13004 that names products, merchandises or licenseOrderProductList. Stops: packages in E5
A24 rootParentMerchandiseNum
What are parentCrmProductId and parentMerchandiseNum of a package directly under an asset?
Default: Its parent instance is the asset's CRM instance; its parent number has no default
Against: 13004 that names parentCrmProductId or parentMerchandiseNum. Stops: packages in E5
A25 assetNumberTemplates
Is an asset number exactly the digits of E9, or does it have a prefix? How many numbers can one E9 ask for?
Default: The digits alone, 100 a call, starting with 8 or 6; unused ones are kept
Against: other digits of E9. Stops: E9, and orders that need new numbers
A26
What does E6 answer for a lock that is disabled already, and E7 for one that is enabled?
Default: Repeating does no harm; the status of every lock is kept: 2 is a data problem, 3 is tried later, 4 is permanent
Against: status 2 or 4 for a lock that was switched before. Stops: nothing
A27 staffPage
Does M5 count pages from 0 or 1, how large can pageSize be, and is the order of rows stable?
Default: Page 1, 50 rows; rows, total and distinct ids must agree, or nothing is removed
Against: three lists in a row that do not agree. Stops: removals in that enterprise
A28
How does M5 match its keyword, and does it know account names with the enterprise code?
Default: The keyword is not used; names are compared bare and with the code; two hits block
Against: two members of staff that fit one account name. Stops: nothing
A29 enterpriseCodeMaxLength
Where can the enterprise code be read that is appended to account names, and can it change?
Default: Learned from added staff; until then 20 characters are assumed
Against: two endings in one M1. Stops: M1 for that customer
A30 passwordSource
Length and delivery of passwords
Default: Generated and sealed; without a key for sealing M1 is blocked
A31 lengthUnit
Do the limits of 30 and 200 count characters or bytes?
Default: Characters; nothing is cut to fit
Against: 30002 or 30003 within the limits. Stops: nothing
A32 defaultDepartmentId
Department of staff: optional, yet there is an error for an empty one
Default: Left out where the CRM has none
A33
Is M9 applied whole or not at all, and does it revoke before it assigns?
Default: Revokes first, then grants, read in between; after 60024, 60026 and 60028 the program reads the state
Against: an M9 that is still shown in part after the settle time. Stops: nothing
A34
Which of M5.assetNums and M6 is right where they disagree, and for how long may they?
Default: Reported and not acted on
Against: M5 and M6 disagree. Stops: nothing
A35
Can two staff members hold one asset number at the same time?
Default: They cannot: a number moves in two steps; after a crash between them the next run completes the second
Against: a number with two holders. Stops: grants of that number
A36
Does M5 list deleted staff, and does M4 answer 60002 for a deleted account?
Default: Deleted rows count as absent, and 60002 on M4 as done
Against: 60002 for a member whom M5 goes on showing. Stops: M4
A37 orderService.callsPerSecond, orderService.callsAtOnce, memberCenter.callsPerSecond, memberCenter.callsAtOnce
Rates that the services bear
Default: 2 calls at once and 5 a second for each service, less when it complains
A38
What do the fields of unknown shape hold (boundUserInfo, assetLimits, productExtendInstanceList)?
Default: Accepted and kept, without any logic on them; unknown fields are reported once
Against: cannot be seen: whatever comes is accepted and kept, and nothing is done on it. Stops: nothing
A39
Does a new_buy of a cloud licenseType need a srcLicenseOrderId, and which?
Default: Left out; blocked if the service answers 13004
Against: 13004 that names srcLicenseOrderId. Stops: new_buy of that cloud type
A40 operatorIdentity
operatorIdentity of E6 and E7
Default: None: the name of a role is needed
A41 clearedStaffFields, leftOutStaffFields
Does M2 clear fields that are left out, and does it want the userName with or without the enterprise code?
Default: All known fields are sent, with the bare name
Against: M5 shows otherwise what an accepted M2 had said. Stops: M2 in that enterprise
A42
What becomes of a package when one of its products is deleted?
Default: Held for a person
Against: cannot be seen: nothing is assumed of the rest of the package: a person looks at each such removal. Stops:
  nothing
A43 visibleLicenseTypes, emptyAssets
Which licenseTypes does M6 list, and does M7 show an asset that holds nothing?
Default: Learned: a type it never showed is not observable, never missing; nor does an asset without anything in it
  prove that an order is missing
Against: none shown a settle time after one was bought, of a type that the settings call visible. Stops: sending an
  unseen order of the type again, and deletions of the type
`;

function rowOf(text: string): Assumption {
  const [head = "", question = "", standard = "", against] = text.replaceAll("\n  ", " ").trimEnd().split("\n");
  const [, id = "", settings = ""] = /^A(\d+) ?(.*)$/u.exec(head) ?? [];
  const setting = settings.replaceAll(/(?<![\w.])\w+(?=,|$)/gu, "assumptions.$&");
  const [, contradictedBy = nothing, stops = nothing] = /^Against: (.*)\. Stops: (.*)$/u.exec(against ?? "") ?? [];
  return {
    id: `A${Number(id)}`,
    kind: against === undefined ? "choice" : "assumption",
    question,
    default: standard.replace("Default: ", ""),
    decidedBy: setting === "" ? "fixed" : { setting },
    contradictedBy,
    stops,
    requiredBefore: requiredBefore(`A${id}`),
  };
}

export const assumptions: readonly Assumption[] = table
  .trimStart()
  .split(/\n(?=A\d)/u)
  .map(rowOf);

export function stopsSomething(id: AssumptionId): boolean {
  return assumptions.some((row) => row.id === id && !row.stops.startsWith(nothing));
}

export function serviceOf(id: AssumptionId): "order service" | "member-center" | "both services" {
  const number = Number(id.slice(1));
  if (number <= 7 || number === 37 || number === 38) return "both services";
  const isOfMembers = (number >= 27 && number <= 36) || number === 41 || number === 43;
  return isOfMembers ? "member-center" : "order service";
}
