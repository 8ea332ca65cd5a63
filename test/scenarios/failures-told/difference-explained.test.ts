import { fetch } from "undici";
import { expect, it } from "vitest";
import { ran } from "../../support/asking.ts";
import { world } from "../../support/cli.ts";
import { operator, servePages } from "../../support/served-pages.ts";
import { company } from "../../support/world/crm.ts";

it("explain and the page tell of an order and of a seat that verify found missing on the platform", async () => {
  const w = await world({ records: company(2, 1) });
  expect((await ran(w)).exitCode).toBe(0);
  expect(w.sandbox.dropOrders("O2")).toBeGreaterThan(0);
  expect((await w.run("run", "verify")).exitCode).toBe(3);
  expect((await w.ask("status")).differences).toMatchObject([{ class: "missing", count: 2 }]);
  for (const [kind, id] of [
    ["order", "O2"],
    ["staff", "S2-1"],
  ] as const) {
    const { stdout } = await w.run("explain", kind, id);
    expect(stdout).toContain("the platform differs since");
  }
  const { url } = await servePages(w.place, operator);
  const page = (await (await fetch(`${url}/order/crm/O2`)).text()).replaceAll(/<[^>]+>|\s+/gu, " ");
  expect(page).toContain("neither M6 nor E8 shows its asset number");
  expect(page.includes("As meant"), "the page says: As meant").toBe(false);
  expect(page.includes("there is nothing to do"), "the page says: there is nothing to do").toBe(false);
});
