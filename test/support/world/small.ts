import type { WritingEndpoint } from "../../../src/contract/endpoints.ts";
import { changeFile } from "./start.ts";
import { cpSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Wished } from "../full-check.ts";

/**
 * One customer with an order of two assets and two members of staff, of whom the first holds the first asset: small,
 * and whole.
 */

type Row = Record<string, unknown>;

export interface SmallWorld {
  customers: Row[];
  orders: Row[];
  staff: Row[];
  /** Somebody asked for the lock of the asset A2 to be switched: it stands in the ledger before the run. */
  asks?: "locked" | "unlocked";
}

const configuration = `
ledger:
  path: ledger.db
  sealKey: env:SMALL_WORLD_SEAL_KEY
assumptions:
  poolBatch: 1
settle:
  timeMs: 150
  readings: 2
jobs:
  everything: { kind: sync, streams: [customers, orders, staff] }
sources:
  small:
    kind: file
    directory: .
    streams:
      customers:
        files: customers.ndjson
        key: id
        mapping:
          id: id
          name: name
          customerType: { value: company }
          branchCode: { value: B1 }
          branchName: branch
          address: address
          adminName: contact
          adminAccount: account
          adminEmail: email
          adminMobile: mobile
          purchaserMobile: mobile
      orders:
        files: orders.ndjson
        key: id
        mapping:
          id: id
          customerId: customer
          instances:
            - kind: asset
              each: assets
              fields: { id: id, licenseType: type }
            - kind: product
              each: assets
              fields:
                id: product
                parentId: id
                name: { value: Planner }
                gmsPid: { value: PLAN-1 }
                type: { value: tool }
                nodes: nodes
                timeUnit: { value: YEAR }
                timeUnitQuantity: { value: 1 }
                term: { value: 1-0-0 }
                passwords: password
      staff:
        files: staff.ndjson
        key: id
        mapping:
          id: id
          customerId: customer
          userName: account
          name: name
          mobile: mobile
          assets:
            - each: holds
              fields: { instanceId: "." }
`;

export const sealKey = "a sealing key of at least thirty-two characters";

/** A customer as the CRM exports it. */
export function customerRow(id: string, branch: string): Row {
  return {
    id,
    name: `Canary Company ${id}`,
    branch,
    address: `Canary Street ${id}`,
    contact: `Canary Contact ${id}`,
    account: `canaryaccount${id.toLowerCase()}`,
    email: `${id.toLowerCase()}@canary.example.com`,
    mobile: "+4915112345678",
  };
}

/** An order of assets with their licence types, each with one product. */
export function orderRow(id: string, assets: Readonly<Record<string, string>>, customer = "C1"): Row {
  return {
    id,
    customer,
    assets: Object.entries(assets).map(([asset, type]) => ({
      id: asset,
      type,
      product: `P-${asset}`,
      nodes: 3,
      password: [`canary-licence-${id}`],
    })),
  };
}
/** Two licence types make two order records in one E5 call. */
const secondOrder = orderRow("O2", { A3: "cloud_account", A4: "softkey" });

/** A person who is to hold assets. */
export function personRow(id: string, holds: readonly string[], customer = "C1"): Row {
  return {
    id,
    customer,
    account: `canarylogin${id.toLowerCase()}`,
    name: `Canary Person ${id}`,
    mobile: "+4915187654321",
    holds,
  };
}

/** Everything that is private in any of the worlds made here. */
export const smallPersonal = [
  "Canary Company",
  "Canary Street",
  "Canary Contact",
  "canaryaccount",
  "@canary.example.com",
  "+4915112345678",
  "canarylogin",
  "Canary Person",
  "+4915187654321",
];
export const smallSecrets = ["canary-licence-", sealKey];

export const base: SmallWorld = {
  customers: [customerRow("C1", "North")],
  orders: [orderRow("O1", { A1: "cloud_account", A2: "normal_recover_usbkey" })],
  staff: [personRow("S1", ["A1"]), personRow("S2", [])],
};

export const baseWished: Wished = { enterprises: 1, orders: 1, products: 2, addedStaff: 2, assignments: 1 };

/** One writing operation of the program: what in the CRM brings it about, and what the platform holds afterwards. */
export interface Change {
  endpoint: WritingEndpoint;
  /** The kind of the operation in the journal. */
  kind: string;
  world: SmallWorld;
  wished: Partial<Wished>;
  environment?: Record<string, string>;
  /** How many calls of the endpoint it takes; 1 where it is not said. */
  calls?: number;
  /**
   * Something is taken away: the operations are written as planned first, and limits are judged before the first of
   * them is sent.
   */
  judged?: boolean;
  /** A call of this kind that is repeated does no harm, because it sets a state or only uses numbers up. */
  repeatable?: boolean;
}

export const changes: Record<string, Change> = {
  "E1 binds a new customer": {
    endpoint: "E1",
    kind: "bind-enterprise",
    world: { ...base, customers: [...base.customers, customerRow("C2", "South")] },
    wished: { enterprises: 2 },
    environment: { CRM_SYNC__assumptions__enterpriseCreation: "E1" },
  },
  "E2 creates an enterprise": {
    endpoint: "E2",
    kind: "create-enterprise",
    world: { ...base, customers: [...base.customers, customerRow("C2", "South")] },
    wished: { enterprises: 2 },
  },
  "E4 changes a branch": {
    endpoint: "E4",
    kind: "update-enterprise",
    world: { ...base, customers: [customerRow("C1", "East")] },
    wished: {},
    repeatable: true,
  },
  "E5 places an order": {
    endpoint: "E5",
    kind: "place-order",
    world: { ...base, orders: [...base.orders, secondOrder] },
    wished: { orders: 2, products: 4 },
  },
  "E6 disables a lock": {
    endpoint: "E6",
    kind: "lock-assets",
    world: { ...base, asks: "locked" },
    wished: {},
    repeatable: true,
  },
  "E7 enables a lock": {
    endpoint: "E7",
    kind: "unlock-assets",
    world: { ...base, asks: "unlocked" },
    wished: {},
    repeatable: true,
  },
  "E9 takes asset numbers": {
    endpoint: "E9",
    kind: "take-asset-numbers",
    world: { ...base, orders: [...base.orders, secondOrder] },
    wished: { orders: 2, products: 4 },
    repeatable: true,
  },
  "M1 adds a member of staff": {
    endpoint: "M1",
    kind: "add-staff",
    world: { ...base, staff: [...base.staff, personRow("S3", [])] },
    wished: { addedStaff: 3 },
  },
  "M9 grants an asset": {
    endpoint: "M9",
    kind: "grant-assets",
    world: { ...base, staff: [personRow("S1", ["A1", "A2"]), personRow("S2", [])] },
    wished: { assignments: 2 },
  },
  "M9 revokes an asset": {
    endpoint: "M9",
    kind: "revoke-assets",
    world: { ...base, staff: [personRow("S1", []), personRow("S2", [])] },
    wished: { assignments: 0 },
    judged: true,
  },
  "M9 takes an asset from one person for another": {
    endpoint: "M9",
    kind: "revoke-assets",
    world: { ...base, staff: [personRow("S1", []), personRow("S2", ["A1"])] },
    wished: {},
    calls: 2,
    judged: true,
  },
  "M9 gives an asset of one person to another": {
    endpoint: "M9",
    kind: "grant-assets",
    world: { ...base, staff: [personRow("S1", []), personRow("S2", ["A1"])] },
    wished: {},
    calls: 2,
    judged: true,
  },
};

/** Writing operations of the contracts that the program does not send yet. */
export const notSentYet = ["M2", "M3", "M4", "M10"];

export const smallEnvironment = { SMALL_WORLD_SEAL_KEY: sealKey };

/** Writes a world's configuration and export into a folder. */
export function writeWorld(folder: string, { asks, ...streams }: SmallWorld = base): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(configOf(folder), configuration);
  if (asks !== undefined) changeFile(ledgerOf(folder), askedFor(asks));
  for (const [stream, rows] of Object.entries(streams))
    writeFileSync(join(folder, `${stream}.ndjson`), rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
}

function askedFor(wanted: string): string {
  return `insert into manual_request (of, about, from_at, customer_namespace, customer_id, wanted, details, asked_by, reason, due)
    select 'lock', wire_number, '2026-10-01T00:00:00.000Z', 'crm', 'C1', '${wanted}',
      '{"largeCustomer":false,"licenseType":"normal_recover_usbkey"}', 'tester', 'a test', 1
    from asset_number where instance_id = 'A2'`;
}

/** A folder with everything that another one holds, and a new export. */
export function continueWorld(from: string, folder: string, world: SmallWorld): void {
  cpSync(from, folder, { recursive: true });
  writeWorld(folder, world);
}

export function configOf(folder: string): string {
  return join(folder, "crm-sync.yaml");
}

export function ledgerOf(folder: string): string {
  return join(folder, "ledger.db");
}

export function platformOf(folder: string): string {
  return join(folder, "sandbox.db");
}
