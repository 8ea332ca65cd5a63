import { expect, it } from "vitest";
import { openHold, quarantined } from "../../support/asking.ts";
import { document, documents, type Parsed, type World } from "../../support/cli.ts";
import type { ProductRow } from "../../support/world/crm.ts";
import { outcome, personOf } from "../../support/world/members.ts";
import { amend, line, placedOrders, rule } from "../../support/world/placed-orders.ts";

/** Products of the first order, and one more. */
const more = [line("P1", "A1"), line("Q1", "A1"), line("R1", "A1")];

async function said(w: World, ...words: string[]): Promise<string> {
  const { stdout, stderr } = await w.run(...words);
  return stdout + stderr;
}

async function last(w: World, ...words: string[]): Promise<Parsed> {
  return documents(await w.run("--json", ...words)).at(-1);
}

it("an order of which nothing stands any more is not called placed", async () => {
  const w = await placedOrders();
  rule(w, "orders.cancelled", "apply");
  personOf(w, "S1").holds = [];
  amend(w, "1", { cancelled: true });
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  expect(await said(w, "explain", "order", "1")).toMatch(
    /^order crm\/1: was placed as 1 on .*, and all of it was removed by 2026-/u,
  );
  expect(await said(w, "explain", "order", "2")).toMatch(/^order crm\/2: is placed as 2 since /u);
  expect((await w.ask("status")).known).toMatchObject({ orders: 1, removed: 1 });
  expect(await said(w, "status", "--all")).toContain("1 order placed (1 more removed again)");
  amend(w, "1", { cancelled: false });
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  expect((await w.ask("status")).known).toMatchObject({ orders: 2, removed: 0 });
});

it("explain names what an amendment bought and removed, and shows it", async () => {
  const w = await placedOrders();
  amend(w, "1", { products: more });
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  expect((await w.run("run", "verify")).exitCode).toBe(0);
  const bought = await said(w, "explain", "order", "1");
  expect(bought).toMatch(/bought as 1-1: R1 \(asset number \d+\), operation op_/u);
  expect(bought).toMatch(/product \d+\/R1: /u);
  rule(w, "orders.ended", "apply");
  amend(w, "1", { products: more.slice(0, 2) });
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  expect(await said(w, "explain", "order", "1")).toMatch(/removed: R1 \(asset number \d+\), operation op_/u);
});

it("explain says by which numbers an order was amended, and which readings are older than that", async () => {
  const w = await placedOrders();
  expect((await w.run("run", "verify")).exitCode).toBe(0);
  expect(await said(w, "explain", "order", "1")).toMatch(/^shown by the platform \(last reading /mu);
  amend(w, "1", { products: more });
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  const amended = await said(w, "explain", "order", "1");
  expect(amended).toMatch(/^order crm\/1: is placed as 1 since [^;]+; amended as 1-1$/mu);
  expect(amended).toMatch(
    /^shown by the platform before the last change \(.+; crm-sync run verify reads it again\)$/mu,
  );
  expect((await w.run("run", "verify")).exitCode).toBe(0);
  expect(await said(w, "explain", "order", "1")).toMatch(/^shown by the platform \(last reading /mu);
});

it("an order that was cancelled before it was placed is said to be cancelled", async () => {
  const w = await placedOrders();
  w.orders.push({ id: "3", customer: "C1", assets: ["A3"], cancelled: true });
  w.write();
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  expect(await said(w, "explain", "order", "3")).toMatch(
    /^order crm\/3: is cancelled in the CRM, and was not placed$/mu,
  );
});

it("a plan ends with 4 where the run will hold, and counts what would be held", async () => {
  const w = await placedOrders();
  amend(w, "1", { cancelled: true });
  expect(await last(w, "plan")).toMatchObject({ operations: 1, heldOperations: 1, exit: 4 });
  expect((await w.run("run", "everything")).exitCode).toBe(4);
  expect(await last(w, "plan")).toMatchObject({ heldOperations: 1, exit: 4 });
});

it("a plan tells of no hold that the CRM took back", async () => {
  const w = await placedOrders();
  personOf(w, "S2").holds = [];
  rule(w, "assignments.revoked", "ask");
  amend(w, "1", { cancelled: true });
  expect((await w.run("run", "everything")).exitCode).toBe(4);
  expect((await last(w, "plan")).held).toHaveLength(2);
  amend(w, "1", { cancelled: false });
  expect(await last(w, "plan")).toMatchObject({ operations: 1, held: [{ customer: "crm/C2" }], exit: 4 });
  personOf(w, "S2").holds = ["A2"];
  w.write();
  expect(await last(w, "plan")).toMatchObject({ operations: 0, heldOperations: 0, held: [], exit: 0 });
  expect(await said(w, "plan")).not.toMatch(/\bheld\b/u);
  expect((await w.run("run", "everything")).exitCode).toBe(0);
});

it("a plan counts nothing that waited for an earlier plan and goes now", async () => {
  const w = await placedOrders();
  w.customers = [...w.customers, { id: "C3", address: null }];
  w.orders = [...w.orders, { id: "3", customer: "C3", assets: ["A3"] }];
  w.write();
  expect(await last(w, "plan")).toMatchObject({ open: [{ code: "customer.not-orderable", count: 1 }], exit: 3 });
  w.customers = w.customers.map((row) => ({ ...row, address: "Road 7" }));
  w.write();
  expect(await last(w, "plan")).toMatchObject({ open: [], exit: 2 });
});

it("an operation that reading showed not to be applied is told of with that reason", async () => {
  const w = await placedOrders();
  personOf(w, "S1").holds = [];
  w.write();
  w.sandbox.faults.add({ operation: "M9", fault: "oddCode", times: 1 });
  const run = await w.run("run", "everything");
  expect([run.exitCode, run.stdout]).toEqual([
    0,
    expect.stringMatching(/^not attempted: 1 revoke-assets: not applied; planned anew$/mu),
  ]);
});

it("what stands twice keeps every run from saying that all is well", async () => {
  const w = await placedOrders();
  const [{ number } = { number: "" }] = w.rows<{ number: string }>(
    "select wire_number as number from asset_number where order_id = '1' and fixed_at is not null",
  );
  w.sandbox.hand({ action: "add-product", assetNum: number, like: "P1", fields: {} });
  expect((await w.run("run", "verify")).exitCode).toBe(3);
  const run = await w.run("run", "everything");
  expect([run.exitCode, run.stdout]).toEqual([3, expect.stringContaining("twice")]);
  // The CRM removes the product: one of the two goes.
  rule(w, "orders.ended", "apply");
  amend(w, "1", { products: [line("Q1", "A1")] });
  expect((await w.run("run", "everything")).exitCode).toBe(3);
});

it("an account that M4 said to have deleted and M5 shows all the same is told of until it is gone", async () => {
  const w = await placedOrders();
  Object.assign(w.environment, { CRM_SYNC__limits__absenceReads: "1", CRM_SYNC__limits__absenceTime: "0s" });
  rule(w, "staff.left", "apply");
  w.staff = w.staff.filter(({ id }) => id !== "S1");
  w.write();
  w.sandbox.faults.add({ operation: "M4", fault: "emptyPromise" });
  expect(outcome(await w.does("run", "everything"))).toEqual([0, { M9: 1, M4: 1 }]);
  const verify = await w.run("run", "verify");
  expect([verify.exitCode, verify.stdout]).toEqual([3, expect.stringContaining("1 shown after the removal")]);
  const run = await w.run("run", "everything");
  expect([run.exitCode, run.stdout]).toEqual([3, expect.stringContaining("after the removal")]);
});

it("a seat that M9 said to have taken and M6 shows all the same is told of", async () => {
  const w = await placedOrders();
  personOf(w, "S1").holds = [];
  w.write();
  w.sandbox.faults.add({ operation: "M9", fault: "emptyPromise" });
  expect(outcome(await w.does("run", "everything"))).toEqual([0, { M9: 1 }]);
  expect((await w.run("run", "verify")).exitCode).toBe(3);
  expect((await w.run("run", "everything")).exitCode).toBe(3);
  w.sandbox.faults.clear();
});

it("status --json has the next step of each thing that needs a person, with ids", async () => {
  const w = await placedOrders();
  amend(w, "1", { cancelled: true });
  w.sandbox.faults.add({ operation: "M2", fault: "status299", code: "40000" });
  personOf(w, "S2").name = "Zqcanary Other";
  w.write();
  await w.run("run", "everything");
  const { attention } = document(await w.run("--json", "status"));
  expect(attention.map(({ next }: Parsed) => next)).toEqual([
    expect.stringMatching(/^crm-sync approve h-/u),
    expect.any(String),
  ]);
  expect(await said(w, "explain", "staff", "S2")).toContain("crm-sync resync --customer crm/C2");
});

it("what a person rejected stays told of, as no alarm, with how to take that back", async () => {
  const w = await placedOrders();
  amend(w, "1", { cancelled: true });
  expect((await w.run("run", "everything")).exitCode).toBe(4);
  const hold = await openHold(w);
  const [reason, count] = [["--reason", "they still use it"], "1 operation stays undone because a person rejected it"];
  const tells = async (): Promise<string[]> => {
    const texts = [];
    for (const words of [["run", "everything"], ["run", "verify"], ["plan"], ["status", "--all"]]) {
      const { exitCode, stdout } = await w.run(...words);
      expect([words, exitCode]).toEqual([words, 0]);
      expect(/all is well/iu.test(stdout) && stdout.includes("stays undone"), stdout).toBe(false);
      texts.push(stdout);
    }
    return texts;
  };
  await w.run("reject", hold, ...reason);
  const texts = await tells();
  for (const text of texts.slice(0, -1)) expect(text).toContain(count);
  expect(texts.at(-1)).toMatch(/Nothing waits for a person;[^]*1 operation stays undone because a person rejected it/u);
  expect(texts.at(-1)).toContain(`reject ${hold} --withdraw`);
  expect(await last(w, "run", "everything")).toMatchObject({ exit: 0, summary: { rejected: 1 } });
  expect(await last(w, "run", "verify")).toMatchObject({ exit: 0, rejected: 1 });
  expect(await w.ask("status")).toMatchObject({ attention: [], holds: [{ id: hold, state: "rejected" }] });
  await w.run("reject", hold, "--withdraw", ...reason);
  expect((await w.run("run", "everything")).exitCode).toBe(4);
  // The CRM takes back what a person rejected: nothing differs any more.
  await w.run("reject", hold, ...reason);
  amend(w, "1", { cancelled: false });
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  for (const text of await tells()) expect(text).not.toContain("stays undone");
});

it("an order that was removed and bought again is placed since the second purchase", async () => {
  const w = await placedOrders();
  rule(w, "orders.cancelled", "apply");
  personOf(w, "S1").holds = [];
  w.later(24);
  amend(w, "1", { cancelled: true });
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  w.later(24);
  amend(w, "1", { cancelled: false });
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  expect(await said(w, "explain", "order", "1")).toMatch(
    /^order crm\/1: is placed as 1-2 since 2026-11-04 .* UTC; it was placed as 1 on 2026-11-02 .*, and all of that was /u,
  );
  amend(w, "1", { products: more });
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  expect(await said(w, "explain", "order", "1")).toMatch(/^order crm\/1: is placed as 1-2 since 2026-11-04 /u);
  amend(w, "2", { products: [line("P2", "A2"), line("Q2", "A2"), line("R2", "A2")] });
  await w.run("run", "everything");
  expect(await said(w, "explain", "order", "2")).toMatch(/^order crm\/2: is placed as 2 since 2026-11-02 /u);
});

it("counts and names what waits for a person where it waits", async () => {
  const w = await placedOrders();
  w.orders.push({ id: "3", customer: "C1", assets: ["A3"] });
  w.write();
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  for (const id of ["1", "3"]) amend(w, id, { cancelled: true });
  const run = await said(w, "run", "everything");
  expect(run).not.toMatch(/^customers: /mu);
  const status = await said(w, "status");
  expect(status).not.toContain("for the next run\n\n");
  expect(status).not.toMatch(/\d records? waits? for the next run/u);
  expect((await w.ask("status")).nextRun).toBe(0);
  expect(status).toContain("to approve one of its 2 operations: crm-sync explain customer crm/C1");
  const [operation = ""] =
    /op_\w+/u.exec((await said(w, "explain", "customer", "C1")).split(/^hold /mu)[1] ?? "") ?? [];
  expect((await w.run("approve", operation, "--reason", "asked the customer")).exitCode).toBe(0);
  expect(await said(w, "plan")).toMatch(/^Plan: 1 change, 1 held/u);
  expect((await w.run("run", "everything")).exitCode).toBe(4);
  expect((await w.ask("status")).pool).toMatchObject({ inUse: 2 });
  expect(await said(w, "run", "verify")).toContain("accounts shown, with those that each enterprise has by itself");
});

it("an order that moves says what to decide, and is bought by the run that removes the rest of it", async () => {
  const w = await placedOrders();
  rule(w, "orders.moved", "ask");
  personOf(w, "S1").holds = [];
  w.write();
  await w.run("run", "everything");
  amend(w, "1", { customer: "C2" });
  expect((await w.run("run", "everything")).exitCode).toBe(4);
  const hold = await openHold(w);
  expect(await said(w, "explain", "order", "1")).toContain(`crm-sync approve ${hold} --reason TEXT`);
  const approved = await said(w, "approve", hold, "--reason", "asked the customer");
  expect(approved).toMatch(/the next run carries out exactly this set, or at once: crm-sync resync --customer \S+$/mu);
  expect((await w.run("run", "everything")).exitCode).toBe(0);
  expect(await said(w, "explain", "order", "1")).toMatch(/^order crm\/1: is placed as /u);
});

it("explain shows a moved order at its old customer, and knows when it came back", async () => {
  const w = await placedOrders();
  rule(w, "orders.moved", "ask");
  Object.assign(personOf(w, "S1"), { holds: [] });
  amend(w, "1", { customer: "C2" });
  expect((await w.run("run", "everything")).exitCode).toBe(4);
  expect((await w.run("run", "verify")).exitCode).toBe(4);
  const moving = await said(w, "explain", "order", "1");
  expect(moving).not.toContain("nothing of this record");
  expect(moving).toMatch(/product \d+\/P1: /u);
  expect((await w.run("approve", await openHold(w), "--reason", "moved")).exitCode).toBe(0);
  for (const _ of [1, 2]) await w.run("run", "everything");
  rule(w, "orders.moved", "apply");
  expect(await said(w, "explain", "order", "1")).toMatch(
    /moved away from crm\/C1 .*; nothing of it exists there since /u,
  );
  amend(w, "1", { customer: "C1" });
  for (const _ of [1, 2]) await w.run("run", "everything");
  const back = await said(w, "explain", "order", "1");
  expect(back).toMatch(/moved away from crm\/C1 .*; it was bought there again since /u);
  expect(back).toMatch(/moved away from crm\/C2 .*; nothing of it exists there since /u);
});

it("a person who is gone should hold nothing, and a number that was removed is not awaited", async () => {
  const w = await placedOrders();
  rule(w, "orders.cancelled", "apply");
  expect(await said(w, "explain", "staff", "S1")).toMatch(/should hold asset instance A1 \(\d+\)/u);
  amend(w, "1", { cancelled: true });
  await w.run("run", "everything");
  expect(await said(w, "explain", "staff", "S1")).toContain("should hold asset instance A1 (its number was removed)");
  Object.assign(w.environment, { CRM_SYNC__limits__absenceReads: "1", CRM_SYNC__limits__absenceTime: "0s" });
  rule(w, "staff.left", "ask");
  w.staff = w.staff.filter(({ id }) => id !== "S2");
  w.write();
  await w.run("run", "everything");
  const gone = await said(w, "explain", "staff", "S2");
  expect(gone).not.toContain("should hold");
  expect(gone).toContain("the account that was made for it would be deleted");
});

it("a run counts the records of the customers it worked on, under that name", async () => {
  const w = await placedOrders();
  amend(w, "1", { products: more });
  await w.run("run", "everything");
  const { run } = await w.ask("run", "show", "last");
  const orders = run.balance.streams.find(({ stream }: Parsed) => stream === "orders");
  expect(orders).toMatchObject({ extracted: 2, unchanged: 1, workedOn: 1, adds: true });
  expect(orders).not.toHaveProperty("planned");
});

it("a plan names the asset numbers that exist already", async () => {
  const w = await placedOrders();
  personOf(w, "S2").holds = ["A2", "A3"];
  w.orders.push({ id: "3", customer: "C2", assets: ["A3"] });
  w.write();
  expect(await said(w, "plan", "--verbose")).toContain("addAssets: [(known after E9)]");
  const { numbers } = await w.ask("explain", "order", "1");
  const [{ number } = { number: "" }] = numbers;
  personOf(w, "S1").holds = [];
  w.write();
  await w.run("run", "everything");
  personOf(w, "S1").holds = ["A1"];
  w.write();
  expect(await said(w, "plan", "--verbose")).toContain(`addAssets: [${number}]`);
});

it("an order of which a product was exchanged for another one is not said to have its lines under new ids", async () => {
  const suite = (id: string): ProductRow => line(id, "A1", { pid: "PID", name: "Suite" });
  const w = await placedOrders({ first: { products: [line("P1", "A1"), suite("Q1")] } });
  amend(w, "1", { products: [line("P1", "A1"), suite("R1")] });
  await w.run("run", "everything");
  const [row] = await quarantined(w);
  expect(row).toMatchObject({ code: "lines-renumbered", key: { id: "1" } });
  expect(row.message).toContain("crm/1 has 1 new line with the same terms as a line that it no longer has");
});
