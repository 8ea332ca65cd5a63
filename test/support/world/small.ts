import { join } from "node:path";
import type { WritingEndpoint } from "../../../src/contract/endpoints.ts";
import { streams, type LicenseType } from "../../../src/crm/model.ts";
import type { Wished } from "../full-check.ts";
import { canary, type Crm, type GivenCustomer, type GivenOrder, type GivenStaff, type OrderRow } from "./crm.ts";
import { fileSource, filesOf, writeFiles } from "./crm-files.ts";
import { changeFile } from "./start.ts";

/**
 * One customer with an order of two assets and two members of staff, of whom the first holds the first asset: small,
 * and whole.
 */

export type SmallWorld = Crm;

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
  const named = Object.entries(assets).map(([asset, type]) => ({ id: asset, type, forLending: asset === "A2" }));
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

/** A product more under a number that is there, and an asset more. */
const grown = orderOf("O1", { A1: "cloud_account", A2: "normal_recover_usbkey", A5: "softkey" });
const amendedOrder: GivenOrder = {
  ...grown,
  products: [...grown.products, { id: "A1-Q", parent: "A1", pid: "PID-2", passwords: [`${canary.licence}-O1-Q`] }],
};

/** The first asset's product with more nodes, which is bought beside the old one. */
const replaced = orderOf("O1", { A1: "cloud_account", A2: "normal_recover_usbkey" });
const replacedOrder: GivenOrder = {
  ...replaced,
  products: replaced.products.map((product) => (product.id === "A1-P" ? { ...product, nodes: 9 } : product)),
};

/** The lock with one product more, bought after the order was placed. */
const ofLock = orderOf("O1", { A1: "cloud_account", A2: "normal_recover_usbkey" });
const lockOrder: GivenOrder = { ...ofLock, products: [...ofLock.products, { id: "A2-Q", parent: "A2", pid: "PID-2" }] };

/** The first asset with a product more, and that with a package of one product beside it. */
const fullerOrder: GivenOrder = {
  ...ofLock,
  products: [...ofLock.products, { id: "A1-Q", parent: "A1", pid: "PID-2" }],
};
const packagedOrder: GivenOrder = {
  ...fullerOrder,
  packages: [{ id: "K1", parent: "A1" }],
  products: [...(fullerOrder.products ?? []), { id: "A1-R", parent: "K1", pid: "PID-3" }],
};

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
  return JSON.parse(JSON.stringify(world).replaceAll(/"([COAS]\d+)(-[PQ])?"/gu, `"$1${suffix}$2"`));
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
  /** What is synchronised between the base and this, and what becomes of the ledger and the platform after that. */
  after?: { world: SmallWorld; change?: (folder: string) => void };
  wished: Partial<Wished>;
  environment?: Record<string, string>;
  /** The command line by which somebody asked for it before the run; `numberOf` gives the number of an instance. */
  asks?: (numberOf: (instance: string) => string) => string[];
  /** How many calls of the endpoint it takes; 1 where it is not said. */
  calls?: number;
  /**
   * Something is taken away: the operations are written as planned first, and limits are judged before the first of
   * them is sent.
   */
  judged?: boolean;
  /** A person has approved this very operation. */
  approved?: true;
  /**
   * Nothing sends it twice: a person decides what became of it, always, or where the platform does not show that it was
   * done.
   */
  asksPerson?: "always" | "unseen";
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
  "E5 amends an order": {
    endpoint: "E5",
    kind: "amend-order",
    world: { ...base, orders: [amendedOrder] },
    wished: { orders: 2, products: 4 },
  },
  "E5 deletes products": {
    endpoint: "E5",
    kind: "delete-products",
    world: { ...base, orders: [replacedOrder] },
    wished: { orders: 2, deletions: 1 },
    environment: { CRM_SYNC__policies__orders__replaced: "apply" },
    calls: 2,
  },
  "E5 deletes an asset": {
    endpoint: "E5",
    kind: "delete-assets",
    world: { ...base, orders: [orderOf("O1", { A1: "cloud_account" })] },
    wished: { products: 1, deletions: 1 },
    environment: { CRM_SYNC__policies__orders__ended: "apply" },
    judged: true,
  },
  "E5 deletes a product of a package": {
    endpoint: "E5",
    kind: "delete-package-products",
    after: { world: { ...base, orders: [packagedOrder] } },
    world: { ...base, orders: [fullerOrder] },
    wished: { orders: 2, products: 3, deletions: 1 },
    environment: { CRM_SYNC__policies__orders__ended: "apply" },
    judged: true,
    approved: true,
  },
  "E5 deletes a product out of all orders": {
    endpoint: "E5",
    kind: "delete-everywhere",
    after: { world: { ...base, orders: [lockOrder] }, change: forgetLicenceOrder },
    world: base,
    wished: { orders: 2, deletions: 1 },
    environment: { CRM_SYNC__policies__orders__ended: "apply" },
    judged: true,
    approved: true,
    asksPerson: "unseen",
  },
  "E6 disables a lock": {
    endpoint: "E6",
    kind: "lock-assets",
    world: base,
    asks: (numberOf) => ["lock", "C1", "--asset", numberOf("A2")],
    wished: {},
    repeatable: true,
  },
  "E7 enables a lock": {
    endpoint: "E7",
    kind: "unlock-assets",
    world: base,
    asks: (numberOf) => ["unlock", "C1", "--asset", numberOf("A2")],
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
  "M2 edits a member of staff": {
    endpoint: "M2",
    kind: "edit-staff",
    world: { ...base, staff: [first, { ...second, name: `${canary.person} renamed` }] },
    wished: {},
    repeatable: true,
  },
  "M3 sets a new password": {
    endpoint: "M3",
    kind: "reset-password",
    world: base,
    asks: () => ["staff", "reset-password", "S1"],
    wished: {},
    asksPerson: "always",
  },
  "M4 deletes the account of somebody who left": {
    endpoint: "M4",
    kind: "delete-staff",
    world: { ...base, staff: [first] },
    wished: { addedStaff: 1 },
    environment: {
      CRM_SYNC__policies__staff__left: "apply",
      CRM_SYNC__limits__absenceReads: "1",
      CRM_SYNC__limits__absenceTime: "0s",
    },
    judged: true,
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
  "M10 lends a lock": {
    endpoint: "M10",
    kind: "borrow-assets",
    world: base,
    asks: (numberOf) => ["borrow", "C1", "--staff", "S1", "--lock", numberOf("A2"), "--asset", numberOf("A1")],
    wished: {},
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

export function changeOf(name: string): Change {
  const change = changes[name];
  if (change === undefined) throw new Error(`there is no change "${name}"`);
  return change;
}

/** The names of the changes that bring each writing operation about. */
export function changesByEndpoint(): { endpoint: WritingEndpoint; names: string[] }[] {
  const endpoints = [...new Set(Object.values(changes).map(({ endpoint }) => endpoint))];
  return endpoints.map((endpoint) => ({
    endpoint,
    names: Object.keys(changes).filter((name) => changes[name]?.endpoint === endpoint),
  }));
}

/** Which call of its endpoint a change is about: a grant comes after its revoke, a deletion after its purchase. */
export function nthCallOf({ calls, kind }: Change): number {
  return calls === 2 && ["grant-assets", "delete-products"].includes(kind) ? 2 : 1;
}

/** Writing operations of the contracts that the program does not send yet. */
export const notSentYet: readonly string[] = [];

/** Writes a world's configuration and export into a folder. */
export function writeWorld(folder: string, crm: SmallWorld = base): void {
  writeFiles(folder, { "crm-sync.yaml": configuration, ...filesOf("ndjson", crm) });
}

/** Neither the ledger nor M7 knows any more by which licence order the later product of the lock was bought. */
function forgetLicenceOrder(folder: string): void {
  changeFile(ledgerOf(folder), "update order_step set licence_orders = '[]' where kind = 'bought'");
  changeFile(
    platformOf(folder),
    `insert into shown (product_id, fields)
     select id, '{"licenseOrderId":""}' from products where crm_product_id = 'A2-Q'`,
  );
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
