import type { AssumptionId } from "./row.ts";

/** How a row of A1–A43 meets reality, and what is asked about it. Of a choice of ours nothing can be contradicted. */
export interface RowEvidence {
  contradictedBy: string;
  /** What a contradiction stops. */
  stops: string;
  /** The question as it is sent to the services' owner. */
  letter: string;
}

const nothing = "nothing";

/** How the text begins of what no answer and no reading can contradict, before why. */
export const cannotBeSeen = "cannot be seen: ";
const unshown = (why: string): string => `${cannotBeSeen}${why}`;

/** In the order of the rows: contradicted by, stops, letter. */
const texts: readonly (readonly [AssumptionId, string, string, string])[] = [
  [
    "A1",
    "code 0 under HTTP 299",
    "nothing: the outcome is read",
    "Which business codes come with HTTP 200 and which with 299? Does code 0 ever come with 299?",
  ],
  [
    "A2",
    "a code that the contract does not list",
    "nothing yet: after three customers with such a code, crm-sync stops all calls to the service",
    "Which codes come with a bad or expired token, a missing scope, and a nonce that was used before?",
  ],
  [
    "A3",
    unshown("no outcome is assumed: it is read, or the same value is sent again, whatever became of the first call"),
    nothing,
    "Where a call answers 500 (network error, retry), may it have been carried out all the same?",
  ],
  ["A4", nothing, nothing, "Is there a required form or length of g_nonce, and how long is a used one refused?"],
  [
    "A5",
    unshown("a token that is refused once more after it was renewed stops the calls, and no answer says for what"),
    nothing,
    "How are the tokens requested (address, form of the call), and how long does each live?",
  ],
  ["A6", nothing, nothing, "Are the Authorization token and the clientToken of the member-center the same token?"],
  ["A7", nothing, nothing, "Whose userToken is expected: one account for all enterprises, or one of each enterprise?"],
  [
    "A8",
    "one that it does not show over the settle time",
    "E2",
    "Is the channelCustomerId of E3 and E5 the crmCustomerId that E2 was given?",
  ],
  [
    "A9",
    "it shows an enterprise that E2 made under another one",
    nothing,
    "Under which channelCode does E3 show a customer that E2 created?",
  ],
  [
    "A10",
    "two enterprises after one call",
    "E1 and E2",
    "What happens where E1 or E2 is sent twice for the same customer?",
  ],
  ["A11", nothing, nothing, "Are our customers to be created with E2, or bound with E1?"],
  [
    "A12",
    "13004 that names customerId",
    "E5 of that licence type",
    "Which of an enterprise's two customers (default or industry-information) takes orders of which licenseType?",
  ],
  [
    "A13",
    "null or no data of E3",
    "nothing more than E2 of the customer that was read",
    "How does E3 answer where there is no such customer: an empty list, null, or an error code?",
  ],
  [
    "A14",
    "13004 of it that names the address",
    "E4 without an address",
    "What does E4 do where the address is left out, or empty? Can name, branch and address be read anywhere?",
  ],
  [
    "A15",
    "one that was answered as taken and is not shown by then",
    "asynchronous E5",
    "How does the result of an asynchronous E5 come, and after how long may it be taken for failed?",
  ],
  [
    "A16",
    "some products of an E5 shown over the settle time and others never, or an order in two licence orders",
    "E5 of several records",
    "Is an E5 applied whole or not at all, how many orders may it hold, and what if a channelOrderId is sent again?",
  ],
  [
    "A17",
    "as many others come back",
    "E5",
    "Is the sequence in E5's answer the one that was sent, and does it count from 1?",
  ],
  ["A18", nothing, nothing, "Which fields may delete_asset and delete_product leave out?"],
  [
    "A19",
    "13004 of one that names srcLicenseOrderId",
    "deletions of that licence type",
    "Which licenseTypes count as cloud authorization, so that a deletion has to name srcLicenseOrderId?",
  ],
  [
    "A20",
    "13004 that names a time",
    "E5 with such a time",
    "Which unit and time zone do the Long, Integer and Date times have, in requests and in answers?",
  ],
  [
    "A21",
    "13004 that names the field",
    "E5 with that field",
    "What should required trial and limit fields hold where they do not apply?",
  ],
  [
    "A22",
    "13004 that names timeUnit or productType",
    "E5 with that word",
    "Which words do timeUnit and productType take, and what does the y-m-d expression mean exactly?",
  ],
  [
    "A23",
    "13004 that names products, merchandises or licenseOrderProductList",
    "packages in E5",
    "Are a package's products repeated in the asset's? What does the asset list if it holds packages only?",
  ],
  [
    "A24",
    "13004 that names parentCrmProductId or parentMerchandiseNum",
    "packages in E5",
    "What are parentCrmProductId and parentMerchandiseNum of a package directly under an asset?",
  ],
  [
    "A25",
    "other digits of E9",
    "E9, and orders that need new numbers",
    "Is an asset number exactly the digits of E9, or does it have a prefix? How many numbers can one E9 ask for?",
  ],
  [
    "A26",
    "status 2 or 4 for one",
    nothing,
    "What does E6 answer for a lock that is disabled already, and E7 for one that is enabled?",
  ],
  [
    "A27",
    "three lists in a row that do not",
    "removals in that enterprise",
    "Does M5 count pages from 0 or 1, how large can pageSize be, and is the order of rows stable?",
  ],
  [
    "A28",
    "two members of staff that fit one account name",
    nothing,
    "How does M5 match its keyword, and does it know account names with the enterprise code?",
  ],
  [
    "A29",
    "two endings in one M1",
    "M1 for that customer",
    "Where can the enterprise code be read that is appended to account names, and can it change?",
  ],
  ["A30", nothing, nothing, "Which bounds does a password have?"],
  ["A31", "30002 or 30003 within the limits", nothing, "Do the limits of 30 and 200 count characters or bytes?"],
  ["A32", nothing, nothing, "Is departmentId required (40009), and how is the top department named?"],
  [
    "A33",
    "an M9 that is still shown in part after the settle time",
    nothing,
    "Is M9 applied whole or not at all, and does it revoke before it assigns?",
  ],
  [
    "A34",
    "they disagree",
    nothing,
    "Which of M5.assetNums and M6 is right where they disagree, and for how long may they?",
  ],
  [
    "A35",
    "a number with two holders",
    "grants of that number",
    "Can two staff members hold one asset number at the same time?",
  ],
  [
    "A36",
    "60002 for a member whom M5 goes on showing",
    "M4",
    "Does M5 list deleted staff, and does M4 answer 60002 for a deleted account?",
  ],
  ["A37", nothing, nothing, "How many calls a second, and at once, does each service bear?"],
  [
    "A38",
    unshown("whatever comes is accepted and kept, and nothing is done on it"),
    nothing,
    "What do the fields of unknown shape hold (boundUserInfo, assetLimits, productExtendInstanceList)?",
  ],
  [
    "A39",
    "13004 that names srcLicenseOrderId",
    "new_buy of that cloud type",
    "Does a new_buy of a cloud licenseType need a srcLicenseOrderId, and which?",
  ],
  ["A40", nothing, nothing, "Which operatorIdentity do you expect in E6 and E7?"],
  [
    "A41",
    "M5 shows otherwise what an accepted M2 had said",
    "M2 in that enterprise",
    "Does M2 clear fields that are left out, and does it want the userName with or without the enterprise code?",
  ],
  [
    "A42",
    unshown("nothing is assumed of the rest of the package: a person looks at each such removal"),
    nothing,
    "What becomes of a package when one of its products is deleted?",
  ],
  [
    "A43",
    "none shown a settle time after one was bought, of a type that the settings call visible",
    "sending an unseen order of the type again, and deletions of the type",
    "Which licenseTypes does M6 list, and does M7 show an asset that holds nothing?",
  ],
];

export const evidenceOfRows: ReadonlyMap<AssumptionId, RowEvidence> = new Map(
  texts.map(([id, contradictedBy, stops, letter]) => [id, { contradictedBy, stops, letter }]),
);

/** Whether a contradiction of the row stops something, so that a person has to be told of it at once. */
export function stopsSomething(id: AssumptionId): boolean {
  return evidenceOfRows.get(id)?.stops.startsWith(nothing) === false;
}

/** The service that a row is about, for the letter. */
export function serviceOf(id: AssumptionId): "order service" | "member-center" | "both services" {
  const number = Number(id.slice(1));
  if (number <= 7 || number === 37 || number === 38) return "both services";
  const isOfMembers = (number >= 27 && number <= 36) || number === 41 || number === 43;
  return isOfMembers ? "member-center" : "order service";
}
