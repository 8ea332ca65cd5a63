import type { RecordKey } from "../../crm/model.ts";
import { handedIn } from "../../engine/registry.ts";
import type { Known, OldChanges } from "../../operation/state.ts";
import type { Sqlite } from "../database/database.ts";
import { AcknowledgedRows, acknowledgedTables } from "./acknowledged.ts";
import { assumptionTables } from "./assumptions.ts";
import { ByHandRows, byHandTables } from "./by-hand.ts";
import { DifferenceRows, differenceTables } from "./differences.ts";
import { OrderStepRows, orderStepTables } from "./order-steps.ts";
import { AssetNumberRows, assetNumberTables } from "./asset-numbers.ts";
import { CorrelationRows, correlationTables } from "./correlations.ts";
import { EnterpriseCodeRows, enterpriseCodeTables } from "./enterprise-codes.ts";
import { HeldRows } from "./held.ts";
import type { Held } from "./held.ts";
import { LiveRows } from "./live.ts";
import { LicenceTypeRows, licenceTypeTables } from "./licence-types.ts";
import { LinkRows, linkTables } from "./links.ts";
import { MovedOrderRows, movedOrderTables } from "./moved-orders.ts";
import { ObservationRows, observationTables } from "./observations.ts";
import { PlacedOrderRows, placedOrderTables } from "./placed-orders.ts";
import { PlatformCustomerRows, platformCustomerTables } from "./platform-customers.ts";
import { ProtectedMemberRows, protectedMemberTables } from "./protected-members.ts";
import { ReadingRows } from "./readings.ts";
import { RequestRows, requestTables } from "./requests.ts";
import { SecretRows } from "./secrets.ts";
import { StaffLinkRows, staffLinkTables } from "./staff-links.ts";
import { UnlinkedRows, unlinkedTables } from "./unlinked.ts";
import { UnreadCustomerRows, unreadCustomerTables } from "./unread-customers.ts";

/** The tables of what is known of customers and of the platform. */
export const stateTables = {
  ...linkTables,
  ...unlinkedTables,
  ...platformCustomerTables,
  ...acknowledgedTables,
  ...placedOrderTables,
  ...movedOrderTables,
  ...assetNumberTables,
  ...staffLinkTables,
  ...protectedMemberTables,
  ...enterpriseCodeTables,
  ...requestTables,
  ...observationTables,
  ...licenceTypeTables,
  ...correlationTables,
  ...orderStepTables,
  ...byHandTables,
  ...assumptionTables,
  ...differenceTables,
  ...unreadCustomerTables,
};

/** What is kept of customers and their enterprises: a file for each thing. */
export function stateRows(database: Sqlite) {
  const unlinked = new UnlinkedRows(database);
  const differences = new DifferenceRows(database);
  const requests = new RequestRows(database);
  const resources = new Map(
    handedIn().resources.flatMap(({ name, state }) =>
      state === undefined ? [] : [[name, state.open(database)] as const],
    ),
  );
  return {
    links: new LinkRows(database, unlinked),
    unlinked,
    platformCustomers: new PlatformCustomerRows(database),
    acknowledged: new AcknowledgedRows(database),
    placedOrders: new PlacedOrderRows(database),
    movedOrders: new MovedOrderRows(database),
    assetNumbers: new AssetNumberRows(database),
    orderSteps: new OrderStepRows(database, requests, differences),
    staffLinks: new StaffLinkRows(database, differences),
    protectedMembers: new ProtectedMemberRows(database),
    enterpriseCodes: new EnterpriseCodeRows(database),
    requests,
    observations: new ObservationRows(database),
    licenceTypes: new LicenceTypeRows(database),
    correlations: new CorrelationRows(database),
    byHand: new ByHandRows(database),
    secrets: new SecretRows(database),
    readings: new ReadingRows(database),
    unread: new UnreadCustomerRows(database),
    differences,
    held: new HeldRows(database),
    live: new LiveRows(database, resources),
    resources,
  };
}

export type StateRows = ReturnType<typeof stateRows>;

/** What is known of one customer, of what the tables hold of it: a line for each thing known. */
export function knownFrom(rows: StateRows, customer: RecordKey, held: Held): Known {
  const linked = held.linked === 1 ? rows.links.known(customer) : undefined;
  const enterprise = linked?.link?.enterpriseGlobalId;
  const known = {
    ...handedIn().nothing(),
    ...linked,
    // A customer whose link was taken away had one before, and has none that counts.
    ...(linked !== undefined && linked.link === undefined && rows.unlinked.known(customer)),
    ...(held.acknowledged === 1 && rows.acknowledged.known(customer)),
    ...(enterprise !== undefined && rows.platformCustomers.known(enterprise)),
    ...(held.orders === 1 && rows.placedOrders.known(customer)),
    ...(held.orders === 1 && rows.assetNumbers.known(customer)),
    ...(held.staff === 1 && rows.staffLinks.known(customer)),
    ...(held.linked === 1 && rows.protectedMembers.known(customer)),
    ...(enterprise !== undefined && rows.enterpriseCodes.known(enterprise)),
    ...(held.asked === 1 && rows.requests.known(customer)),
  };
  for (const [name, own] of rows.resources) if (held[name] === 1) Object.assign(known, own.load(customer));
  return known;
}

/** How each change is written. */
export function writesOf(rows: StateRows): StateWrites {
  return {
    ...rows.links.writes,
    ...rows.platformCustomers.writes,
    ...rows.acknowledged.writes,
    ...rows.placedOrders.writes,
    ...rows.movedOrders.writes,
    ...rows.assetNumbers.writes,
    ...rows.orderSteps.writes,
    ...rows.staffLinks.writes,
    ...rows.protectedMembers.writes,
    ...rows.enterpriseCodes.writes,
    ...rows.requests.writes,
    ...rows.observations.writes,
    ...rows.byHand.writes,
    ...rows.licenceTypes.writes,
    ...rows.secrets.writes,
    ...rows.unread.writes,
  };
}

type StateWrites = { readonly [Type in keyof OldChanges]: (change: OldChanges[Type], at: string) => void };
