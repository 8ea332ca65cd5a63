import type { OperationFacts } from "./facts.ts";
import { printable } from "./text.ts";

/** What a person needs to find out whether a call was carried out. Ids and numbers only: nothing private of anybody. */
export interface LookFor {
  what: string;
  where: string;
  whom: string;
}

const orderDesk = "the service desk of the order service";
const memberDesk = "the service desk of the member-center";
const mostShown = 10;

/** What to look for on the platform, where, and whom to ask, in plain words; undefined where nothing has to be found out. */
export function lookForOf(
  row: Pick<OperationFacts, "kind" | "context" | "target" | "payload" | "records">,
): LookFor | undefined {
  const { context } = row;
  const enterprise = textAt(context, "enterpriseGlobalId") ?? textAt(row.target, "enterpriseGlobalId");
  const within = enterprise === undefined ? "the customer's enterprise" : `the enterprise ${enterprise}`;
  switch (row.kind) {
    case "place-order": {
      const order = textAt(context, "channelOrderId") ?? textAt(row.payload, "channelOrderId") ?? "(not known)";
      return {
        what: `an order with the channel order number ${order}, or one of its asset numbers: ${some(numbersOf(context))}`,
        where: `back office of the order service, orders of ${within}; M6 and E8 show its asset numbers, M7 of such an asset shows the channel order number`,
        whom: orderDesk,
      };
    }
    case "create-enterprise":
    case "bind-enterprise":
      return {
        what: `an enterprise with the channel customer number ${textAt(context, "channelCustomerId") ?? "(not known)"}`,
        where: "back office of the order service, customers by channel customer number; E3 shows it",
        whom: orderDesk,
      };
    case "update-enterprise":
      return {
        what: `name, branch and address of ${within}, which should be as the CRM has them`,
        where: "back office of the order service, the enterprise's own page; no call shows them",
        whom: orderDesk,
      };
    case "add-staff":
      return {
        what: `accounts of the staff records ${some(row.records.map(({ key }) => `${key.namespace}/${key.id}`))}; the CRM has their user names, the platform appends the enterprise's code`,
        where: `back office of the member-center, staff of ${within}; M5 shows them`,
        whom: memberDesk,
      };
    case "grant-assets":
    case "revoke-assets":
      return {
        what: `who holds the asset numbers ${some([...listAt(context, "addAssets"), ...listAt(context, "deleteAssets")])}; the call was about the member ${textAt(context, "memberGlobalId") ?? "(not known)"}, who ${row.kind === "grant-assets" ? "should have got" : "should have lost"} them`,
        where: `back office of the member-center, assets of ${within}; M6 shows who holds each`,
        whom: memberDesk,
      };
    default:
      return undefined;
  }
}

/** The same as lines for people. */
export function lookForLines(row: Parameters<typeof lookForOf>[0]): string[] {
  const found = lookForOf(row);
  if (found === undefined) return [];
  return [`look for   ${printable(found.what)}`, `where      ${printable(found.where)}`, `ask        ${found.whom}`];
}

function textAt(object: OperationFacts["context"], key: string): string | undefined {
  const value = object[key];
  return typeof value === "string" && value !== "" ? value : undefined;
}

function listAt(object: OperationFacts["context"], key: string): string[] {
  const value = object[key];
  return Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
}

/** Asset numbers of an order's records. */
function numbersOf(context: OperationFacts["context"]): string[] {
  const { records } = context;
  if (!Array.isArray(records)) return [];
  return records.flatMap((item) =>
    typeof item === "object" && item !== null && !Array.isArray(item) ? listAt(item, "numbers") : [],
  );
}

function some(items: readonly string[]): string {
  if (items.length === 0) return "(none known)";
  const more = items.length - mostShown;
  return more > 0 ? `${items.slice(0, mostShown).join(", ")} and ${more} more` : items.join(", ");
}
