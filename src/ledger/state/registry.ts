import type { RecordKey } from "../../crm/model.ts";
import { handedIn } from "../../engine/model/registry.ts";
import type { ChangeShapes, StateRows as RowsOfResource, Writes } from "../../engine/model/resource.ts";
import type { Known, StateChange } from "../../engine/model/state.ts";
import type { TakenThing } from "../../engine/model/taking.ts";
import type { Sqlite } from "../database/database.ts";
import { PrivateTables } from "../private/private-tables.ts";
import { assumptionTables } from "./assumptions.ts";
import { ByHandRows, byHandTables } from "./by-hand.ts";
import { DesiredRows } from "./desired.ts";
import { DifferenceRows, differenceTables } from "./differences.ts";
import { HeldRows } from "./held.ts";
import type { Held } from "./held.ts";
import { LicenceTypeRows, licenceTypeTables } from "./licence-types.ts";
import { ObservationRows, observationTables } from "./observations.ts";
import { RequestRows, requestTables } from "./requests.ts";
import { SecretRows } from "./secrets.ts";
import { UnreadCustomerRows, unreadCustomerTables } from "./unread-customers.ts";

/** The tables of what is known of customers and of the platform, but for those of resources. */
export const stateTables = {
  ...requestTables,
  ...observationTables,
  ...licenceTypeTables,
  ...byHandTables,
  ...assumptionTables,
  ...differenceTables,
  ...unreadCustomerTables,
};

/** Rows that no resource owns. */
export function ledgerRows(database: Sqlite) {
  return {
    requests: new RequestRows(database),
    observations: new ObservationRows(database),
    licenceTypes: new LicenceTypeRows(database),
    byHand: new ByHandRows(database),
    secrets: new SecretRows(database),
    unread: new UnreadCustomerRows(database),
    differences: new DifferenceRows(database),
    desired: new DesiredRows(database),
    private: new PrivateTables(database),
    held: new HeldRows(database),
  };
}

export type LedgerRows = ReturnType<typeof ledgerRows>;

/** What is kept of customers and their enterprises. */
export function stateRows(database: Sqlite) {
  const ledger = ledgerRows(database);
  const resources = handedIn().open(database, ledger);
  return { ...ledger, resources, all: Object.values<RowsOfResource>(resources) };
}

export type StateRows = ReturnType<typeof stateRows>;

/** What is recorded of one customer, of what the tables hold of it. */
export function knownFrom({ requests, all }: StateRows, customer: RecordKey, held: Held): Known {
  const known = { ...handedIn().nothing(), ...(held.asked === 1 && requests.known(customer)) };
  return all.reduce((before, rows) => ({ ...before, ...rows.load(customer, held) }), known);
}

/** How many of a thing are recorded of a customer, or of all. */
export function countOf({ all }: StateRows, thing: TakenThing, customer: RecordKey | undefined): number {
  for (const { count } of all) {
    const found = count?.(thing, customer);
    if (found !== undefined) return found;
  }
  return 0;
}

/** How each change is written: inside the writer's transaction. */
export function writesOf(rows: StateRows): Writes {
  const own: Writes = {
    ...rows.requests.writes,
    ...rows.observations.writes,
    ...rows.byHand.writes,
    ...rows.licenceTypes.writes,
    ...rows.secrets.writes,
    ...rows.unread.writes,
  };
  return rows.all.reduce((before, { writes }) => ({ ...before, ...writes }), own);
}

/** Writes one change by its type. */
export function writeChange(writes: Writes, change: StateChange, at: string): void {
  writeAs(writes, change.type, change, at);
}

function writeAs<Type extends keyof ChangeShapes>(
  writes: Writes,
  type: Type,
  change: ChangeShapes[Type],
  at: string,
): void {
  const write = writes[type];
  if (write === undefined) throw new Error(`nobody writes the change ${type}`);
  write(change, at);
}
