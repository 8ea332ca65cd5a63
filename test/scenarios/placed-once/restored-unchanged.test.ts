import { expect, it } from "vitest";
import { enterpriseOf, numbersOf } from "../../support/asking.ts";
import type { Parsed, World } from "../../support/cli.ts";
import { outcome } from "../../support/world/members.ts";
import { holdings, runsUntilQuiet } from "../../support/world/moved-orders.ts";
import { amend, line, orderOf, placedOrders, rule, standing } from "../../support/world/placed-orders.ts";
import { adds, renewal } from "../../support/world/renewals.ts";

/** What a restore must not change. An order that moved is read anew, so the books have it as found. */
async function told(w: World): Promise<Parsed> {
  const { parts } = await w.ask("report", "orders", "--period", "2026-11", "--format", "json");
  const rows = Object.values<Parsed>(parts).flatMap((part) => part.rows);
  const books = rows.filter((row: Parsed) => row.crm_order !== "crm/5");
  const numbers: Parsed[] = [];
  for (const id of ["1", "2", "3", "4"]) numbers.push(await numbersOf(w, id));
  const { known } = await w.ask("status");
  return { books, numbers, known, held: await holdings(w), standing: standing(w) };
}

it("leaves everything of unchanged customers as it is: what was amended, renewed, moved, given and is never shown", async () => {
  const w = await placedOrders();
  for (const name of ["orders.added", "orders.ended", "orders.cancelled", "orders.moved", "staff.moved"])
    rule(w, name, "apply");
  w.environment["CRM_SYNC__assumptions__visibleLicenseTypes"] = '["cloud_account"]';
  w.customers.push({ id: "C3" }, { id: "C4" });
  adds(w, renewal("3"), orderOf("4", "C3", { assets: [{ id: "A4", type: "lan_softkey" }] }), orderOf("5", "C2"));
  await w.does("run", "everything");
  amend(w, "1", { cancelled: true });
  amend(w, "2", { products: ["P2", "Q2", "R2"].map((id) => line(id, "A2")) });
  amend(w, "5", { customer: "C4" });
  await runsUntilQuiet(w);
  const about = await enterpriseOf(w, "C3");
  for (const operation of ["M6", "E8"] as const)
    w.sandbox.faults.add({ operation, about, fault: "oddData", value: [] });
  const before = await told(w);
  const { path } = await w.ask("backup", "--to", w.path("backups"));
  w.customers.push({ id: "C9" });
  w.write();
  await w.does("run", "everything");
  expect((await w.run("restore", path)).exitCode).toBe(3);
  const rebuilt = await w.does("rebuild", "--by", "anna");
  expect(outcome(rebuilt)).toEqual([0, {}]);
  for (const _ of [1, 2]) expect(outcome(await w.does("run", "everything"))).toEqual([0, {}]);
  const after = await told(w);
  expect(after).toEqual({ ...before, known: after.known });
});
