import { expect, it } from "vitest";
import { pagePath } from "../../../src/report/page-links.ts";
import { unsettled } from "../../support/asking.ts";
import { world } from "../../support/cli.ts";
import { operator, showing } from "../../support/showing.ts";
import { company } from "../../support/world/crm.ts";

it("the page of alerts leads to what each is about", async () => {
  const w = await world({ records: { ...company(2, 1), staff: [] } });
  w.extra = "orders: { unseen: ask }\n";
  w.write();
  w.sandbox.faults.add({ operation: "E5", fault: "resetBefore" });
  expect((await w.run("run", "everything")).exitCode).toBe(5);
  const { text } = await (await showing(w, { ...operator, role: "see" })).get("/alerts");
  const open = await unsettled(w);
  expect(open).toHaveLength(2);
  for (const { id } of open) expect(text).toContain(`href="${pagePath.settle(id)}"`);
});
