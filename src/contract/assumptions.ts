import type { EndpointId } from "./endpoints.ts";
import { endpointsThatNeed } from "./required.ts";

/**
 * What the contracts leave open. An assumption is about the services and can be contradicted by reality; a choice is
 * ours.
 */
export interface Assumption {
  /** `A1` to `A43`. */
  id: string;
  kind: "assumption" | "choice";
  title: string;
  /** What holds unless it is set otherwise. */
  default: string;
  /**
   * Where it is decided: a key of the settings, `fixed` in the program, or `not built yet` with what happens instead.
   */
  decidedBy: { setting: string } | "fixed" | { notBuiltYet: string };
  /** Operations that are blocked while a setting of this row has no value. */
  requiredBefore: EndpointId[];
}

const choices = new Set(["A4", "A6", "A7", "A11", "A18", "A30", "A32", "A37", "A40"]);

function row(id: string, title: string, standard: string, decidedBy: Assumption["decidedBy"]): Assumption {
  return {
    id,
    kind: choices.has(id) ? "choice" : "assumption",
    title,
    default: standard,
    decidedBy,
    requiredBefore: endpointsThatNeed(id),
  };
}

const setting = (key: string): { setting: string } => ({ setting: key });
const notBuiltYet = (instead: string): { notBuiltYet: string } => ({ notBuiltYet: instead });

/** A1–A43. */
export const assumptions: readonly Assumption[] = [
  row(
    "A1",
    "Which of HTTP 200 and 299 goes with which code",
    "Success is HTTP 200 with code 0 and fitting data; a known error code counts " +
      "in either status; anything else leaves a write unknown and fails a read",
    "fixed",
  ),
  row(
    "A2",
    "Codes of the order service for bad tokens, scopes and nonces",
    "None are known; HTTP 401 and the codes in tokenCodes refresh the token; an unlisted " +
      "code met for three customers within five minutes stops calls to that service",
    setting("orderService.tokenCodes, memberCenter.tokenCodes"),
  ),
  row(
    "A3",
    'Whether a call that met "500: network error, retry" was applied',
    "Reads are tried again; writes that set a state (E4, E6, E7, M2) are sent again " +
      "with the same value; other writes are settled by reading; M3 waits for a person",
    "fixed",
  ),
  row(
    "A4",
    "Form of g_nonce",
    "32 hexadecimal characters, new for every attempt, never used to recognise a repetition",
    "fixed",
  ),
  row(
    "A5",
    "How tokens are obtained and how long they live",
    "From the environment, a file, a command or an OAuth2 token " +
      "endpoint; one refresh for all callers, one repetition, then stop",
    setting("orderService.tokens, memberCenter.tokens"),
  ),
  row(
    "A6",
    "Whether Authorization and clientToken hold the same token",
    "They do",
    setting("memberCenter.tokens.clientToken"),
  ),
  row(
    "A7",
    "Whose userToken is used",
    "One for all enterprises, and others by enterprise; what " +
      "such an account cannot see (60017) is never taken for absent",
    setting("memberCenter.tokens.userTokens"),
  ),
  row(
    "A8",
    "How crmCustomerId and channelCustomerId belong together",
    "They are equal; confirmed once E3 has shown an enterprise that E2 created",
    setting("assumptions.channelCustomerIdTemplate"),
  ),
  row(
    "A9",
    "Channel code of a customer that E2 created",
    "The own channel code and the further ones are searched",
    setting("assumptions.channelCode"),
  ),
  row(
    "A10",
    "Whether E1 and E2 may be repeated",
    "They may not: E3 is read first, and one intent at a time is written down per customer",
    "fixed",
  ),
  row(
    "A11",
    "Whether an enterprise is created by E2 or bound by E1",
    "Created by E2; one that E1 bound gets no E4",
    setting("assumptions.enterpriseCreation, assumptions.boundEnterpriseUpdate"),
  ),
  row(
    "A12",
    "Which customer of an enterprise takes an order",
    "The default one; without exactly one hit the order is blocked",
    setting("assumptions.customerSelection"),
  ),
  row(
    "A13",
    "How E3 says that there is none",
    "An empty list; null or no data is ambiguous, and nothing is made on it; 13004 is an error",
    setting("assumptions.nullEnterprises"),
  ),
  row(
    "A14",
    "What E4 does with an empty address, which nothing reads back",
    "The address is left out; drift is judged by what was acknowledged last and shown as not observable",
    setting("assumptions.emptyAddress"),
  ),
  row(
    "A15",
    "How the result of an asynchronous E5 comes",
    "Orders are placed synchronously",
    notBuiltYet("syncMode: async is refused; orders are placed with sync"),
  ),
  row(
    "A16",
    "Partial batches, their size, and a channelOrderId that is repeated",
    "One CRM order is one call with all its licence groups and is never split",
    setting("assumptions.channelOrderIdTemplate"),
  ),
  row("A17", "Number of the first order record", "1", setting("assumptions.sequenceBase")),
  row(
    "A18",
    "What delete orders may leave out",
    "Everything that the contract does not list for them",
    notBuiltYet("no delete order is sent by this version"),
  ),
  row(
    "A19",
    "What a cloud authorization type is",
    "cloud_account, cloud_customer and cloud_personal",
    notBuiltYet("no delete order is sent by this version"),
  ),
  row(
    "A20",
    "Units of times",
    "None is assumed: each kind of time that is used needs its unit; times outside 2000–2100 are refused",
    setting("assumptions.timeCodecs"),
  ),
  row(
    "A21",
    "What required trial and limit fields hold where they do not apply",
    "None is assumed: each such field needs its value",
    setting("assumptions.sentinels"),
  ),
  row(
    "A22",
    "Words of timeUnit and productType, form of a term",
    "None are assumed: both lists are needed; another word is quarantined; expression, unit and limits must agree",
    setting("assumptions.timeUnits, assumptions.productTypes"),
  ),
  row(
    "A23",
    "Whether the products of a package are repeated in the products of the asset",
    "They are not; an asset that holds packages only is blocked",
    setting("assumptions.packageProducts, assumptions.packageOnly"),
  ),
  row(
    "A24",
    "Parents of a package directly under an asset",
    "Its parent instance is the asset's CRM instance; its parent number has no default",
    setting("assumptions.rootParentMerchandiseNum"),
  ),
  row(
    "A25",
    "Whether an asset number is a prefix and the digits of E9, and how many come at once",
    "The digits alone, 100 a call, starting with 8 or 6; unused ones are kept",
    setting("assumptions.assetNumberTemplates"),
  ),
  row(
    "A26",
    "Locking or unlocking a lock twice",
    "Does no harm; the status of every lock is kept: 2 is a data problem, 3 is tried later, 4 is permanent",
    setting("assumptions.operatorIdentity"),
  ),
  row(
    "A27",
    "First page, page size and stability of M5",
    "Page 1, 50 rows; rows, total and distinct ids must agree, or nothing is taken away",
    setting("assumptions.staffPage"),
  ),
  row(
    "A28",
    "How M5 matches its keyword",
    "The keyword is not used; names are compared bare and with the code; two hits block",
    "fixed",
  ),
  row(
    "A29",
    "The enterprise code, which no operation returns",
    "Learned from added staff; until then 20 characters are assumed",
    setting("assumptions.enterpriseCodeMaxLength"),
  ),
  row(
    "A30",
    "Length and delivery of passwords",
    "Generated and sealed; without a key for sealing M1 is blocked",
    setting("assumptions.passwordSource"),
  ),
  row(
    "A31",
    "Whether the limits of 30 and 200 count characters or bytes",
    "Characters; nothing is cut to fit",
    setting("assumptions.lengthUnit"),
  ),
  row(
    "A32",
    "Department of staff: optional, yet there is an error for an empty one",
    "Left out where the CRM has none",
    setting("assumptions.defaultDepartmentId"),
  ),
  row(
    "A33",
    "Order and atomicity of M9",
    "Revokes first, then grants, read in between; 60024, 60026 and 60028 are settled by reading",
    "fixed",
  ),
  row("A34", "M5 and M6 disagree about who holds a number", "Reported and not acted on", "fixed"),
  row(
    "A35",
    "Moving a number from one staff member to another",
    "Two steps; what a crash leaves between them is completed by the next run",
    "fixed",
  ),
  row("A36", "Staff rows marked as deleted, and 60002 on M4", "Absent; done already", "fixed"),
  row(
    "A37",
    "Rates that the services bear",
    "2 calls at once and 5 a second for each service, less when it complains",
    setting("callsPerSecond and callsAtOnce of orderService and memberCenter"),
  ),
  row(
    "A38",
    "Shapes that the contracts do not show",
    "Accepted and kept, without any logic on them; unknown fields are reported once",
    "fixed",
  ),
  row(
    "A39",
    "srcLicenseOrderId on a new purchase of a cloud type",
    "Left out; blocked if the service answers 13004",
    "fixed",
  ),
  row(
    "A40",
    "operatorIdentity of E6 and E7",
    "None: the name of a role is needed",
    notBuiltYet("locks are neither disabled nor enabled by this version"),
  ),
  row(
    "A41",
    "Whether M2 clears fields that are left out, and which account name it wants",
    "All known fields are sent, with the bare name",
    notBuiltYet("changed staff are shown as deferred; M2 is not sent by this version"),
  ),
  row(
    "A42",
    "Deleting a product that is part of a package",
    "Held for a person",
    notBuiltYet("changed and cancelled orders are shown as deferred; no delete order is sent by this version"),
  ),
  row(
    "A43",
    "Licence types that M6 shows",
    "Learned: a type it never showed is not observable, never missing; nor " +
      "does an asset without anything in it prove that an order is missing",
    setting("assumptions.visibleLicenseTypes, assumptions.emptyAssets"),
  ),
];
