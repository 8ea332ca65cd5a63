import { describe, expect, it, onTestFinished } from "vitest";
import { blockersOf, closeBooks, printBooks, signOff } from "../../src/books/books.ts";
import { standAsOf } from "../../src/inquiry/as-of/as-of.ts";
import { ReadOnlyLedger } from "../../src/inquiry/read-only-ledger.ts";
import { openReadOnly } from "../../src/ledger/database/database.ts";
import type { Row } from "../../src/report/statement/shape.ts";
import { cells, month } from "../inquiry/statement/statement-world.ts";
import { rowsOf } from "../inquiry/statement/stated.ts";
import { ask } from "../support/world/asked.ts";
import { LedgerWorld } from "../support/world/ledger-world.ts";
import { canaries, customerRecord, key, orderRecord, staffRecord } from "../support/world/records.ts";
import { folder } from "../support/world/start.ts";
import { anna, placeOf, signAll } from "./book-world.ts";

const at = (text: string): number => Date.parse(`2026-${text}Z`);
const eur = (minor: number) => ({ amount: { currency: "EUR", minor } });
const accepts = { by: "anna", reason: "seen and accepted" };

/** Everything the statement says of a month, as is known now or was at a moment. */
async function stated(world: LedgerWorld, label: string, asOf?: string): Promise<Record<string, Row[]>> {
  const ledger = new ReadOnlyLedger(world.path, openReadOnly(world.path));
  onTestFinished(() => ledger.close());
  if (asOf !== undefined) standAsOf(ledger, asOf);
  return await rowsOf(ledger, "exceptions", { period: month(label), by: "happened", filters: {}, asOf });
}

/** Who accepted each open exception that can be, by its id. */
async function signers(world: LedgerWorld, label: string, asOf?: string): Promise<Record<string, unknown>> {
  const { exceptions } = await stated(world, label, asOf);
  const rows = cells(exceptions, "sign_off_id", "signed_off_by").filter(([id]) => id !== null);
  return Object.fromEntries(rows.map(([id, by]) => [String(id), by]));
}

/** The id that the statement has for the one row in which a column has this value. */
async function idOf(world: LedgerWorld, label: string, column: string, value: string): Promise<string> {
  const { exceptions = [] } = await stated(world, label);
  const found = exceptions.filter((row) => row[column] === value && row["sign_off_id"] !== null);
  expect(found, `${column} ${value}`).toHaveLength(1);
  return String(found[0]?.["sign_off_id"]);
}

const waiting = (order: string, code = "assumption.missing") =>
  ({ stream: "orders", key: key(order), outcome: "deferred", code, reason: "CANARY waits" }) as const;

/**
 * C1 and C2 on 5 October: two rows of C1 in quarantine, a row that no id can be read from, an order of each that waits,
 * one of which has an id that a shell would take apart, and one that was refused. November has come.
 */
async function troubled(): Promise<{ world: LedgerWorld; rejected: string }> {
  const world = await LedgerWorld.open();
  world.now = at("10-05T10:00:00");
  await world.read("customers", [{ customers: customerRecord("C1") }, { customers: customerRecord("C2") }]);
  for (const id of ["C1", "C2"]) await world.link(key(id), `E-${id}`);
  await world.read("orders", [
    { orders: orderRecord("O1", "C1", eur(5_94)) },
    { orders: orderRecord("O2", "C1", eur(7_00)) },
    { orders: orderRecord("O3", "C2", eur(100_00)) },
    { orders: orderRecord("O4 $(x)'/#é", "C2", eur(1_00)) },
    { orders: orderRecord("O5", "C2", eur(9_00)) },
  ]);
  const rejected = await world.intend(await world.orderOperation(key("C2"), key("O5")));
  await world.ledger.journal.conclude(rejected, {
    state: "rejected",
    attempt: { outcome: "rejected", httpStatus: 299, code: "40006" },
    code: "40006",
    message: "CANARY is frozen",
    changes: [],
    rejections: {
      customer: key("C2"),
      kind: "place-order",
      settings: "s",
      parts: [
        { record: { stream: "orders", ...key("O5") }, hash: "h", code: "40006", reason: "frozen", shared: false },
      ],
    },
    audit: { kind: "rejected", body: {} },
  });
  for (const order of ["O1", "O2"]) await world.reject("orders", key(order), { customer: key("C1") });
  await world.reject("customers", undefined);
  await world.ledger.records.setOutcomes(world.run, [waiting("O3"), waiting("O4 $(x)'/#é")]);
  await world.ledger.runs.finish(world.run, { state: "done", exitCode: 3, balance: {}, summary: {} });
  world.now = at("11-02T10:00:00");
  return { world, rejected };
}

describe("an exception that stood open at the end of a period", () => {
  it(
    "is accepted by its id, each by itself, and stands so with its name in the statement and in the record",
    { tags: "long" },
    async () => {
      const { world, rejected } = await troubled();
      const place = placeOf(world);
      const before = await signers(world, "2026-10");
      expect(Object.keys(before)).toHaveLength(6);
      for (const id of Object.keys(before)) expect(id, "stands in a shell as it is").toMatch(/^[\w.:/%-]+$/u);
      expect(Object.values(before)).toEqual([null, null, null, null, null, null]);
      const [first, second] = [
        await idOf(world, "2026-10", "record", "order crm/O1"),
        await idOf(world, "2026-10", "record", "order crm/O2"),
      ];
      expect(first).toMatch(/^quarantined:q-\w+$/u);
      expect(Object.keys(before)).toEqual(
        expect.arrayContaining([`rejected:${rejected}`, "deferred:orders/crm/O3:assumption.missing"]),
      );
      const chosen = [first, `rejected:${rejected}`, "deferred:orders/crm/O3:assumption.missing"];
      await signOff(place, "2026-10", chosen, accepts);
      expect(await signers(world, "2026-10")).toEqual({
        ...before,
        ...Object.fromEntries(chosen.map((id) => [id, "anna"])),
      });
      expect((await signers(world, "2026-10"))[second]).toBeNull();
      const { exceptions = [], sign_offs } = await stated(world, "2026-10");
      expect(exceptions.find((row) => row["sign_off_id"] === first)).toMatchObject({
        signed_off_by: "anna",
        signed_off_at: "2026-11-02T10:00:00.000Z",
        sign_off_reason: "seen and accepted",
      });
      expect(cells(sign_offs, "kind", "blocker", "what", "signed_off_by")).toEqual([
        ["quarantined", first, "order crm/O1 is in quarantine: missing in branchCode; at stake: 5.94 EUR", "anna"],
        [
          "rejected",
          `rejected:${rejected}`,
          "place-order (E5) of order:crm/O5 was refused: 40006; at stake: 9.00 EUR",
          "anna",
        ],
        [
          "deferred",
          "deferred:orders/crm/O3:assumption.missing",
          "order crm/O3 waits: assumption.missing; at stake: 100.00 EUR",
          "anna",
        ],
      ]);
      const entries = [...world.ledger.audit.rows()].filter(({ kind }) => kind === "signed-off");
      expect(entries).toHaveLength(3);
      expect(JSON.parse(entries[0]?.body ?? "")).toMatchObject({ blocker: first, customer: "crm/C1", ...accepts });
      expect(JSON.stringify(entries)).not.toMatch(canaries);
    },
  );

  it("does not stand in the way of closing, whether it was accepted or not", { tags: "long" }, async () => {
    const { world } = await troubled();
    const place = placeOf(world);
    const ids = Object.keys(await signers(world, "2026-10"));
    const named = (await blockersOf(place, "2026-10")).map(({ id }) => id);
    expect(named.filter((id) => ids.includes(id))).toEqual([]);
    await signOff(place, "2026-10", ids.slice(0, 1), accepts);
    expect((await blockersOf(place, "2026-10")).map(({ id }) => id)).toEqual(named);
    await signAll(place, "2026-10");
    world.now += 1_000;
    expect(await closeBooks(place, "2026-10", anna)).toMatchObject({ closed: { closing: 1 } });
    expect(await printBooks(place, "2026-10", { folder: folder() })).toMatchObject({ different: [], notCompared: [] });
    await expect(signOff(place, "2026-10", ids.slice(1), accepts)).rejects.toMatchObject({ code: "periods.closed" });
  });

  it("is to be accepted anew once it is for another reason, or other money is at stake", { tags: "long" }, async () => {
    const { world } = await troubled();
    const place = placeOf(world);
    // Before the month is over what stands may still come to be otherwise in it.
    world.now = at("10-20T10:00:00");
    const first = await idOf(world, "2026-10", "record", "order crm/O1");
    const unread = await idOf(world, "2026-10", "place", "customers.csv:99");
    const waits = await idOf(world, "2026-10", "record", "order crm/O3");
    await signOff(place, "2026-10", [first, unread, waits], accepts);
    expect(await signers(world, "2026-10")).toMatchObject({ [first]: "anna", [unread]: "anna", [waits]: "anna" });
    world.now = at("10-25T10:00:00");
    await world.startRun();
    // The same row, for which another mapping gives another reason.
    await world.reject("customers", undefined, { code: "not-a-date", raw: "" });
    await world.ledger.records.setOutcomes(world.run, [waiting("O3", "order.unclear")]);
    const now = await signers(world, "2026-10");
    expect(now).toMatchObject({ [first]: "anna", [unread]: null });
    expect(now).not.toHaveProperty([waits]);
    expect(now["deferred:orders/crm/O3:order.unclear"]).toBeNull();
    await world.read("orders", [{ orders: orderRecord("O3", "C2", eur(200_00)) }]);
    await world.ledger.records.setOutcomes(world.run, [waiting("O3", "order.unclear")]);
    const other = "deferred:orders/crm/O3:order.unclear";
    await signOff(place, "2026-10", [unread, other], { by: "ben", reason: "known" });
    expect(await signers(world, "2026-10")).toMatchObject({ [first]: "anna", [unread]: "ben", [other]: "ben" });
    await world.read("orders", [{ orders: orderRecord("O3", "C2", eur(999_99)) }]);
    await world.ledger.records.setOutcomes(world.run, [waiting("O3", "order.unclear")]);
    expect(await signers(world, "2026-10")).toMatchObject({ [first]: "anna", [unread]: "ben", [other]: null });
    const { sign_offs = [] } = await stated(world, "2026-10");
    expect(sign_offs, "what was said stays said").toHaveLength(5);
  });

  it(
    "is accepted for that month alone, also where it ended since, and the next month needs its own",
    { tags: "long" },
    async () => {
      const { world } = await troubled();
      const place = placeOf(world);
      const first = await idOf(world, "2026-10", "record", "order crm/O1");
      const waits = await idOf(world, "2026-10", "record", "order crm/O3");
      await signOff(place, "2026-10", [first, waits], accepts);
      expect((await signers(world, "2026-11"))[first]).toBeNull();
      world.now = at("11-10T10:00:00");
      await world.startRun();
      await world.ledger.records.setOutcomes(world.run, [{ ...waiting("O3"), outcome: "planned" }]);
      expect(await signers(world, "2026-10")).toMatchObject({ [first]: "anna", [waits]: "anna" });
      // It was over before the end of November: there is nothing to accept of it then.
      expect(await signers(world, "2026-11")).not.toHaveProperty([waits]);
      await expect(signOff(place, "2026-11", [waits], accepts)).rejects.toMatchObject({ code: "periods.no-blocker" });
      await signOff(place, "2026-11", [first], { by: "ben", reason: "still" });
      expect([(await signers(world, "2026-10"))[first], (await signers(world, "2026-11"))[first]]).toEqual([
        "anna",
        "ben",
      ]);
    },
  );

  it("was not accepted yet at a moment before somebody did", { tags: "long" }, async () => {
    const { world } = await troubled();
    const first = await idOf(world, "2026-10", "record", "order crm/O1");
    const then = new Date(world.now).toISOString();
    world.now = at("11-03T10:00:00");
    await signOff(placeOf(world), "2026-10", [first], accepts);
    const later = new Date(world.now).toISOString();
    expect((await signers(world, "2026-10", then))[first]).toBeNull();
    expect((await stated(world, "2026-10", then))["sign_offs"]).toEqual([]);
    expect((await signers(world, "2026-10", later))[first]).toBe("anna");
  });

  it("is accepted with no words that name its customer, and stays accepted once the customer is erased", async () => {
    const { world } = await troubled();
    const place = placeOf(world);
    world.now = at("10-30T10:00:00");
    await world.startRun();
    await world.read("customers", [{ customers: customerRecord("C3") }], { close: true });
    await world.read("staff", [{ staff: staffRecord("S3", "C3") }]);
    const wait = { stream: "staff", key: key("S3"), code: "staff.unclear", reason: "CANARY" } as const;
    await world.ledger.records.setOutcomes(world.run, [{ ...wait, outcome: "deferred" }]);
    const id = "deferred:staff/crm/S3:staff.unclear";
    const names = { by: "anna", reason: "asked CANARY name C3" };
    await expect(signOff(place, "2026-10", [id], names)).rejects.toMatchObject({
      code: "reason.names",
      message: expect.stringContaining("crm/C3"),
    });
    world.now = at("11-02T10:00:00");
    await signOff(place, "2026-10", [id], accepts);
    for (const day of ["11-03", "11-04"]) {
      world.now = at(`${day}T10:00:00`);
      for (const stream of ["customers", "staff"] as const) await world.read(stream, [], { close: true });
    }
    for (const [stream, of] of [["customers", "C3"] as const, ["staff", "S3"] as const])
      await world.ledger.records.setOutcomes(world.run, [{ stream, key: key(of), outcome: "planned" }]);
    await world.ledger.private.erase({ customer: key("C3") }, { by: "ben", reason: "request 17" });
    expect((await signers(world, "2026-10"))[id]).toBe("anna");
  });

  it("is not accepted for a period that has not begun, and is from its first moment on", async () => {
    const { world } = await troubled();
    const place = placeOf(world);
    const first = await idOf(world, "2026-10", "record", "order crm/O1");
    world.now = Date.parse(month("2026-12").from) - 1;
    for (const id of [first, ...(await blockersOf(place, "2026-12")).map((one) => one.id)])
      await expect(signOff(place, "2026-12", [id], accepts)).rejects.toMatchObject({
        code: "periods.not-begun",
        exitCode: 64,
        message: expect.stringContaining("2026-12 begins only at"),
      });
    expect([...world.ledger.audit.rows()].filter(({ kind }) => kind === "signed-off")).toEqual([]);
    world.now += 1;
    expect(await signOff(place, "2026-12", [first, first], accepts)).toMatchObject([{ id: first, already: false }]);
  });

  it("is named where an id stands for nothing: where such ids are found", async () => {
    const { world } = await troubled();
    const refused = signOff(placeOf(world), "2026-10", ["quarantined:q-0000000000"], accepts);
    await expect(refused).rejects.toMatchObject({
      code: "periods.no-blocker",
      exitCode: 64,
      cure: expect.stringMatching(/report blockers 2026-10.*sign_off_id.*report exceptions --period 2026-10/su),
    });
    expect([...world.ledger.audit.rows()].filter(({ kind }) => kind === "signed-off")).toEqual([]);
  });

  it("has the id of what is held or in doubt as long as that stands in the way, and no other has one", async () => {
    const { world } = await troubled();
    world.now = at("10-20T10:00:00");
    const { hold: held } = await ask(world.ledger, "C1");
    await world.read("orders", [{ orders: orderRecord("O6", "C1") }]);
    const parked = await world.intend(await world.orderOperation(key("C1"), key("O6")));
    await world.ledger.journal.conclude(parked, {
      state: "parked",
      attempt: { outcome: "unknown", detail: "time-out" },
      message: "not shown",
      changes: [],
      audit: { kind: "parked", body: {} },
    });
    await world.startRun();
    await world.read("staff", [], { complete: false });
    world.now = at("11-02T10:00:00");
    const ids = async (): Promise<unknown> => {
      const { exceptions = [] } = await stated(world, "2026-10");
      const all = exceptions.filter(({ kind }) => ["held", "parked", "source-incomplete"].includes(String(kind)));
      return cells(all, "kind", "sign_off_id");
    };
    expect(await ids()).toEqual([
      ["parked", `operation:${parked}`],
      ["held", `hold:${held}`],
      ["source-incomplete", null],
    ]);
    const named = (await blockersOf(placeOf(world), "2026-10")).map(({ id }) => id);
    expect(named).toEqual(expect.arrayContaining([`operation:${parked}`, `hold:${held}`]));
    await world.ledger.decisions.decide(held, "reject", "a mistake", "ben");
    expect(await ids()).toEqual([
      ["parked", `operation:${parked}`],
      ["held", null],
      ["source-incomplete", null],
    ]);
  });
});
