import { exitCodes, Problem } from "../base/errors.ts";
import type { RecordKey } from "../crm/model.ts";
import { customerNumbers } from "../engine/plan/input.ts";
import type { ShownLink, Standing } from "../ledger/state/desks.ts";
import { underRunLock, type Application } from "../operate/application.ts";
import { SnapshotReader, type ShownEnterprise } from "../platform/snapshot.ts";
import { refused, requireCustomer } from "./requests.ts";

export interface LinkRequest {
  customer: RecordKey;
  enterprise: string;
  channelCustomerId: string | undefined;
  reason: string;
  by: string;
}

export interface Linked {
  customer: RecordKey;
  enterpriseGlobalId: string;
  channelCode: string;
  channelCustomerId: string;
  members: number;
  /** Only the number changed; facts of the enterprise stay. */
  renumbered: boolean;
  /** The CRM's number, if different: changes of the customer wait until both agree. */
  numberInCrm?: string;
}

/** Throws a Problem if the customer cannot be linked (64) or the platform cannot be read (7). */
export async function linkByHand(
  application: Application,
  request: LinkRequest,
  { dryRun, signal }: { dryRun: boolean; signal: AbortSignal },
): Promise<Linked> {
  return await underRunLock(application, async () => {
    const { customer } = request;
    const ledger = await application.ledger();
    await requireCustomer(ledger, customer);
    const { members, numberInCrm, ...shown } = await shownLink(application, request, signal);
    const before = dryRun
      ? await ledger.links.requireLinkable(customer, shown)
      : await ledger.links.link(customer, shown, request);
    const { customers: _, ...link } = shown;
    const other = numberInCrm === link.channelCustomerId ? {} : { numberInCrm };
    return { customer, ...link, members, renumbered: before !== undefined, ...other };
  });
}

/** Throws a Problem if unlinking is not allowed (64). */
export async function unlinkByHand(
  application: Application,
  request: { customer: RecordKey; reason: string; by: string; keepOrders: boolean },
): Promise<Standing & { customer: RecordKey; enterpriseGlobalId: string }> {
  return await underRunLock(application, async () => {
    const ledger = await application.ledger();
    await requireCustomer(ledger, request.customer);
    return { customer: request.customer, ...(await ledger.links.unlink(request.customer, request)) };
  });
}

async function shownLink(
  application: Application,
  { customer, enterprise, channelCustomerId: given }: LinkRequest,
  signal: AbortSignal,
): Promise<ShownLink & { members: number; numberInCrm: string }> {
  const { ledger, platform, settings } = await application.runDependencies();
  const { desiredCustomer } = ledger.state.load(customer);
  const inCrm = desiredCustomer?.body.channelCustomerId;
  const { channelCustomerId } = customerNumbers(customer, given ?? inCrm, settings);
  const { channelCustomerId: numberInCrm } = customerNumbers(customer, inCrm, settings);
  const snapshot = new SnapshotReader(platform, settings).of(customer, signal);
  const { enterprises, ambiguous } = await snapshot.lookUp(channelCustomerId);
  if (enterprises === undefined) throw unclear(ambiguous ?? "");
  const found = enterprises.find((item) => item.enterpriseGlobalId === enterprise);
  if (found === undefined) throw notShown(enterprise, channelCustomerId, enterprises);
  const members = await snapshot.members(enterprise);
  const channelCode = found.customers[0]?.channelCode ?? settings.channelCode ?? "";
  const { customers } = found;
  const shown = { enterpriseGlobalId: enterprise, channelCode, channelCustomerId, customers };
  return { ...shown, members: members.length, numberInCrm };
}

function unclear(why: string): Problem {
  return new Problem({
    code: "link.unclear",
    message: `nothing was linked, because the platform (E3) does not show clearly which enterprises exist: ${why}`,
    cure: "ask the provider of the order service about this answer, then run the command again",
    exitCode: exitCodes.sourceDown,
  });
}

function notShown(enterprise: string, number: string, shown: readonly ShownEnterprise[]): Problem {
  const others = shown.map((item) => item.enterpriseGlobalId).join(", ");
  return refused(
    "link.not-shown",
    `nothing was linked: under the channel customer number ${number}, the platform (E3) does not show the ` +
      `enterprise ${JSON.stringify(enterprise)}, but ${others === "" ? "no enterprise" : others}`,
    "correct the enterprise id, or give the channel customer number that it has on the platform: " +
      "--channel-customer-id NUMBER",
  );
}
