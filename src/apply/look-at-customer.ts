import type { RecordKey } from "../crm/model.ts";
import type { Observed } from "../engine/plan/input.ts";
import type { Link } from "../resources/enterprise/state/link.ts";
import { channelNumberOf } from "./channel-number.ts";
import { CustomerPlanning } from "./customer-planning.ts";
import type { PlanningDependencies } from "./customer-planning.ts";
import { CustomerState } from "./customer-state.ts";
import { amendmentsOf } from "./shown-amendments.ts";

/** What looking at one customer showed, before any order of the ledger that is built anew counts as placed. */
export interface Looked {
  /** Why an order may stand there that was not seen; undefined where all was. */
  unread: string | undefined;
  /** Orders are shown that are not the customer's in the CRM: they may have moved away. */
  hasOthers: boolean;
}

/**
 * Links a customer with the enterprise that the platform shows for it, and keeps all orders that this one shows, whose
 * ever they are in the CRM. Throws where the platform cannot be read.
 */
export async function lookAtCustomer(
  deps: PlanningDependencies,
  customer: RecordKey,
  signal: AbortSignal | undefined,
): Promise<Looked> {
  const knows = new CustomerState(deps, customer);
  const planning = await look(deps, knows, signal);
  const { link } = await knows.known();
  const unread = whyUnread(link, planning.observed);
  return { unread, hasOthers: link !== undefined && (await showsOthers(deps, knows)) };
}

/**
 * The same before a run places anything, for a customer who has no enterprise yet. Answers whether the platform shows
 * one; undefined where something of the customer is in doubt, so that its attempt comes first. Throws where the
 * platform cannot be read.
 */
export async function isThereAlready(
  deps: PlanningDependencies,
  customer: RecordKey,
  signal: AbortSignal | undefined,
): Promise<boolean | undefined> {
  const knows = new CustomerState(deps, customer);
  if ((await knows.begin()).open) return undefined;
  await look(deps, knows, signal);
  return (await knows.known()).link !== undefined;
}

async function look(
  deps: PlanningDependencies,
  knows: CustomerState,
  signal: AbortSignal | undefined,
): Promise<CustomerPlanning> {
  const planning = new CustomerPlanning(deps, knows, { thorough: false, signal, takingBlocked: undefined });
  await planning.look();
  return planning;
}

function whyUnread(link: Link | undefined, { enterprises, ambiguous }: Observed): string | undefined {
  if (link !== undefined)
    return link.examined || link.origin === "created"
      ? undefined
      : "has assets in which M7 shows neither a product nor a package (A43)";
  if (enterprises?.length === 0) return undefined;
  if (ambiguous !== undefined) return `is not known to have an enterprise or none: ${ambiguous}`;
  if (enterprises !== undefined) return "is linked with none of the enterprises that E3 shows for it";
  return "has no record in the CRM that can be used, so that its enterprise was not looked for";
}

async function showsOthers({ ledger, settings }: PlanningDependencies, knows: CustomerState): Promise<boolean> {
  const { customer, orders } = await knows.loaded();
  const own = new Set<string>();
  const amendments = orders.map((order) => {
    const channelOrderId = channelNumberOf({ settings }, order);
    own.add(channelOrderId);
    return amendmentsOf(settings, { order: order.key, channelOrderId });
  });
  const numbers = await ledger.state.shownNumbers(customer);
  return numbers.some((number) => !own.has(number) && amendments.every((nOf) => nOf(number) === undefined));
}
