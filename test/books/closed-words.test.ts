import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { expect, it } from "vitest";
import { closeBooks, printBooks } from "../../src/books/books.ts";
import type { JsonObject } from "../../src/base/canonical-json.ts";
import { searchedPlaces } from "../../src/ledger/private/places.ts";
import { stillShown } from "../../src/report/reconciliation/case.ts";
import { statementKinds } from "../../src/report/statement/shape.ts";
import { closedDetail, closedVerdict } from "../../src/report/statement/closed-words.ts";
import { reportSettingsSchema } from "../../src/operate/report-settings.ts";
import { ask } from "../support/world/asked.ts";
import type { LedgerWorld } from "../support/world/ledger-world.ts";
import { customerRecord, key, orderRecord, staffRecord } from "../support/world/records.ts";
import { folder } from "../support/world/start.ts";
import { anna, placeOf, signAll } from "./book-world.ts";
import { drawing, eur, placeOrder, threeMonths } from "../inquiry/statement/statement-world.ts";

const planted = { name: "Zelda Zquill", mobile: "+4917655501234", email: "zelda.zquill@example.org" };
const words = `${planted.name} ${planted.mobile} ${planted.email}`;

/** Trouble of every kind in November, each of it with words of the CRM or of a service. */
async function troubledWorld(): Promise<LedgerWorld> {
  const world = await threeMonths();
  const { ledger } = world;
  world.now = Date.parse("2026-11-21T10:00:00.000Z");
  await world.read("customers", [
    { customers: customerRecord("C1", { name: planted.name, adminMobile: planted.mobile, adminEmail: planted.email }) },
    { customers: customerRecord("C2") },
    { customers: customerRecord("C3") },
  ]);
  await world.read("staff", [
    { staff: staffRecord("S1", "C1", { name: planted.name, assets: [{ instanceId: "A1" }] }) },
  ]);
  await world.reject("orders", key("O8"), { customer: key("C1") });
  await world.reject("orders", undefined, {});
  await world.read("orders", [{ orders: orderRecord("O5", "C1") }, { orders: orderRecord("O6", "C1") }]);
  const refused = await world.intend(await world.orderOperation(key("C1"), key("O5")));
  await ledger.journal.conclude(refused, {
    state: "rejected",
    attempt: { outcome: "rejected", httpStatus: 299, code: words },
    code: words,
    message: words,
    changes: [],
    audit: { kind: "rejected", body: { reason: words } },
  });
  const parked = await world.intend(await world.orderOperation(key("C1"), key("O6")));
  await ledger.journal.conclude(parked, {
    state: "parked",
    attempt: { outcome: "unknown", detail: words },
    message: words,
    changes: [],
    audit: { kind: "parked", body: { reason: words } },
  });
  await placeOrder(world, { ...orderRecord("O7", "C2", { instances: drawing() }), amount: eur(299_99) }, [
    { assetId: "A1", quantity: 2, licenseType: "cloud_account" },
  ]);
  // A person changed O7 after it was placed, and nothing has come of that yet.
  await world.read("orders", [
    { orders: { ...orderRecord("O7", "C2", { instances: drawing() }), amount: eur(310_00) } },
  ]);
  await ledger.records.setOutcomes(world.run, [
    { stream: "orders", key: key("O7"), outcome: "deferred", code: "customer.deferred", reason: words },
    { stream: "orders", key: key("O1"), outcome: "deferred", code: `rejected.${words}`, reason: words },
    { stream: "customers", key: key("C3"), outcome: "deferred", code: "customer.incomplete", reason: words },
    { stream: "staff", key: key("S1"), outcome: "deferred", code: "staff.not-shown", reason: words },
  ]);
  await ask(ledger, "C2", { explanation: "1 of 1 product would be taken away" });
  const read = await ledger.records.startRead(world.run, "erp", "orders");
  await read.finish({ complete: false, whole: true, rows: 1, bad: 0, problem: words });
  await shownOtherwise(world);
  await ledger.runs.finish(world.run, { state: "failed", exitCode: 7, balance: {}, summary: { open: [words] } });
  return world;
}

/** What the platform shows of a purchase of C2, in words that nobody sent. */
async function shownOtherwise(world: LedgerWorld): Promise<void> {
  const body: JsonObject = {
    channelOrderId: "CO-O7",
    licenseOrderId: "L-O7-1",
    crmProductId: "P1",
    productName: words,
    productUri: words,
    gmsPid: words,
    limitConcurrent: words,
    limitStartTime: words,
    limitEndTime: words,
    trial: words,
    timeDurationExpression: words,
    srcLicenseOrderId: words,
  };
  world.now += 1_000;
  await world.observe(key("C2"), [
    { kind: "asset", subject: "8000000005", body: { holder: null, note: words } },
    { kind: "product", subject: "8000000005/P1", body },
  ]);
}

/** Puts the words into every column that words of others stand in, as `audit erase` knows them. */
function plantEverywhere(path: string): number {
  const database = new Database(path);
  let rows = 0;
  for (const { table, columns } of searchedPlaces.filter(({ table }) => table !== "meta"))
    for (const column of columns)
      rows += database
        .prepare(
          `update ${table} set ${column} = iif(json_valid(${column}) and json_type(${column}) = 'object',
             json_insert(${column}, '$.planted', @words), ${column} || ' ' || @words) where ${column} is not null`,
        )
        .run({ words }).changes;
  database.close();
  return rows;
}

it("what an operation came to is said in the words of the program, and in no others", () => {
  expect(["not sent", "not applied", "lost"].map((verdict) => closedVerdict(verdict))).toEqual([
    "not sent",
    "not applied",
    "lost",
  ]);
  expect(closedVerdict(`not sent: ${words}`)).toBeNull();
});

it("what a call removed and the platform still shows is said, and not left to another command", () => {
  for (const how of ["with the same person", "as an account that can be used"])
    for (const detail of stillShown({ seenAt: "", body: {} }, how).details) expect(closedDetail(detail)).toBe(detail);
});

it(
  "closed periods hold no name, mobile or e-mail in any format, whatever the CRM and the services say",
  { tags: "long" },
  async () => {
    const world = await troubledWorld();
    expect(plantEverywhere(world.path)).toBeGreaterThan(10);
    world.now = Date.parse("2026-12-05T10:00:00.000Z");
    const place = placeOf(world, {
      config: {
        zone: "Europe/Berlin",
        reports: reportSettingsSchema.parse({}),
        periods: { formats: ["csv", "json", "html"] },
        audit: {},
      },
    });
    await signAll(place, "2026-11");
    world.now += 1_000;
    expect(await closeBooks(place, "2026-11", anna)).toMatchObject({ closed: { closing: 1 } });
    const out = folder();
    await printBooks(place, "2026-11", { folder: out });
    const found: string[] = [];
    let text = "";
    for (const name of readdirSync(out)) {
      const all = readFileSync(join(out, name), "utf8");
      if (/zelda|zquill|17655501234/iu.test(all)) found.push(name);
      text += all;
    }
    // What it is about is there, only its words are not: so the search could have found them.
    for (const kind of ["quarantined", "deferred", "rejected", "parked", "held", "source-incomplete", "broken-off"])
      expect(text.includes(kind), kind).toBe(true);
    expect(text.includes("productName: shown otherwise than it was sent")).toBe(true);
    expect(text.includes("something else; `crm-sync"), "a detail of ours that the list does not have").toBe(false);
    expect(readdirSync(out).filter((name) => name.endsWith(".html")).length).toBe(statementKinds.length);
    expect(found).toEqual([]);
    const inquiry = await world.inquiry();
    expect(JSON.stringify(await inquiry.explain("orders", key("O1")))).toContain(planted.name);
  },
);
