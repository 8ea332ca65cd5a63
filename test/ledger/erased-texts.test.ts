import { expect, it } from "vitest";
import { erasedMark, eraseTexts, replacing } from "../../src/ledger/private/erased-texts.ts";
import { LedgerWorld } from "../support/world/ledger-world.ts";
import { openLedger, sqlite } from "../support/world/start.ts";
import { customerRecord, key, orderRecord } from "../support/world/records.ts";

it("takes texts out of words of others, whole and in whatever case, and leaves ids and JSON as they are", () => {
  const clean = replacing(["Ann", "ann Example", "王芳", "anna", "n+m (x)", "status", "."]);
  expect(clean("ANN EXAMPLE and Ann, Annex, crm/anna, 客户王芳已有 n+m (x).")).toBe(
    "[erased] and [erased], Annex, crm/anna, 客户[erased]已有 [erased].",
  );
  expect(clean('{"status":["Anna","x"],"n":1}')).toBe('{"status":["[erased]","x"],"n":1}');
  expect(clean('{"status": "as it was"}')).toBe('{"status": "as it was"}');
  expect(clean("{broken Ann")).toBe("{broken [erased]");
  expect(replacing([])("Ann")).toBe("Ann");
});

it("takes them out as a service may have written them: decomposed, escaped in JSON, or encoded in a URL", () => {
  const clean = replacing(["J\u00fcrgen Wei\u00df", "王芳", "a b@example.com"]);
  for (const told of [
    "Ju\u0308rgen Wei\u00df is there",
    String.raw`HTTP 500: {"m":"J\u00FCrgen Wei\u00df is there"}`,
    String.raw`HTTP 500: {"m":"\u738b\u82b3 is there"}`,
    "GET /staff?name=%E7%8E%8B%E8%8A%B3 failed",
    "GET /staff?mail=a%20b%40example.com failed",
    "GET /staff?mail=a+b%40example.com failed",
  ]) {
    expect(clean(told), told).toContain(erasedMark);
    expect(clean(told), told).not.toMatch(/rgen|738b|%E7|example/iu);
  }
});

it("leaves what a run read as it was, whoever is called like a stream", async () => {
  const { ledger, path } = await openLedger();
  const run = await ledger.runs.start({ job: "j", kind: "sync", trigger: "hand", scope: null, header: {} });
  const sources = [{ source: "everything", stream: "customers", problem: "not whole" }];
  await ledger.runs.finish(run, { state: "done", exitCode: 0, balance: null, summary: { sources } });
  ledger.close();
  const database = sqlite(path);
  eraseTexts(database, [key("C1")], new Set(["customers", "everything", "whole"]));
  expect(JSON.parse(database.prepare<[], string>("select summary from run").pluck().get() ?? "").sources).toEqual([
    { source: "everything", stream: "customers", problem: `not ${erasedMark}` },
  ]);
  // In the words of others a member says nothing of what stands in it.
  expect(replacing(["customers"])('{"stream":"customers"}')).toBe(`{"stream":"${erasedMark}"}`);
});

it("looks through every column that holds words of others, in rows of the customer and in those of nobody", async () => {
  const { ledger, path } = await openLedger();
  ledger.close();
  const database = sqlite(path);
  const differ = (customer: string): string =>
    `insert into difference values ('crm', '${customer}', 'staff', 's', 'extra', '1', 'Ann Example is shown', null)`;
  database.exec(`${differ("C1")}; ${differ("C2")};
    insert into alert values ('k', '1', '{"summary":"Ann Example and Li","Li":1}', null);
    insert into moved_order values ('crm', 'O', 'crm', 'C1', '1', null, 'Li said so')`);
  expect(eraseTexts(database, [key("C1")], new Set(["Ann Example", "Li"]))).toBe(3);
  expect(database.prepare("select detail from difference order by customer_id").pluck().all()).toEqual([
    `${erasedMark} is shown`,
    "Ann Example is shown",
  ]);
  expect(database.prepare("select unclear from moved_order").pluck().get()).toBe(`${erasedMark} said so`);
  // A short text in what is nobody's may stand for anything.
  expect(database.prepare("select body from alert").pluck().get()).toBe(`{"summary":"${erasedMark} and Li","Li":1}`);
});

it("takes them out of what an order waited for before it moved to another customer, over or not", async () => {
  const world = await LedgerWorld.open();
  for (const id of ["C1", "C2"]) await world.read("customers", [{ customers: customerRecord(id) }]);
  const ordersOf = (customer: string) => ["O1", "O2"].map((id) => ({ orders: orderRecord(id, customer) }));
  await world.read("orders", [...ordersOf("C1"), { orders: orderRecord("O3", "C2") }]);
  const outcome = (id: string, outcome: "deferred" | "planned") =>
    ({ stream: "orders", key: key(id), outcome, code: "order.overlap", reason: "王芳 is named" }) as const;
  const all = ["O1", "O2", "O3"];
  await world.ledger.records.setOutcomes(
    world.run,
    all.map((id) => outcome(id, "deferred")),
  );
  world.now += 60_000;
  await world.ledger.records.setOutcomes(world.run, [outcome("O1", "planned")]);
  await world.read("orders", ordersOf("C2"));
  world.ledger.close();
  const database = sqlite(world.path);
  const told = () =>
    database.prepare("select id, deferred_reason from record_stood where deferred_code is not null order by id").all();
  expect(told()).toHaveLength(3);
  eraseTexts(database, [key("C1")], new Set(["王芳"]));
  expect(told()).toEqual([
    { id: "O1", deferred_reason: `${erasedMark} is named` },
    { id: "O2", deferred_reason: `${erasedMark} is named` },
    { id: "O3", deferred_reason: "王芳 is named" },
  ]);
  // With its new form an order waits for nothing that it waited for before.
  expect(database.prepare("select id from record where deferred_reason is not null").pluck().all()).toEqual(["O3"]);
});
