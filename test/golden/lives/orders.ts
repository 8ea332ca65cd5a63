import { company, order, type Order } from "../company.ts";
import { elements, member, text } from "../operations.ts";
import type { Ended, Life, Living } from "../life.ts";

/** Changes an order in the CRM. */
export function amend(life: Living, id: string, more: Partial<Order>): void {
  life.company.orders = life.company.orders.map((row) => (row.id === id ? { ...row, ...more } : row));
}

/** Says what the program does of a kind of change to orders: `apply`, `hold`, `report`. */
export function rule(life: Living, name: string, word: string): void {
  life.settings[`policies.orders.${name}`] = word;
}

/** A person approves all that a run left waiting. */
export async function approveAll(life: Living, run: Ended, reason = "asked the customer"): Promise<void> {
  for (const hold of heldIn(run)) await life.run("approve", hold, "--reason", reason, "--by", "anna");
}

/** The holds that wait after a run. */
export function heldIn(run: Ended): string[] {
  const held = elements(member(run.json[0] ?? null, "summary", "held"));
  if (held.length === 0) throw new Error("nothing waits for a person");
  return held.map((hold) => text(member(hold, "hold")));
}

/** A run that finds nothing to do, what is read back, and what a person is shown of an order. */
export async function ends(life: Living, id: string): Promise<void> {
  await life.run("run", "everything");
  await life.run("explain", "order", id);
}

export const lives: Life[] = [
  {
    name: "amended-order",
    async live(life) {
      Object.assign(life.company, company(2, 2));
      const estimation = { id: "P1", parent: "O1-A1", price: "100.00" };
      const drawing = { id: "P2", parent: "O1-A1", price: "80.00" };
      const tender = { id: "P3", parent: "O1-A2", price: "20.00" };
      amend(life, "O1", { products: [estimation, tender], total: "120.00" });
      await life.run("run", "everything");
      // A product more, and a higher price of another one.
      amend(life, "O1", { products: [{ ...estimation, price: "110.00" }, drawing, tender], total: "210.00" });
      await life.run("run", "everything");
      // More nodes: what is bought in place of the old form is bought first; the old form waits for a person.
      const larger = { ...estimation, nodes: 10, price: "300.00" };
      amend(life, "O1", { products: [larger, drawing, tender], total: "400.00" });
      await approveAll(life, await life.run("run", "everything"));
      await life.run("run", "everything");
      // Fewer nodes, a product and its asset less; nobody has to approve that from here on.
      rule(life, "replaced", "apply");
      rule(life, "ended", "apply");
      amend(life, "O1", { assets: [{ id: "O1-A1" }], products: [{ ...larger, nodes: 2 }], total: "60.00" });
      life.company.staff = life.company.staff.map((row) => (row.id === "S1-2" ? { ...row, holds: [] } : row));
      await life.run("run", "everything");
      await ends(life, "O1");
      await life.run("report", "orders", "--period", "2026-03");
    },
  },
  {
    name: "cancelled-order",
    async live(life) {
      Object.assign(life.company, company(3, 1));
      await life.run("run", "everything");
      amend(life, "O1", { cancelled: true });
      amend(life, "O2", { cancelled: true });
      const [first = "", second = ""] = heldIn(await life.run("run", "everything"));
      await life.run("plan");
      await life.run("approve", first, "--reason", "asked the customer", "--by", "anna");
      await life.run("reject", second, "--reason", "the customer called again", "--by", "anna");
      await life.run("run", "everything");
      await life.run("explain", "order", "O2");
      // The CRM takes the first cancellation back: the order is bought again, and its person gets the seat again.
      amend(life, "O1", { cancelled: false });
      await life.run("run", "everything");
      await ends(life, "O1");
      await life.run("report", "entitlements", "--period", "2026-03");
    },
  },
  {
    name: "bundle",
    async live(life) {
      life.company.customers = [{ id: "C1" }, { id: "C2" }];
      life.company.orders = [
        order("O1", "C1", [{ id: "A1", quantity: 2 }], {
          packages: [
            { id: "K1", parent: "A1" },
            { id: "K2", parent: "K1" },
          ],
          products: [
            {
              id: "P1",
              parent: "A1",
              features: [{ code: "norms", name: "Norms", value: "EC2;EC3", type: "text" }],
            },
            { id: "P2", parent: "A1", trialEnd: "2026-06-01T00:00:00Z", limitEnd: "2026-06-01T00:00:00Z" },
            { id: "P3", parent: "K1", years: 2 },
            {
              id: "P4",
              parent: "K2",
              features: [{ code: "render", name: "Rendering", value: "on", type: "switch" }],
            },
          ],
        }),
        order("O2", "C2", [{ id: "A2", quantity: 2, numbers: ["7700000001", "7700000002"] }]),
        order("O3", "C2", ["A3"], {
          packages: [{ id: "K3", parent: "A3" }],
          products: [{ id: "P5", parent: "K3" }],
        }),
      ];
      life.company.staff = [
        { id: "S1", customer: "C1", holds: ["A1"] },
        { id: "S2", customer: "C1", holds: ["A1"] },
        { id: "S3", customer: "C2", numbers: ["7700000002"] },
      ];
      await life.run("run", "everything");
      // An asset that holds packages alone is sent once it was decided how.
      life.settings["assumptions.packageOnly"] = "repeat";
      life.settings["assumptions.packageOnlyParent"] = "package";
      await life.run("run", "everything");
      // A package more, and one unit more of an asset.
      const [first] = life.company.orders;
      if (first === undefined) throw new Error("there is an order");
      amend(life, "O1", {
        packages: [...(first.packages ?? []), { id: "K4", parent: "A1" }],
        products: [...first.products, { id: "P6", parent: "K4" }],
      });
      await life.run("run", "everything");
      amend(life, "O1", { assets: [{ id: "A1", quantity: 3 }] });
      amend(life, "O2", { assets: [{ id: "A2", quantity: 1, numbers: ["7700000002"] }] });
      await approveAll(life, await life.run("run", "everything"));
      await life.run("run", "everything");
      await ends(life, "O1");
      await life.run("report", "entitlements", "--period", "2026-03");
    },
  },
  {
    name: "licence-types",
    async live(life) {
      life.company.customers = [{ id: "C1" }, { id: "C2" }];
      const end = "2027-03-01T00:00:00Z";
      life.company.orders = [
        order("O1", "C1", [
          { id: "A1", type: "normal_recover_usbkey" },
          { id: "A2", type: "softkey" },
          { id: "A3", type: "cloud_customer" },
          { id: "A4", type: "lk_auth_usbkey", limitEnd: end },
          { id: "A5", type: "lk_product_usbkey", limitEnd: end, forLending: true },
          { id: "A6", type: "cloud_account" },
        ]),
      ];
      life.company.staff = ["A1", "A2", "A6"].map((asset) => ({ id: `S-${asset}`, customer: "C1", holds: [asset] }));
      await life.run("run", "everything");
      // Orders that the service takes now and carries out later: as long as nothing shows them, nothing counts.
      life.settings["assumptions.syncMode"] = "async";
      life.settings["settle.maxWaitMs"] = 0;
      for (const operation of ["M6", "E8"]) await life.sandbox("faults", { operation, fault: "oddData", value: [] });
      life.company.orders.push(
        order("O2", "C2", [
          { id: "B1", type: "cloud_customer" },
          { id: "B2", type: "cloud_account" },
        ]),
      );
      life.company.staff.push({ id: "S-B2", customer: "C2", holds: ["B2"] });
      await life.run("run", "everything");
      await life.run("settle", "list");
      await life.noFaults();
      await life.run("run", "everything");
      await ends(life, "O2");
      await life.run("explain", "order", "O1");
      await life.run("report", "reconciliation", "--period", "2026-03");
    },
  },
];
