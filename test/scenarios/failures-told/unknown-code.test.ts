import { expect, it } from "vitest";
import type { World } from "../../support/cli.ts";
import { orderOf, placedOrders } from "../../support/world/placed-orders.ts";

/** An order that the service answered three times with a code that no contract lists. */
async function parkedOrder(): Promise<{ w: World; id: string }> {
  const w = await placedOrders();
  Object.assign(w.environment, {
    CRM_SYNC__orders__unseen: "resend",
    CRM_SYNC__settle__maxWaitMs: "2000",
    CRM_SYNC__settle__timeMs: "100",
  });
  w.sandbox.faults.add({ operation: "E5", fault: "oddCode", code: "99999", words: "asset occupied by Anna Huber" });
  w.orders.push(orderOf("3", "C1"));
  w.write();
  let sent = 0;
  while (sent < 3) {
    const { stdout, calls } = await w.does("run", "everything");
    sent += calls["E5"] ?? 0;
    expect(stdout).toMatch(/^Run run_\w+ of everything: ended, 1 outcome unknown, /mu);
    if ((calls["E5"] ?? 0) > 0) expect(stdout).not.toContain("no changes made");
  }
  const id = /op_\w+/u.exec((await w.run("status")).stdout)?.[0] ?? "";
  return { w, id };
}

it("names the code and the words of the service, and warns before it is sent again", async () => {
  const { w, id } = await parkedOrder();
  for (const words of [["status"], ["settle", "list"], ["explain", "order", "3"]]) {
    const { stdout } = await w.run(...words);
    const text = stdout.replaceAll(/\s+/gu, " ");
    expect(text).toContain(
      "the order service answered each time with 99999, a code that crm-sync does not know (the service says: unexpected error; cause: asset occupied by …)",
    );
    expect(text).toContain("ask the provider of the order service what 99999 means");
    expect(text).toContain("If you answer --not-applied before the cause is removed, the next run sends it again");
    expect(text).not.toContain("Huber");
  }
  const status = (await w.run("status")).stdout;
  expect(status).toContain("the order service answered E5 with the code 99999, which its contract does not list (A2)");
  expect(status).toContain("after three customers with such a code, crm-sync stops all calls to the service");
  expect(status).not.toContain("tokenCodes");
  expect(status).toContain("→ decide the outcome of the operation: crm-sync settle list");
  expect(status).not.toContain("nothing: the next run settles the operation");
  const settled = await w.run("settle", id, "--not-applied", "--reason", "the service desk found no such order");
  expect(settled.stdout).toContain(
    "Recorded: the operation was not carried out. The next run sends it again if the CRM still wants it.",
  );
  const after = (await w.run("status")).stdout;
  expect(after).toContain("the operation that it waited for is settled");
  expect(after).not.toContain("until the outcome");
  expect((await w.run("explain", "order", "3")).stdout).not.toContain("settle list");
});
