import { company, order } from "../company.ts";
import type { Life, Living } from "../life.ts";
import { elements, member, text, type Json } from "../operations.ts";

const march = ["--period", "2026-03"];
const by = ["--by", "anna"];

/** The ids of what stands in the way of closing March. */
const blockersOf = (json: readonly Json[]): string[] =>
  elements(member(json[0] ?? null, "blockers")).map((one) => text(member(one, "id")));

/** Prices of two orders. */
function sells({ company: crm }: Living): void {
  Object.assign(crm, company(2, 1));
  for (const [index, one] of crm.orders.entries()) {
    Object.assign(one, { total: `${index + 1}00.00`, placedAt: `2026-03-0${index + 1}T08:00:00Z` });
    for (const product of one.products) product.price = `${index + 1}00.00`;
  }
}

export const lives: Life[] = [
  {
    name: "closed-month",
    async live(life) {
      const { company: crm } = life;
      sells(life);
      await life.run("run", "everything");
      crm.orders.push(order("O3", "C1", [{ id: "O3-A1", type: "none such" }], { total: "300.00" }));
      await life.run("run", "everything");
      life.later(31 * 24);
      // A service says what time it is.
      await life.run("run", "verify");
      const { json } = await life.run("report", "blockers", "2026-03");
      await life.run("report", "close", "2026-03", ...by);
      await life.run("report", "sign-off", "2026-03", ...blockersOf(json), "--reason", "known", ...by);
      await life.run("report", "close", "2026-03", ...by);
      await life.run("report", "print", "2026-03", "--out", ".");
      // What the CRM corrects late.
      for (const one of crm.orders.slice(0, 1)) {
        Object.assign(one, { total: "120.00" });
        for (const product of one.products) product.price = "120.00";
      }
      crm.orders.pop();
      await life.run("run", "everything");
      await life.run("report", "reopen", "2026-03", "--reason", "an amount was wrong", ...by);
      await life.run("report", "closings");
      await life.run("report", "orders", ...march);
    },
  },
  {
    name: "bystander",
    async live(life) {
      const { company: crm } = life;
      Object.assign(crm, company(2, 1));
      await life.run("check");
      await life.run("map", "hr", "staff", "--limit", "1");
      await life.run("map", "crm", "orders", "--record", "O2");
      await life.run("plan");
      await life.run("run", "everything");
      crm.staff.push({ id: "S3", customer: "C1", holds: ["O9-A1"] });
      await life.run("run", "everything");
      await life.run("runs");
      await life.run("run", "show", "last");
      await life.run("alerts");
      await life.run("quarantine", "list");
      await life.run("audit", "verify");
    },
  },
];
