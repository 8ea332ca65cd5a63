import { company, order } from "../company.ts";
import { enterpriseOf, openOperations, personOf } from "../known.ts";
import type { Life, Living } from "../life.ts";

const why = ["--reason", "the service desk looked", "--by", "anna"];

/** What a person found out about the only operation that waits. */
async function settles(life: Living, verdict: "--applied" | "--not-applied"): Promise<void> {
  const [operation = ""] = await openOperations(life);
  await life.run("settle", operation, verdict, ...why);
}

async function killedAtEach(life: Living, when: "before" | "after"): Promise<void> {
  const { company: crm } = life;
  crm.customers.push({ id: "C1" });
  await life.killedAt({ operation: "E2", when }, "run", "everything");
  await life.run("run", "everything");
  if (when === "before") {
    // No reading tells an enterprise that was never made from one that is not shown yet.
    await settles(life, "--not-applied");
    await life.run("run", "everything");
  }
  crm.orders.push(order("O1", "C1", ["O1-A1"]));
  await life.killedAt({ operation: "E9", when }, "run", "everything");
  await life.run("run", "everything");
  crm.orders.push(order("O2", "C1", ["O2-A1", "O2-A2"]));
  await life.killedAt({ operation: "E5", when }, "run", "everything");
  await life.run("run", "everything");
  crm.staff.push({ id: "S1", customer: "C1", holds: ["O1-A1", "O2-A1"] });
  await life.killedAt({ operation: "M1", when }, "run", "everything");
  await life.run("run", "everything");
  crm.staff[0] = { id: "S1", customer: "C1", holds: ["O1-A1", "O2-A2"] };
  await life.killedAt({ operation: "M9", when }, "run", "everything");
  await life.run("run", "everything");
  await life.run("runs");
}

export const lives: Life[] = [
  {
    name: "lost-answers",
    async live(life) {
      const { company: crm } = life;
      Object.assign(crm, company(1, 1));
      life.loses("E2");
      await life.run("run", "everything");
      crm.orders.push(order("O3", "C1", ["O3-A1", "O3-A2"]));
      life.loses("E5");
      await life.run("run", "everything");
      crm.customers[0] = { id: "C1", name: "Firm One" };
      life.loses("E4");
      await life.run("run", "everything");
      crm.staff.push({ id: "S3", customer: "C1", holds: ["O3-A1", "O3-A2"] });
      life.loses("M1");
      await life.run("run", "everything");
      crm.staff = crm.staff.map((person) => (person.id === "S3" ? { ...person, name: "Another", holds: [] } : person));
      life.loses("M2");
      life.loses("M9");
      await life.run("run", "everything");
      await life.run("run", "everything");
      await life.run("explain", "customer", "C1");
      await life.run("report", "exceptions", "--period", "2026-03");
    },
  },
  {
    name: "parked-outcomes",
    async live(life) {
      const { company: crm } = life;
      Object.assign(crm, company(2, 1));
      life.settings["orders.unseen"] = "ask";
      await life.run("run", "everything");
      crm.orders.push(order("O3", "C1", ["O3-A1"]));
      crm.staff.push({ id: "S4", customer: "C2" });
      life.loses("E5", "before");
      await life.run("run", "everything");
      await life.run("settle", "list");
      await life.run("run", "everything");
      await settles(life, "--not-applied");
      await life.run("run", "everything");
      // The platform does not show what it did.
      crm.orders.push(order("O5", "C1", ["O5-A1"]));
      for (const operation of ["M6", "E8"])
        await life.sandbox("faults", { operation, fault: "oddData", value: [], about: enterpriseOf(life, "C1") });
      life.loses("E5");
      await life.run("run", "everything");
      await life.noFaults();
      await settles(life, "--applied");
      await life.run("run", "everything");
      life.loses("M3");
      await life.run("staff", "reset-password", "S1-1", ...why);
      await settles(life, "--applied");
      await life.run("staff", "password", "S1-1");
      await life.run("explain", "order", "O5");
      await life.run("report", "exceptions", "--period", "2026-03");
    },
  },
  { name: "killed-before", live: async (life) => await killedAtEach(life, "before") },
  { name: "killed-after", live: async (life) => await killedAtEach(life, "after") },
  {
    name: "rejected-order",
    async live(life) {
      const { company: crm } = life;
      Object.assign(crm, company(2, 1));
      await life.run("run", "everything");
      crm.orders.push(order("O3", "C1", ["O3-A1"]));
      crm.customers[1] = { id: "C2", name: "Firm Two" };
      await life.sandbox("faults", { operation: "E5", fault: "status299", code: "13004", times: 1 });
      await life.run("run", "everything");
      crm.orders.push(order("O4", "C2", ["O4-A1"]));
      await life.run("run", "everything");
      await life.run("explain", "order", "O3");
      const products = [{ id: "O3-A1-P", parent: "O3-A1", pid: "PID-3" }];
      crm.orders = crm.orders.map((one) => (one.id === "O3" ? { ...one, products } : one));
      await life.run("run", "everything");
      for (const [person, login, holds, code] of [
        ["S1-1", "users11", ["O1-A1", "O3-A1"], "60028"],
        ["S2-1", "users21", ["O2-A1", "O4-A1"], "60026"],
      ] as const) {
        crm.staff = crm.staff.map((one) => (one.id === person ? { ...one, holds: [...holds] } : one));
        const about = personOf(life, login);
        await life.sandbox("faults", { operation: "M9", fault: "status299", code, about, times: 1 });
      }
      await life.run("run", "everything");
      await life.run("run", "everything");
      await life.run("resync", "--customer", "C1");
      await life.run("resync", "--customer", "C2");
      await life.run("run", "everything");
      await life.run("report", "exceptions", "--period", "2026-03");
    },
  },
  {
    name: "services-down",
    async live(life) {
      const { company: crm } = life;
      Object.assign(crm, company(2, 1));
      await life.run("run", "everything");
      crm.customers.push({ id: "C3" });
      crm.orders.push(order("O3", "C3", ["O3-A1"]));
      crm.staff.push({ id: "S4", customer: "C2" });
      await life.sandbox("faults", { operation: "order", fault: "http503", retryAfter: "0" });
      await life.run("run", "everything");
      await life.run("alerts");
      await life.run("check");
      await life.noFaults();
      crm.staff.push({ id: "S3", customer: "C1" });
      await life.sandbox("faults", { operation: "member", fault: "refused" });
      await life.run("run", "everything");
      await life.noFaults();
      // It is away again when an order was just sent.
      crm.orders.push(order("O4", "C2", ["O4-A1"]));
      await life.sandbox("faults", { operation: "order", fault: "resetBefore" });
      await life.run("run", "everything");
      await life.noFaults();
      await life.run("run", "everything");
      await life.run("run", "everything");
      await life.run("explain", "order", "O3");
    },
  },
];
