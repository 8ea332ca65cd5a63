import { readdirSync, rmSync } from "node:fs";
import { company, order } from "../company.ts";
import { numberOf, openHolds, personOf } from "../known.ts";
import type { Life, Living } from "../life.ts";
import { member, text } from "../operations.ts";

const why = ["--reason", "looked at", "--by", "anna"];

async function approves(life: Living): Promise<void> {
  for (const hold of await openHolds(life)) await life.run("approve", hold, ...why);
}

/** Something of each kind happens in the CRM and is carried out. */
async function goesOn({ company: crm }: Living): Promise<void> {
  crm.customers.push({ id: "C3" });
  crm.customers[0] = { id: "C1", name: "Firm One" };
  crm.orders.push(order("O3", "C3", ["O3-A1"]), order("O4", "C1", ["O4-A1"]));
  crm.staff.push({ id: "S3", customer: "C3", holds: ["O3-A1"] }, { id: "S4", customer: "C1", holds: ["O4-A1"] });
}

export const lives: Life[] = [
  {
    name: "drift",
    async live(life) {
      Object.assign(life.company, company(2, 2));
      const products = ["O1-A1-P", "O1-A1-Q", "O1-A2-P"].map((id) => ({
        id,
        parent: id.slice(0, 5),
        pid: `PID-${id}`,
      }));
      Object.assign(life.company.orders[0] ?? {}, { products });
      await life.run("run", "everything");
      await life.run("run", "verify");
      const edits = [
        { action: "drop-product", assetNum: numberOf(life, "O1-A1"), crmProductId: "O1-A1-P" },
        { action: "rename-person", memberGlobalId: personOf(life, "users12"), name: "By hand" },
        { action: "move-holder", assetNum: numberOf(life, "O2-A1"), memberGlobalId: null },
        { action: "delete-person", memberGlobalId: personOf(life, "users22") },
        {
          action: "add-product",
          assetNum: numberOf(life, "O2-A2"),
          like: "O2-A2-P",
          fields: { crmProductId: "X" },
        },
      ];
      for (const edit of edits) await life.sandbox("hand", edit);
      await life.run("run", "verify");
      await life.run("run", "everything");
      await life.run("run", "verify");
      await life.run("report", "reconciliation", "--period", "2026-03");
      const left = products.filter(({ id }) => id !== "O1-A1-P");
      Object.assign(life.company.orders[0] ?? {}, { products: left });
      await life.run("run", "everything");
      await approves(life);
      await life.run("run", "everything");
      Object.assign(life.company.orders[0] ?? {}, { products });
      await life.run("run", "everything");
      await life.run("run", "verify");
      await life.run("explain", "order", "O1");
    },
  },
  {
    name: "contradiction",
    async live(life) {
      const { company: crm } = life;
      Object.assign(crm, company(2, 1));
      await life.run("run", "everything");
      await life.sandbox("contradict", { rows: ["A17"] });
      crm.orders.push(order("O3", "C1", ["O3-A1"]));
      await life.run("run", "everything");
      await life.sandbox("contradict", { rows: ["A29"] });
      crm.orders.push(order("O4", "C2", ["O4-A1"]));
      crm.staff.push({ id: "S8", customer: "C1" }, { id: "S9", customer: "C1" });
      await life.run("run", "everything");
      await life.sandbox("contradict", { rows: [] });
      crm.customers[1] = { id: "C2", name: "Firm Two" };
      crm.staff.push({ id: "S7", customer: "C1" });
      await life.run("run", "everything");
      await life.run("assumptions");
      await life.run("status");
      await life.run("assumptions", "accept", "A17", ...why);
      await life.run("assumptions", "accept", "A29", ...why);
      await life.run("run", "everything");
      await life.run("run", "everything");
      await life.run("explain", "order", "O4");
    },
  },
  {
    name: "restored-backup",
    async live(life) {
      Object.assign(life.company, company(2, 1));
      await life.run("run", "everything");
      const [made = null] = (await life.run("backup", "--to", "backups")).json;
      await goesOn(life);
      await life.run("run", "everything");
      await life.run("restore", text(member(made, "path")));
      await life.run("run", "everything");
      await life.run("rebuild", "--dry-run");
      await life.run("rebuild", "--by", "anna");
      await life.run("run", "everything");
      await life.run("run", "verify");
      await life.run("audit", "verify");
      await life.run("explain", "order", "O3");
    },
  },
  {
    name: "rebuilt-ledger",
    async live(life) {
      Object.assign(life.company, company(2, 1));
      await life.run("run", "everything");
      await goesOn(life);
      await life.run("run", "everything");
      for (const name of readdirSync(life.folder))
        if (name.startsWith("ledger.")) rmSync(life.path(name), { recursive: true });
      await life.run("rebuild", "--dry-run");
      await life.run("rebuild", "--by", "anna");
      await life.run("run", "everything");
      await life.run("explain", "customer", "C1");
      await life.run("report", "entitlements", "--period", "2026-03");
    },
  },
];
