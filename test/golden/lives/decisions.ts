import { company, order, type Company, type Order, type Person } from "../company.ts";
import { openHold, openHolds } from "../known.ts";
import type { Ended, Life, Living } from "../life.ts";
import { elements, member, text, type Json } from "../operations.ts";

const why = ["--reason", "asked the customer", "--by", "anna"];

const amend = (crm: Company, id: string, more: Partial<Order>): void => {
  crm.orders = crm.orders.map((one) => (one.id === id ? { ...one, ...more } : one));
};
const edit = (crm: Company, id: string, more: Partial<Person>): void => {
  crm.staff = crm.staff.map((one) => (one.id === id ? { ...one, ...more } : one));
};
const empty = (crm: Company, ...ids: string[]): void => {
  for (const id of ids) edit(crm, id, { holds: [] });
};

/** The run of a command that ended. */
const runOf = ({ json: [said = null] }: Ended): string => text(member(said, "run"));

/** The operation that is held of what `explain` told of. */
function heldOf(explained: Json): string {
  const all = elements(member(explained, "operations", "newest"));
  return text(member(all.find((one) => member(one, "state") === "held") ?? null, "id"));
}

/** The hash of the operation of a plan that is about this. */
function hashOf({ json }: Ended, subject: string): string {
  const all = json.flatMap((line) => elements(member(line, "operations")));
  return text(member(all.find((one) => member(one, "subject") === subject) ?? null, "hash"));
}

async function approves(life: Living): Promise<void> {
  for (const hold of await openHolds(life)) await life.run("approve", hold, ...why);
}

/** An order of one asset with two products, of which one may go. */
const twoProducts = (id: string, customer: string): Order =>
  order(id, customer, [`${id}-A1`], {
    products: [1, 2].map((n) => ({ id: `${id}-P${n}`, parent: `${id}-A1`, pid: `PID-${id}-${n}`, price: `${n}0.00` })),
  });

const limits = { enterprise: 2, run: 3, day: 3, week: 4 };

export const lives: Life[] = [
  {
    name: "limits",
    async live(life) {
      const { company: crm } = life;
      Object.assign(crm, company(2, 7));
      for (const [scope, floor] of Object.entries(limits)) {
        life.settings[`limits.removals.${scope}.floor`] = floor;
        life.settings[`limits.removals.${scope}.share`] = 0;
      }
      await life.run("run", "everything");
      // More than an enterprise may lose: one of it is approved, then the rest.
      empty(crm, "S1-1", "S1-2", "S1-3");
      await life.run("run", "everything");
      await life.run("approve", heldOf(await life.ask("explain", "staff", "S1-1")), ...why);
      await life.run("run", "everything");
      await life.run("approve", await openHold(life), ...why);
      await life.run("run", "everything");
      // More than a run may take.
      empty(crm, "S1-4", "S1-5", "S2-1", "S2-2");
      const sum = await life.run("run", "everything");
      await life.run("approve", "--run", runOf(sum), ...why);
      await life.run("run", "everything");
      // More than a day may take; the day after, it waits still.
      empty(crm, "S2-3", "S2-4");
      await life.run("run", "everything");
      empty(crm, "S2-5", "S2-6");
      await life.run("run", "everything");
      await life.run("status");
      life.later(24);
      await life.run("run", "everything");
      await life.run("approve", await openHold(life), ...why);
      await life.run("run", "everything");
      // More than a week may take.
      life.later(24);
      empty(crm, "S1-6", "S1-7", "S2-7");
      await life.run("run", "everything");
      for (const hold of await openHolds(life))
        await life.run("reject", hold, "--reason", "they are still needed", "--by", "anna");
      await life.run("run", "everything");
      await life.run("explain", "customer", "C1");
    },
  },
  {
    name: "policies",
    async live(life) {
      const { company: crm } = life;
      Object.assign(crm, company(3, 1), { orders: [1, 2, 3].map((n) => twoProducts(`O${n}`, `C${n}`)) });
      crm.staff.push({ id: "S4", customer: "C3" });
      Object.assign(life.settings, { "limits.absenceReads": 1, "limits.absenceTime": "0s" });
      const policies = (update: string): string => `policies:
  enterprises: { update: ${update} }
  orders: { ended: apply-after-approvals, price: report, wording: report }
  staff: { edited: ask, left: apply }
  assignments: { revoked: ignore }
  approvalsNeeded: 2
`;
      life.configuration.more = policies("report");
      await life.run("run", "everything");
      crm.customers[0] = { id: "C1", name: "Firm One" };
      edit(crm, "S1-1", { name: "Another name" });
      empty(crm, "S2-1");
      crm.staff = crm.staff.filter(({ id }) => id !== "S4");
      const [kept] = twoProducts("O1", "C1").products;
      if (kept !== undefined) amend(crm, "O1", { products: [{ ...kept, name: "Another word", price: "12.00" }] });
      await life.run("run", "everything");
      await life.run("explain", "customer", "C1");
      await approves(life);
      await life.run("run", "everything");
      amend(crm, "O2", { products: twoProducts("O2", "C2").products.slice(0, 1) });
      await life.run("run", "everything");
      await approves(life);
      amend(crm, "O3", { products: twoProducts("O3", "C3").products.slice(0, 1) });
      life.configuration.more = policies("apply");
      await life.run("run", "everything");
      await life.run("run", "everything");
      await life.run("status");
    },
  },
  {
    name: "plan-file",
    async live(life) {
      const { company: crm } = life;
      Object.assign(crm, company(2, 1));
      const planned = await life.run("plan", "--out", "first.ndjson");
      await life.run("apply", "first.ndjson", "--only", hashOf(planned, "customer:crm/C1"));
      await life.run("apply", "first.ndjson", "--customer", "C1");
      await life.run("apply", "first.ndjson");
      await life.run("apply", "first.ndjson");
      crm.orders.push(order("O3", "C1", ["O3-A1"]));
      crm.customers[1] = { id: "C2", name: "Firm Two" };
      edit(crm, "S1-1", { name: "Another name" });
      await life.run("plan", "--customer", "C2");
      await life.run("plan", "--out", "second.ndjson");
      crm.customers[1] = { id: "C2", name: "Firm Zwei" };
      await life.run("plan");
      await life.run("apply", "second.ndjson");
      await life.run("run", "everything");
      await life.run("plan");
      await life.run("explain", "customer", "C2");
    },
  },
  {
    name: "undone-run",
    async live(life) {
      const { company: crm } = life;
      Object.assign(crm, company(2, 1));
      for (const name of ["orders.ended", "orders.deleted", "staff.left"]) life.settings[`policies.${name}`] = "apply";
      await life.run("run", "everything");
      crm.customers[0] = { id: "C1", name: "Firm One" };
      crm.orders.push(order("O3", "C1", ["O3-A1"]));
      crm.staff.push({ id: "S3", customer: "C1", holds: ["O3-A1"] });
      edit(crm, "S2-1", { name: "Another name", holds: [] });
      const ran = await life.run("run", "everything");
      await life.run("undo", "last", "--out", "undo.ndjson");
      await life.run("apply", "undo.ndjson");
      await life.run("undo", runOf(ran));
      await life.run("explain", "order", "O3");
      await life.run("report", "orders", "--period", "2026-03");
      await life.run("run", "everything");
      await life.run("run", "everything");
      await life.run("explain", "staff", "S3");
    },
  },
  {
    name: "canary",
    async live(life) {
      const { company: crm } = life;
      Object.assign(crm, company(4, 1));
      // The first share is C1 alone, the second all but C2.
      const shares = ["--canary", "10,50"];
      await life.sandbox("faults", { operation: "M7", fault: "oddField", field: "crmProductId", value: "X", times: 1 });
      await life.run("run", "everything", ...shares);
      await life.run("alerts");
      await life.run("run", "everything", ...shares);
      for (const { id } of crm.customers) crm.orders.push(order(`N${id}`, id, [`N${id}-A1`]));
      await life.run("run", "everything", ...shares);
      await life.run("run", "everything");
      await life.run("explain", "order", "NC1");
    },
  },
];
