import Database from "better-sqlite3";
import { describe, expect, it } from "vitest";
import type { Closing } from "../../src/ledger/books/books.ts";
import { customerRecord, key, orderRecord } from "../support/world/records.ts";
import { LedgerWorld } from "../support/world/ledger-world.ts";
import { trusted } from "../support/trusted.ts";

const months = {
  "2026-09": ["2026-09-01T00:00:00.000Z", "2026-10-01T00:00:00.000Z"],
  "2026-10": ["2026-10-01T00:00:00.000Z", "2026-11-01T00:00:00.000Z"],
  "2026-11": ["2026-11-01T00:00:00.000Z", "2026-12-01T00:00:00.000Z"],
  "2026-12": ["2026-12-01T00:00:00.000Z", "2027-01-01T00:00:00.000Z"],
} as const;

/** A world whose clock is set, and what closes a month of it. */
async function bookWorld(now: string) {
  const world = await LedgerWorld.open();
  await world.read("customers", [{ customers: customerRecord("C1") }]);
  await world.link(key("C1"), "E1");
  await world.read("orders", [{ orders: orderRecord("O1", "C1") }]);
  world.now = Date.parse(now);
  const closing = async (label: keyof typeof months, fields: Partial<Closing> = {}): Promise<Closing> => {
    const head = await (await world.inquiry()).auditHead();
    if (head === undefined) throw new Error("nothing was written");
    const [from, to] = months[label];
    return {
      period: { label, zone: "UTC", from, to },
      asOf: new Date(world.now).toISOString(),
      head,
      program: "0.1.0",
      configuration: "c".repeat(64),
      files: [{ name: `orders-${label}.csv`, kind: "orders", format: "csv", sha256: "a".repeat(64), bytes: 17 }],
      signedOff: [],
      ...fields,
    };
  };
  const close = async (label: keyof typeof months, fields: Partial<Closing> = {}) =>
    await world.ledger.books.close(await closing(label, fields), { by: "anna", reason: undefined }, trusted);
  return { world, closing, close };
}

describe("closed periods", () => {
  it("keep the head, the files and the person, and the audit log names them", async () => {
    const { world, closing, close } = await bookWorld("2026-11-03T09:00:00.000Z");
    const { head } = await closing("2026-10");
    expect(await close("2026-10")).toEqual({ period: "2026-10", closing: 1 });
    const inquiry = await world.inquiry();
    expect(await inquiry.closings("2026-10")).toMatchObject([
      { closing: 1, closedBy: "anna", entry: head.sequence, root: head.root, size: head.size, reopened: null },
    ]);
    expect(await inquiry.closedFiles("2026-10", 1)).toMatchObject([{ name: "orders-2026-10.csv", bytes: 17 }]);
    const entry = [...world.ledger.audit.rows()].at(-1);
    expect(entry).toMatchObject({ kind: "period-closed", subject: "period:2026-10" });
    expect(JSON.parse(entry?.body ?? "")).toMatchObject({
      closing: 1,
      by: "anna",
      entry: head.sequence,
      root: head.root,
      files: [{ name: "orders-2026-10.csv", sha256: "a".repeat(64), bytes: 17 }],
    });
  });

  it(
    "are refused for a month that is not over, is closed, shares time, leaves a gap or comes before another",
    { tags: "long" },
    async () => {
      const { world, close } = await bookWorld("2026-11-03T09:00:00.000Z");
      await expect(close("2026-11")).rejects.toMatchObject({ code: "periods.not-over" });
      await close("2026-10");
      await expect(close("2026-10")).rejects.toMatchObject({ code: "periods.closed" });
      const quarter = { label: "2026-Q4", zone: "UTC", from: months["2026-10"][0], to: months["2026-12"][1] };
      world.now = Date.parse("2027-01-02T09:00:00.000Z");
      await expect(close("2026-10", { period: quarter })).rejects.toMatchObject({ code: "periods.shared-time" });
      await expect(close("2026-12")).rejects.toMatchObject({ code: "books.gap" });
      await close("2026-11");
      await close("2026-12");
      expect((await (await world.inquiry()).closings()).map(({ period }) => period)).toEqual([
        "2026-10",
        "2026-11",
        "2026-12",
      ]);
      const late = await bookWorld("2026-12-03T09:00:00.000Z");
      await late.close("2026-11");
      await expect(late.close("2026-10")).rejects.toMatchObject({ code: "periods.out-of-order" });
    },
  );

  it("are none of a time that was over before the ledger began, and begin with the month that it began in", async () => {
    const { world, close } = await bookWorld("2026-11-03T09:00:00.000Z");
    const before = {
      code: "periods.before-ledger",
      exitCode: 64,
      message: expect.stringContaining("2026-10-01T08:00:00.000Z"),
      cure: expect.stringContaining("crm-sync report close 2026-10"),
    };
    const [from, to] = months["2026-09"];
    const september = { label: "2026-09", zone: "UTC", from, to };
    const inquiry = await world.inquiry();
    await expect(close("2026-09")).rejects.toMatchObject(before);
    await expect(inquiry.blockers(september)).rejects.toMatchObject(before);
    const asOf = "2026-11-03T09:00:00.000Z";
    expect(() => world.ledger.books.requireClosable(september, asOf)).toThrow("ended before this ledger began");
    // Up to the moment it began, and with the first millisecond of it.
    const until = (end: string) => ({ ...september, to: end });
    expect(() => world.ledger.books.requireClosable(until("2026-10-01T08:00:00.000Z"), asOf)).toThrow("began");
    world.ledger.books.requireClosable(until("2026-10-01T08:00:00.001Z"), asOf);
    expect(await close("2026-10")).toEqual({ period: "2026-10", closing: 1 });
    await expect(close("2026-09"), "whatever is closed").rejects.toMatchObject(before);
  });

  it("name a head that the ledger holds, or are not closed", async () => {
    const { closing, close, world } = await bookWorld("2026-11-03T09:00:00.000Z");
    const { head } = await closing("2026-10");
    await expect(close("2026-10", { head: { ...head, hash: "0".repeat(64) } })).rejects.toMatchObject({
      code: "periods.other-record",
      exitCode: 65,
    });
    await expect(close("2026-10", { head: { ...head, sequence: 99 } })).rejects.toMatchObject({
      code: "periods.other-record",
    });
    expect(await (await world.inquiry()).closings()).toEqual([]);
  });

  it("are opened again with a name and a reason, the last one first, and both closings stay", async () => {
    const { world, close } = await bookWorld("2026-12-03T09:00:00.000Z");
    await close("2026-10");
    await close("2026-11");
    const again = { by: "ben", reason: "an amount was wrong" };
    await expect(world.ledger.books.reopen("2026-10", again)).rejects.toMatchObject({ code: "periods.later-closed" });
    await expect(world.ledger.books.reopen("2026-09", again)).rejects.toMatchObject({ code: "periods.not-closed" });
    expect(await world.ledger.books.reopen("2026-11", again)).toEqual({ period: "2026-11", closing: 1 });
    await world.ledger.books.reopen("2026-10", again);
    await expect(world.ledger.books.reopen("2026-10", again)).rejects.toMatchObject({ code: "periods.not-closed" });
    expect(await close("2026-10")).toEqual({ period: "2026-10", closing: 2 });
    expect(await (await world.inquiry()).closings("2026-10")).toMatchObject([
      { closing: 1, reopened: { by: "ben", reason: "an amount was wrong" } },
      { closing: 2, reopened: null },
    ]);
    expect([...world.ledger.audit.rows()].filter(({ kind }) => kind === "period-reopened")).toHaveLength(2);
  });

  it("go on where they began: no month is closed while one before it is open again", { tags: "long" }, async () => {
    const { world, close } = await bookWorld("2027-01-03T09:00:00.000Z");
    const again = { by: "ben", reason: "an amount was wrong" };
    const months = ["2026-10", "2026-11", "2026-12"] as const;
    for (const month of months) await close(month);
    for (const month of months.toReversed()) await world.ledger.books.reopen(month, again);
    for (const month of ["2026-11", "2026-12"] as const)
      await expect(close(month)).rejects.toMatchObject({
        code: "books.gap",
        exitCode: 64,
        message: expect.stringContaining("2026-10"),
        cure: expect.stringContaining("crm-sync report close 2026-10"),
      });
    for (const month of months) expect(await close(month)).toEqual({ period: month, closing: 2 });
  });

  it("are changed by nobody, whoever writes to the file", async () => {
    const { world, close } = await bookWorld("2026-12-03T09:00:00.000Z");
    await world.ledger.books.signOff(
      "2026-10",
      [{ id: "hold:h1", facts: "f" }],
      { by: "anna", reason: "known" },
      trusted,
    );
    await close("2026-10");
    const database = new Database(world.path);
    const refused = (statement: string): void => expect(() => database.exec(statement)).toThrow(/never|only opened/u);
    refused("update closed_file set sha256 = 'b'");
    refused("delete from closed_file");
    refused("update closed_period set tree_root = 'x'");
    refused("update closed_period set reopened_at = 'x', reopened_by = 'y', reopened_reason = 'z', as_of = 'x'");
    refused("delete from closed_period");
    refused("update sign_off set reason = 'x'");
    refused("delete from sign_off");
    database.exec("update closed_period set reopened_at = 'x', reopened_by = 'y', reopened_reason = 'z'");
    refused("update closed_period set reopened_at = null, reopened_by = null, reopened_reason = null");
    database.close();
  });
});

describe("what stands in the way of a closing", () => {
  const october = { label: "2026-10", zone: "UTC", from: months["2026-10"][0], to: months["2026-10"][1] };

  it("is what has no outcome, what is held and what was not read since, and a person takes it as it is", async () => {
    const { world } = await bookWorld("2026-10-20T09:00:00.000Z");
    await world.ledger.records.configureStreams([
      { source: "erp", stream: "customers", job: "customers-and-orders" },
      { source: "other", stream: "orders", job: undefined },
    ]);
    const id = await world.intend(await world.orderOperation(key("C1"), key("O1")));
    const inquiry = await world.inquiry();
    const [open, unread, running] = await inquiry.blockers(october);
    expect(unread).toMatchObject({ id: "source:erp/customers", kind: "source-unread" });
    expect(open).toMatchObject({ id: `operation:${id}`, kind: "outcome-unknown", signedOff: null });
    expect(running).toMatchObject({ kind: "run" });
    world.now = Date.parse("2026-11-02T09:00:00.000Z");
    const whose = { by: "anna", reason: "known to sales" };
    if (open === undefined) throw new Error("nothing stands in the way");
    await world.ledger.books.signOff("2026-10", [open], whose, trusted);
    await world.ledger.books.signOff("2026-10", [open], whose, trusted);
    await world.read("customers", [{ customers: customerRecord("C1") }], { complete: false });
    expect(await (await world.inquiry()).blockers(october)).toHaveLength(3);
    await world.read("customers", [{ customers: customerRecord("C1") }]);
    const [signed, other, ...more] = await (await world.inquiry()).blockers(october);
    expect(more).toEqual([]);
    expect(signed).toMatchObject({ id: open.id, signedOff: { by: "anna", reason: "known to sales" } });
    expect(other).toMatchObject({ kind: "run", signedOff: null });
    expect([...world.ledger.audit.rows()].filter(({ kind }) => kind === "signed-off")).toHaveLength(1);
    // What was signed is an operation in progress; the same one in another state is something else.
    await world.ledger.journal.conclude(id, {
      state: "unknown",
      attempt: { outcome: "unknown" },
      changes: [],
      audit: { kind: "place-order", body: {} },
    });
    expect((await (await world.inquiry()).blockers(october))[0]).toMatchObject({ id: open.id, signedOff: null });
    // What began after a time does not stand in its way.
    expect(await (await world.inquiry()).blockers({ ...october, to: "2026-10-01T08:00:00.001Z" })).not.toContainEqual(
      expect.objectContaining({ id: open.id }),
    );
  });
});
