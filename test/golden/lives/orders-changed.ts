import { order, type Asset, type Product } from "../company.ts";
import type { Life, Living } from "../life.ts";
import { amend, approveAll, ends, rule } from "./orders.ts";

/** Another customer of an order, or of a person. */
function moves(life: Living, from: string, to: string, ...ids: string[]): void {
  const moved = <Row extends { id: string; customer: string }>(row: Row): Row =>
    row.customer === from && (ids.length === 0 || ids.includes(row.id)) ? { ...row, customer: to } : row;
  life.company.orders = life.company.orders.map(moved);
  life.company.staff = life.company.staff.map(moved);
}

/** The term of a product, which has to agree with its years. */
const term = (limitStart: string, limitEnd: string, years = 1): Pick<Product, "limitStart" | "limitEnd" | "years"> => ({
  limitStart: `${limitStart}T00:00:00Z`,
  limitEnd: `${limitEnd}T00:00:00Z`,
  years,
});
const until = (year: number): Pick<Asset, "limitEnd"> => ({ limitEnd: `${year}-04-15T00:00:00Z` });

export const lives: Life[] = [
  {
    name: "renewed-order",
    async live(life) {
      life.company.customers = [{ id: "C1" }, { id: "C2" }];
      const product = (asset: string, more: Partial<Product>): Product => ({
        id: `${asset}-P`,
        parent: asset,
        price: "100.00",
        ...more,
      });
      const year = term("2025-04-01", "2026-04-01");
      life.company.orders = [
        order("O1", "C1", [{ id: "A1", ...until(2026) }], { products: [product("A1", year)], total: "100.00" }),
        order("O2", "C2", [{ id: "A2" }], { products: [product("A2", year)], total: "100.00" }),
        order("O4", "C2", [{ id: "A4", ...until(2026) }]),
      ];
      life.company.staff = [
        { id: "S1", customer: "C1", holds: ["A1"] },
        { id: "S2", customer: "C2", holds: ["A2"] },
      ];
      await life.run("run", "everything");
      // One order is renewed by another one, one is extended itself, and of one the asset lasts longer.
      const continues = { order: "O1", instance: "A1" };
      life.company.orders.push(
        order("O3", "C1", [{ id: "B1", continues, ...until(2027) }], {
          products: [product("B1", term("2026-03-20", "2027-03-20"))],
          total: "100.00",
        }),
      );
      const longer = { ...term("2025-04-01", "2027-04-01", 2), price: "190.00" };
      amend(life, "O2", { products: [product("A2", longer)], total: "190.00" });
      amend(life, "O4", { assets: [{ id: "A4", ...until(2027) }] });
      await approveAll(life, await life.run("run", "everything"), "the contracts were extended");
      await approveAll(life, await life.run("run", "everything"), "the asset that lasts longer is there");
      // A month later the first year is over, and the CRM ends that order.
      life.later(31 * 24);
      rule(life, "cancelled", "apply");
      amend(life, "O1", { cancelled: true });
      life.company.staff = [
        { id: "S1", customer: "C1", holds: ["B1"] },
        { id: "S2", customer: "C2", holds: ["A2"] },
      ];
      await life.run("run", "everything");
      await ends(life, "O3");
      await life.run("report", "orders", "--period", "2026-03..2026-04");
    },
  },
  {
    name: "moved-order",
    async live(life) {
      life.company.customers = ["C1", "C2", "C3"].map((id) => ({ id }));
      life.company.orders = [
        order("O1", "C1", ["A1"], { total: "100.00" }),
        order("O2", "C1", ["A2"]),
        order("O3", "C2", ["A3"]),
      ];
      life.company.staff = [
        { id: "S1", customer: "C1", holds: ["A1"] },
        { id: "S2", customer: "C2", holds: ["A3"] },
      ];
      await life.run("run", "everything");
      // One order with somebody on its seat, one without; who has it at the other customer is new there.
      moves(life, "C1", "C2", "O1");
      moves(life, "C1", "C3", "O2");
      life.company.staff.push({ id: "S3", customer: "C2", holds: ["A1"] });
      await life.run("run", "everything");
      life.company.staff = life.company.staff.map((row) => (row.id === "S1" ? { ...row, holds: [] } : row));
      const held = await life.run("run", "everything");
      await life.run("plan");
      await approveAll(life, held, "asked both customers");
      // Removed at the old customer, and bought at the new one after that.
      for (const _ of [1, 2]) await life.run("run", "everything");
      // It moves back: then the old customer buys it again, under another number.
      rule(life, "moved", "apply");
      moves(life, "C3", "C1", "O2");
      for (const _ of [1, 2]) await life.run("run", "everything");
      await ends(life, "O1");
      await life.run("explain", "order", "O2");
      await life.run("report", "orders", "--period", "2026-03");
    },
  },
  {
    name: "merged-customers",
    async live(life) {
      life.settings["limits.absenceReads"] = 1;
      life.settings["policies.staff.moved"] = "apply";
      life.company.customers = [{ id: "C1" }, { id: "C2" }];
      life.company.orders = [
        order("O1", "C1", ["A1"]),
        order("O2", "C2", ["A2"]),
        order("O3", "C1", [{ id: "A3", numbers: ["8000007773"] }]),
      ];
      life.company.staff = [
        { id: "S1", customer: "C1", holds: ["A1"] },
        { id: "S2", customer: "C2", holds: ["A2"] },
        { id: "S3", customer: "C1" },
      ];
      await life.run("run", "everything");
      // The CRM says so first.
      life.company.customers[0] = { id: "C1", mergedInto: "C2" };
      moves(life, "C1", "C2");
      await approveAll(life, await life.run("run", "everything"), "the customers merged");
      // Then the first customer is no longer there.
      life.company.customers = [{ id: "C2", name: "Firm C1 and C2" }];
      for (const _ of [1, 2, 3]) await life.run("run", "everything");
      await life.run("explain", "customer", "C1");
      await life.run("report", "entitlements", "--period", "2026-03");
    },
  },
];
