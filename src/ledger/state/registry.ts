import type { RecordKey } from "../../crm/model.ts";
import type { Known, StateChanges } from "../../operation/state.ts";
import type { Sqlite } from "../database/database.ts";
import { AcknowledgedRows, acknowledgedTables } from "./acknowledged.ts";
import { AssetNumberRows, assetNumberTables } from "./asset-numbers.ts";
import { AssignmentRows, assignmentTables } from "./assignments.ts";
import { CorrelationRows, correlationTables } from "./correlations.ts";
import { EnterpriseCodeRows, enterpriseCodeTables } from "./enterprise-codes.ts";
import { LicenceTypeRows, licenceTypeTables } from "./licence-types.ts";
import { LinkRows, linkTables } from "./links.ts";
import { ObservationRows, observationTables } from "./observations.ts";
import { PlacedOrderRows, placedOrderTables } from "./placed-orders.ts";
import { PlatformCustomerRows, platformCustomerTables } from "./platform-customers.ts";
import { ProtectedMemberRows, protectedMemberTables } from "./protected-members.ts";
import { RequestRows, requestTables } from "./requests.ts";
import { SecretRows } from "./secrets.ts";
import { StaffLinkRows, staffLinkTables } from "./staff-links.ts";

/** The tables of what is known of customers and of the platform. */
export const stateTables = {
  ...linkTables,
  ...platformCustomerTables,
  ...acknowledgedTables,
  ...placedOrderTables,
  ...assetNumberTables,
  ...staffLinkTables,
  ...assignmentTables,
  ...protectedMemberTables,
  ...enterpriseCodeTables,
  ...requestTables,
  ...observationTables,
  ...licenceTypeTables,
  ...correlationTables,
};

/** What is kept of customers and their enterprises: a file for each thing. */
export function stateRows(database: Sqlite) {
  return {
    links: new LinkRows(database),
    platformCustomers: new PlatformCustomerRows(database),
    acknowledged: new AcknowledgedRows(database),
    placedOrders: new PlacedOrderRows(database),
    assetNumbers: new AssetNumberRows(database),
    staffLinks: new StaffLinkRows(database),
    assignments: new AssignmentRows(database),
    protectedMembers: new ProtectedMemberRows(database),
    enterpriseCodes: new EnterpriseCodeRows(database),
    requests: new RequestRows(database),
    observations: new ObservationRows(database),
    licenceTypes: new LicenceTypeRows(database),
    correlations: new CorrelationRows(database),
    secrets: new SecretRows(database),
  };
}

export type StateRows = ReturnType<typeof stateRows>;

/** What is known of one customer: a line for each thing known. */
export function knownFrom(rows: StateRows, customer: RecordKey): Known {
  const linked = rows.links.known(customer);
  const enterprise = linked.link?.enterpriseGlobalId ?? "";
  return {
    ...linked,
    ...rows.acknowledged.known(customer),
    ...rows.platformCustomers.known(enterprise),
    ...rows.placedOrders.known(customer),
    ...rows.assetNumbers.known(customer),
    ...rows.staffLinks.known(customer),
    ...rows.assignments.known(customer),
    ...rows.protectedMembers.known(customer),
    ...rows.enterpriseCodes.known(enterprise),
    ...rows.requests.known(customer),
  };
}

/** How each change is written. */
export function writesOf(rows: StateRows): StateWrites {
  return {
    ...rows.links.writes,
    ...rows.platformCustomers.writes,
    ...rows.acknowledged.writes,
    ...rows.placedOrders.writes,
    ...rows.assetNumbers.writes,
    ...rows.staffLinks.writes,
    ...rows.assignments.writes,
    ...rows.protectedMembers.writes,
    ...rows.enterpriseCodes.writes,
    ...rows.requests.writes,
    ...rows.observations.writes,
    ...rows.licenceTypes.writes,
    ...rows.secrets.writes,
  };
}

type StateWrites = { readonly [Type in keyof StateChanges]: (change: StateChanges[Type], at: string) => void };
