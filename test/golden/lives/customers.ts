import { company, type Customer } from "../company.ts";
import { enterpriseOf, numberOf } from "../known.ts";
import type { Life, Living } from "../life.ts";
import { amend, approveAll, rule } from "./orders.ts";

const because = ["--reason", "the service desk did it", "--by", "anna"];

/** Changes a customer in the CRM. */
function changes(life: Living, id: string, more: Partial<Customer>): void {
  life.company.customers = life.company.customers.map((row) => (row.id === id ? { ...row, ...more } : row));
}

/** The last looks of a person. */
async function facts(life: Living, customer: string): Promise<void> {
  await life.run("explain", "customer", customer);
}

export const lives: Life[] = [
  {
    name: "bound-enterprise",
    async live(life) {
      Object.assign(life.company, company(3, 1));
      changes(life, "C1", { creation: "bind" });
      changes(life, "C2", { creation: "create" });
      // The third one is on the platform already.
      await life.sandbox("hand", { action: "make-enterprise", channelCustomerId: "C3", customerName: "Firm C3" });
      await life.run("run", "everything");
      // A customer that was bound is renamed there only where the settings say so; the service knows it by no E2 and
      // refuses, and a person renames it.
      changes(life, "C1", { name: "Firm One" });
      await life.run("run", "everything");
      life.settings["assumptions.boundEnterpriseUpdate"] = "send";
      await life.run("resync", "--customer", "C1");
      await life.run("resolve", "customer:C1", "--done", ...because);
      // The second one is taken from its enterprise for a while.
      const enterprise = enterpriseOf(life, "C2");
      await life.run("unlink", "C2", "--keep-orders", ...because);
      changes(life, "C2", { name: "Firm Two" });
      life.company.staff.push({ id: "S2-2", customer: "C2" });
      await life.run("run", "everything");
      await life.run("link", "C2", enterprise, "--dry-run", ...because);
      await life.run("link", "C2", enterprise, ...because);
      await life.run("run", "everything");
      await facts(life, "C2");
      await life.run("explain", "customer", "C1");
    },
  },
  {
    name: "renamed-customer",
    async live(life) {
      Object.assign(life.company, company(3, 1));
      // An order waits as long as its customer has no address.
      changes(life, "C3", { address: null });
      await life.run("run", "everything");
      const branches = ["South", "North", "South", "North", "South", "North"];
      const meanwhile: Record<number, () => void> = {
        0: () => changes(life, "C2", { name: "Firm Two", branch: "West" }),
        1: () => changes(life, "C3", { address: "C3 Road 3, 12345 Town" }),
        2: () => changes(life, "C2", { address: "C2 Road 2, 12345 Town" }),
        3: () => changes(life, "C2", { address: null }),
        4: () => changes(life, "C2", { address: "C2 Road 4, 12345 Town" }),
      };
      for (const [time, branch] of branches.entries()) {
        changes(life, "C1", { branch });
        meanwhile[time]?.();
        const run = await life.run("run", "everything");
        if (time === branches.length - 1) await approveAll(life, run, "the office has moved at last");
      }
      await life.run("run", "everything");
      await facts(life, "C1");
    },
  },
  {
    name: "order-by-hand",
    async live(life) {
      Object.assign(life.company, company(3, 2));
      const line = { id: "P1", parent: "O1-A1" };
      const other = { id: "P2", parent: "O1-A2" };
      amend(life, "O1", { products: [line, other] });
      await life.run("run", "everything");
      // The program tells of changes of orders, and the service desk makes them.
      for (const name of ["added", "ended", "replaced", "cancelled"]) rule(life, name, "report");
      amend(life, "O1", {
        products: [
          { ...line, nodes: 9 },
          { id: "P3", parent: "O1-A2" },
        ],
      });
      await life.run("run", "everything");
      await life.run("resolve", "order:O1", "--done", ...because);
      const [first, second] = [numberOf(life, "O1-A1"), numberOf(life, "O1-A2")];
      const fields = { crmProductId: "P3", productUri: "PID-P3", gmsPid: "PID-P3", productName: "Product P3" };
      for (const edit of [
        { action: "change-product", assetNum: first, crmProductId: "P1", fields: { limitConcurrent: 9 } },
        { action: "add-product", assetNum: second, like: "P2", fields },
        { action: "drop-product", assetNum: second, crmProductId: "P2" },
      ])
        await life.sandbox("hand", edit);
      await life.run("resolve", "order:O1", "--done", ...because);
      // The platform loses an order, which nobody asked for: it is told of, and not bought again.
      await life.sandbox("drop-orders", { channelOrderId: "O2" });
      await life.run("resync", "--customer", "C2");
      await life.run("explain", "order", "O2");
      // Then the CRM has neither that one nor another one, which the service desk takes from the platform.
      for (const asset of ["O3-A1", "O3-A2"])
        await life.sandbox("hand", { action: "drop-asset", assetNum: numberOf(life, asset) });
      amend(life, "O2", { cancelled: true });
      amend(life, "O3", { cancelled: true });
      life.company.staff = life.company.staff.map((row) => (row.customer === "C1" ? row : { ...row, holds: [] }));
      await life.run("run", "everything");
      for (const id of ["O2", "O3"]) await life.run("resolve", `order:${id}`, "--done", ...because);
      await life.run("run", "everything");
      await life.run("explain", "order", "O1");
      await life.run("report", "exceptions", "--period", "2026-03");
    },
  },
];
