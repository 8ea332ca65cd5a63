import { cpSync } from "node:fs";
import { join } from "node:path";
import type { WritingEndpoint } from "../../../src/contract/endpoints.ts";
import { streams } from "../../../src/crm/model.ts";
import type { LicenseType } from "../../../src/crm/model.ts";
import type { Wished } from "../full-check.ts";
import { canary } from "./crm.ts";
import type { Crm, GivenCustomer, GivenOrder, GivenStaff, OrderRow } from "./crm.ts";
import { fileSource, filesOf, writeFiles } from "./crm-files.ts";
import { changeFile } from "./start.ts";

/**
 * One customer with an order of two assets and two members of staff, of whom the first holds the first asset: small,
 * and whole.
 */

export interface SmallWorld extends Crm {
  /** Somebody asked for the lock of the asset A2 to be switched: it stands in the ledger before the run. */
  asks?: "locked" | "unlocked";
}

const configuration = `
ledger:
  path: ledger.db
  sealKey: env:SEAL_KEY
assumptions:
  poolBatch: 1
settle:
  timeMs: 150
  readings: 2
jobs:
  everything: { kind: sync, streams: [customers, orders, staff] }
sources:
  small: ${JSON.stringify(fileSource(".", streams))}
`;

/** An order of assets with their licence types, each with one product that has a password. */
export function orderOf(
  id: string,
  assets: Readonly<Record<string, LicenseType>>,
  customer = "C1",
): GivenOrder & Pick<OrderRow, "assets" | "products"> {
  const named = Object.entries(assets).map(([asset, type]) => ({ id: asset, type }));
  const passwords = [`${canary.licence}-${id}`];
  return {
    id,
    customer,
    assets: named,
    products: named.map((asset) => ({ id: `${asset.id}-P`, parent: asset.id, passwords })),
  };
}

/** Two licence types make two order records in one E5 call. */
export const secondOrder = orderOf("O2", { A3: "cloud_account", A4: "softkey" });

const [first, second]: [GivenStaff, GivenStaff] = [
  { id: "S1", customer: "C1", holds: ["A1"] },
  { id: "S2", customer: "C1" },
];

export const base: SmallWorld = {
  customers: [{ id: "C1", branch: "North" }],
  orders: [orderOf("O1", { A1: "cloud_account", A2: "normal_recover_usbkey" })],
  staff: [first, second],
};

/** The same company once more: `C1` is `C1x` where the suffix is "x", and so is each of its ids. */
export function again(world: SmallWorld, suffix: string): SmallWorld {
  return JSON.parse(JSON.stringify(world).replaceAll(/"([COAS]\d+)(-P)?"/gu, `"$1${suffix}$2"`));
}

/** Companies as one. */
export function together(...worlds: readonly SmallWorld[]): SmallWorld {
  return {
    customers: worlds.flatMap((world) => world.customers),
    orders: worlds.flatMap((world) => world.orders),
    staff: worlds.flatMap((world) => world.staff),
  };
}

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

/** A second customer, with nothing but itself. */
export const secondCustomer: GivenCustomer = { id: "C2", branch: "South" };

export const changes: Record<string, Change> = {
  "E1 binds a new customer": {
    endpoint: "E1",
    kind: "bind-enterprise",
    world: { ...base, customers: [...base.customers, secondCustomer] },
    wished: { enterprises: 2 },
    environment: { CRM_SYNC__assumptions__enterpriseCreation: "E1" },
  },
  "E2 creates an enterprise": {
    endpoint: "E2",
    kind: "create-enterprise",
    world: { ...base, customers: [...base.customers, secondCustomer] },
    wished: { enterprises: 2 },
  },
  "E4 changes a branch": {
    endpoint: "E4",
    kind: "update-enterprise",
    world: { ...base, customers: [{ id: "C1", branch: "East" }] },
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
    world: { ...base, staff: [...base.staff, { id: "S3", customer: "C1" }] },
    wished: { addedStaff: 3 },
  },
  "M9 grants an asset": {
    endpoint: "M9",
    kind: "grant-assets",
    world: { ...base, staff: [{ ...first, holds: ["A1", "A2"] }, second] },
    wished: { assignments: 2 },
  },
  "M9 revokes an asset": {
    endpoint: "M9",
    kind: "revoke-assets",
    world: { ...base, staff: [{ ...first, holds: [] }, second] },
    wished: { assignments: 0 },
    judged: true,
  },
  "M9 takes an asset from one person for another": {
    endpoint: "M9",
    kind: "revoke-assets",
    world: {
      ...base,
      staff: [
        { ...first, holds: [] },
        { ...second, holds: ["A1"] },
      ],
    },
    wished: {},
    calls: 2,
    judged: true,
  },
  "M9 gives an asset of one person to another": {
    endpoint: "M9",
    kind: "grant-assets",
    world: {
      ...base,
      staff: [
        { ...first, holds: [] },
        { ...second, holds: ["A1"] },
      ],
    },
    wished: {},
    calls: 2,
    judged: true,
  },
};

/** Writing operations of the contracts that the program does not send yet. */
export const notSentYet = ["M2", "M3", "M4", "M10"];

/** Writes a world's configuration and export into a folder. */
export function writeWorld(folder: string, { asks, ...crm }: SmallWorld = base): void {
  writeFiles(folder, { "crm-sync.yaml": configuration, ...filesOf("ndjson", crm) });
  if (asks !== undefined) changeFile(ledgerOf(folder), askedFor(asks));
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
