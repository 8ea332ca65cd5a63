import { expect, it } from "vitest";
import { numberOf } from "../../support/asking.ts";
import { world } from "../../support/cli.ts";
import { eraseGone, gone, livedWithGone, nothingWaits } from "../../support/gone-customer.ts";
import { showing } from "../../support/showing.ts";
import { privateText } from "../../support/world/crm.ts";

it("the search leads to a record by its id, number or the beginning of a company's name", async () => {
  const w = await world();
  Object.assign(w.customers[0] ?? {}, { name: "Zqcanary ACME GmbH" });
  Object.assign(w.customers[1] ?? {}, { name: "Zqcanary  Übersee\tAG" });
  w.write();
  await w.run("run", "everything");
  const pages = await showing(w);
  const { links } = await w.ask("explain", "customer", "C1");
  const { staffLinks } = await w.ask("explain", "staff", "S1-1");
  const leads = async (text: string): Promise<unknown> => {
    const { status, headers } = await pages.get(`/search?q=${encodeURIComponent(text)}`);
    return status === 303 ? headers["location"] : status;
  };
  for (const [text, path] of [
    ["S1-1", "/person/crm/S1-1"],
    ["crm/O2", "/order/crm/O2"],
    [links[0].enterpriseGlobalId, "/customer/crm/C1"],
    [staffLinks[0].memberGlobalId, "/person/crm/S1-1"],
    ["ZQCANARY acme", "/customer/crm/C1"],
    ["zqcanary übersee ag", "/customer/crm/C2"],
  ])
    expect(await leads(text), text).toBe(path);
  const several = await pages.get("/search?q=zqcanary");
  expect(several.status).toBe(200);
  for (const path of ["/customer/crm/C1", "/customer/crm/C2"]) expect(several.text).toContain(`href="${path}"`);
  expect(several.text).not.toContain("/person/");
  expect(several.text.replaceAll('value="zqcanary"', "")).not.toMatch(privateText);
  // The order that has it, and the person who holds it.
  expect(await leads(numberOf(w, "O1-A1"))).toBe(200);
  const none = await pages.get(`/search?q=${encodeURIComponent("no <b>such</b>")}`);
  expect([none.status, none.text]).toEqual([404, expect.stringContaining("no &lt;b&gt;such&lt;/b&gt;")]);
  for (const bad of ["", "x".repeat(201), "a\0b"]) expect(await leads(bad)).toBe(400);
});

it("the search leads to a record that is only in quarantine, with and without its namespace", async () => {
  const w = await world();
  w.staff.push({ id: "S1-9", customer: "C1", login: "not a login!" });
  w.write();
  await w.run("run", "everything");
  const pages = await showing(w);
  for (const text of ["S1-9", "crm/S1-9"])
    expect((await pages.get(`/search?q=${encodeURIComponent(text)}`)).headers["location"], text).toBe(
      "/person/crm/S1-9",
    );
});

it("the search finds nobody by a name that was erased", { tags: "long" }, async () => {
  const w = await livedWithGone();
  const leads = async (): Promise<number> =>
    (await (await showing(w)).get(`/search?q=${encodeURIComponent("zqcanary gone works")}`)).status;
  expect(await leads()).toBe(303);
  await gone(w);
  await nothingWaits(w);
  expect((await w.run(...eraseGone)).exitCode).toBe(0);
  expect(await leads()).toBe(404);
  const asked = await (await showing(w)).post("/customer/crm/C1/private", {});
  expect([asked.status, privateText.exec(asked.text)]).toEqual([200, null]);
});
