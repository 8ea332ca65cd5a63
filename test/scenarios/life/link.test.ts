import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { world, document } from "../../support/cli.ts";
import { parse } from "csv-parse/sync";
import { company } from "../../support/world/crm.ts";
import { callerOf, createEnterprise } from "../../sandbox/caller.ts";

const because = ["--reason", "the service desk said so"];

it(
  "an unlinked customer is neither looked for nor made again, its orders stay known, and a link brings it back",
  { tags: "long" },
  async () => {
    const w = await world({ records: company(2, 1) });
    expect((await w.run("run", "everything")).exitCode).toBe(0);
    const [{ enterprise }] = w.rows<{ enterprise: string }>(
      "select enterprise_global_id as enterprise from link where customer_id = 'C1'",
    ) as [{ enterprise: string }];

    const refused = await w.run("unlink", "C1", ...because);
    expect(refused.exitCode).toBe(64);
    expect(refused.stderr).toMatch(/1 order\(s\) and 1 assignment\(s\) of crm\/C1 stand .*--keep-standing/su);
    expect((await w.run("unlink", "C1", "--keep-standing")).exitCode, "without a reason").toBe(64);
    const unlinked = await w.run("unlink", "C1", "--keep-standing", ...because, "--by", "anna");
    expect(unlinked.exitCode, unlinked.stderr).toBe(0);
    expect((await w.run("unlink", "C1", "--keep-standing", ...because)).stderr).toContain("linked with no enterprise");

    w.orders.push({ id: "O9", customer: "C1", assets: ["O9-A1"] });
    w.write();
    const before = w.sandbox.counts().calls;
    for (const _ of [1, 2]) {
      const run = await w.run("run", "everything");
      expect(run.exitCode, "the new order waits").toBe(3);
    }
    expect(w.sandbox.counts().calls, "not a single call").toEqual(before);
    const facts = document(await w.run("explain", "customer", "C1", "--json"));
    expect(facts.record.deferred).toMatchObject({ code: "enterprise.unlinked" });
    expect(facts.record.deferred.reason).toMatch(/unlinked by hand by anna, .*crm-sync link crm\/C1 ENTERPRISE/u);

    const wrong = await w.run("link", "C1", "7100000000000000999", ...because);
    expect([wrong.exitCode, wrong.stderr]).toEqual([64, expect.stringContaining("it shows " + enterprise)]);
    const would = await w.run("link", "C1", enterprise, "--dry-run", ...because);
    expect([would.exitCode, would.stdout]).toEqual([0, expect.stringContaining("would be linked")]);
    expect(w.rows("select 1 from link where customer_id = 'C1' and to_at is null")).toEqual([]);
    const linked = await w.run("link", "C1", enterprise, ...because, "--by", "anna");
    expect(linked.stdout.replaceAll(/\s+/gu, " ")).toContain(
      `crm/C1 is linked with the enterprise ${enterprise} under the channel customer number C1.`,
    );
    expect((await w.run("link", "C1", enterprise, ...because)).stderr).toContain("already");
    const then = await w.does("run", "everything");
    expect(then.exitCode, then.stdout).toBe(0);
    expect(then.calls, "the first order is not placed again").toEqual({ E4: 1, E5: 1 });
    expect(w.sandbox.state()).toMatchObject({ enterprises: 2, assignments: 2 });
    expect((await w.does("run", "everything")).calls).toEqual({});
    expect(
      w.rows("select kind, json_extract(body, '$.by') as by from audit where kind like '%by-hand' order by sequence"),
    ).toEqual([
      { kind: "unlinked-by-hand", by: "anna" },
      { kind: "linked-by-hand", by: "anna" },
    ]);
  },
);

it(
  "a link that somebody else has, one of a customer that nobody gave, and one while an outcome is open are refused",
  { tags: "long" },
  async () => {
    const w = await world({ records: company(2, 1) });
    expect((await w.run("run", "everything")).exitCode).toBe(0);
    const of = (customer: string): string =>
      w.rows<{ enterprise: string }>(
        "select enterprise_global_id as enterprise from link where customer_id = ?",
        customer,
      )[0]?.enterprise ?? "";
    const before = w.rows("select * from link");
    const taken = await w.run("link", "C1", of("C2"), "--channel-customer-id", "C2", ...because);
    expect([taken.exitCode, taken.stderr]).toEqual([64, expect.stringContaining("is linked to crm/C2")]);
    expect((await w.run("link", "C7", of("C2"), ...because)).exitCode).toBe(64);
    const other = await createEnterprise(callerOf(w.sandbox.url), "C1");
    const otherwise = await w.run("link", "C1", other.enterpriseGlobalId, ...because);
    expect([otherwise.exitCode, otherwise.stderr]).toEqual([64, expect.stringContaining("crm-sync unlink crm/C1")]);
    expect(w.rows("select * from link")).toEqual(before);

    w.orders.push({ id: "O9", customer: "C1", assets: ["O9-A1"] });
    w.write();
    w.sandbox.faults.add({ operation: "E5", fault: "resetBefore" });
    expect((await w.run("run", "everything")).exitCode).toBe(5);
    const open = await w.run("unlink", "C1", "--keep-standing", ...because);
    expect([open.exitCode, open.stderr]).toEqual([64, expect.stringMatching(/the outcome of E5 on order:crm\/O9/u)]);
    expect(w.rows("select * from link")).toEqual(before);
  },
);

it("a link under another number than the CRM gives says what waits for it", async () => {
  const w = await world({ records: company(2, 1) });
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  const [{ enterprise }] = w.rows<{ enterprise: string }>(
    "select enterprise_global_id as enterprise from link where customer_id = 'C1'",
  ) as [{ enterprise: string }];
  w.sandbox.hand({ action: "copy-customer", enterpriseGlobalId: enterprise, channelCustomerId: "C1-new" });
  const linked = await w.run("link", "C1", enterprise, "--channel-customer-id", "C1-new", ...because);
  expect(linked.exitCode, linked.stderr).toBe(0);
  const said = linked.stdout.replaceAll(/\s+/gu, " ");
  expect(said).toContain("The CRM says the channel customer number C1: its new orders wait (enterprise.renumbered)");
  w.orders.push({ id: "O9", customer: "C1", assets: ["O9-A1"] });
  w.write();
  expect((await w.does("run", "everything")).calls).toEqual({});
  expect((await w.run("explain", "order", "O9")).stdout).toContain("in the CRM the channel customer number is now C1");
});

it(
  "what stands in one enterprise is not taken for what stands in another that the customer is linked with",
  { tags: "long" },
  async () => {
    const w = await world({ records: company(2, 2) });
    w.extra = "limits: { absenceReads: 1, absenceTime: 0s, taking: { enterprise: { floor: 50, share: 1 } } }\n";
    w.write();
    expect((await w.run("run", "everything")).exitCode).toBe(0);
    const [{ enterprise: first }] = w.rows<{ enterprise: string }>(
      "select enterprise_global_id as enterprise from link where customer_id = 'C1'",
    ) as [{ enterprise: string }];
    expect((await w.run("run", "verify")).exitCode).toBe(0);
    const other = await createEnterprise(callerOf(w.sandbox.url), "C1");
    expect((await w.run("unlink", "C1", "--keep-standing", ...because)).exitCode).toBe(0);
    expect((await w.run("link", "C1", other.enterpriseGlobalId, ...because)).exitCode).toBe(0);
    const out = w.path("reconciliation.csv");
    const period = ["--period", new Date().toISOString().slice(0, 7)];
    const report = await w.run(
      "report",
      "reconciliation",
      ...period,
      "--format",
      "csv",
      "--part",
      "items",
      "--out",
      out,
    );
    expect(report.exitCode, report.stderr).toBe(0);
    const rows: Record<string, string>[] = parse(readFileSync(out), { columns: true });
    const matched = (customer: string) =>
      rows.filter((row) => row["customer"] === customer && row["verdict"] === "matched");
    expect(rows.filter((row) => row["customer"] === "crm/C1").length).toBeGreaterThan(0);
    expect(matched("crm/C1"), "nobody has read it yet").toEqual([]);
    expect(matched("crm/C2").length).toBeGreaterThan(0);
    const ran = await w.does("run", "everything");
    expect([ran.exitCode, ran.calls["M1"], ran.calls["M9"]], ran.stdout).toEqual([3, 1, undefined]);
    for (const row of w.staff) if (row.id === "S1-2") row.holds = [];
    w.write();
    const then = await w.does("run", "everything");
    expect(then.calls, then.stdout).toEqual({});
    // The first enterprise still has the seats with their holders: nothing says that one is given back.
    const live = "select staff_id from assignment where customer_id = 'C1' and to_at is null order by 1";
    expect(w.rows(live)).toEqual([{ staff_id: "S1-1" }, { staff_id: "S1-2" }]);
    expect(w.sandbox.state().assignments).toBe(4);

    expect((await w.run("unlink", "C1", "--keep-standing", ...because)).exitCode).toBe(0);
    expect((await w.run("link", "C1", first, ...because)).exitCode).toBe(0);
    const back = await w.does("run", "everything");
    expect(back.calls["M9"], back.stdout).toBe(1);
    expect(w.rows(live)).toEqual([{ staff_id: "S1-1" }]);
    expect(w.sandbox.state().assignments).toBe(3);
  },
);

it(
  "an order that stands in the enterprise before is neither amended nor taken away in the one of now",
  { tags: "long" },
  async () => {
    const w = await world({ records: company(2, 1) });
    expect((await w.run("run", "everything")).exitCode).toBe(0);
    const [{ enterprise: first }] = w.rows<{ enterprise: string }>(
      "select enterprise_global_id as enterprise from link where customer_id = 'C1'",
    ) as [{ enterprise: string }];
    const other = await createEnterprise(callerOf(w.sandbox.url), "C1");
    expect((await w.run("unlink", "C1", "--keep-standing", ...because)).exitCode).toBe(0);
    expect((await w.run("link", "C1", other.enterpriseGlobalId, ...because)).exitCode).toBe(0);
    const of = (order: string) => w.orders.find(({ id }) => id === order);
    const more = of("O1");
    if (more !== undefined) more.assets = [{ id: "O1-A1", quantity: 3 }];
    w.orders.push({ id: "O9", customer: "C1", assets: ["O9-A1"] });
    w.write();
    const before = w.sandbox.state().products;
    expect((await w.does("run", "everything")).calls["E5"], "a new order goes where the customer is now").toBe(1);
    expect((await w.does("run", "everything")).calls).toEqual({});
    expect((await w.run("explain", "order", "O1")).stdout).toContain("order.elsewhere");
    expect(w.sandbox.state().products).toBe(before + 1);

    expect((await w.run("unlink", "C1", "--keep-standing", ...because)).exitCode).toBe(0);
    expect((await w.run("link", "C1", first, ...because)).exitCode).toBe(0);
    expect((await w.does("run", "everything")).calls["E5"], "once it is linked as before").toBe(1);
    expect((await w.run("explain", "order", "O1")).stdout).not.toContain("order.elsewhere");
  },
);
