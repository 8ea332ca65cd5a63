import Database from "better-sqlite3";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { PerTransaction } from "../../src/ledger/database/read-together.ts";
import { Writer } from "../../src/ledger/database/writer.ts";
import { count, doneWith, intend, update } from "./opened.ts";
import { key } from "../support/world/records.ts";
import { folder, openLedger, rowsOf } from "../support/world/start.ts";

/** A table of numbers, of which a writer keeps the largest one for each transaction. */
function numbers() {
  const path = join(folder(), "numbers.db");
  const database = new Database(path);
  onTestFinished(() => void database.close());
  database.pragma("journal_mode = wal");
  database.exec("create table number (value integer primary key)");
  const writer = new Writer(database);
  const largest = new PerTransaction<number>(() => writer.transaction);
  let readings = 0;
  const get = (): number =>
    largest.get(() => {
      readings += 1;
      return Number(database.prepare("select coalesce(max(value), 0) from number").pluck().get());
    });
  const next = (): number => {
    const value = largest.put(get() + 1);
    database.prepare("insert into number values (?)").run(value);
    return value;
  };
  return { database, path, writer, get, next, readings: () => readings };
}

describe("a fact of one transaction", () => {
  it("is read once by a group, and is what the group has written", async () => {
    const { writer, next, readings } = numbers();
    expect(await Promise.all([1, 2, 3].map(() => writer.write(next)))).toEqual([1, 2, 3]);
    expect(readings()).toBe(1);
  });

  it("is read again after a piece of the group was undone", async () => {
    const { writer, next } = numbers();
    const undone = writer.write(() => {
      next();
      throw new Error("this piece alone");
    });
    const others = [writer.write(next), writer.write(next)];
    await expect(undone).rejects.toThrow("this piece alone");
    expect(await Promise.all(others)).toEqual([1, 2]);
  });

  it("is read again after the commit, when somebody else may have written", async () => {
    const { path, writer, get, next } = numbers();
    await writer.write(next);
    const other = new Database(path);
    other.exec("insert into number values (7)");
    other.close();
    expect(get()).toBe(7);
  });
});

it("a call in the group of a pause leaves only before it", async () => {
  const { ledger } = await openLedger();
  const [before, , after] = await Promise.allSettled([
    intend(ledger, update("C1")),
    ledger.pause.begin({ by: "ana", reason: "a test" }),
    intend(ledger, update("C2")),
  ]);
  expect(before.status).toBe("fulfilled");
  expect(after).toMatchObject({ status: "rejected", reason: { code: "paused" } });
});

it("what was refused is forgotten once its operation went through, in a later transaction and in the same one", async () => {
  const { ledger, path } = await openLedger();
  const refused = (id: string) => ({
    ...doneWith(),
    state: "rejected" as const,
    rejections: {
      customer: key("C1"),
      kind: "update-enterprise" as const,
      settings: "",
      parts: [
        { record: { stream: "customers" as const, ...key("C1") }, hash: id, code: "c", reason: "r", shared: false },
      ],
    },
  });
  const begin = async (name: string): Promise<string> =>
    await intend(ledger, update("C1", { subject: `customer:crm/${name}` }));
  const [first, second] = [await begin("one"), await begin("two")];
  await ledger.journal.conclude(first, refused(first));
  expect(count(path, "rejection")).toBe(1);
  await ledger.journal.conclude(second, doneWith());
  expect(count(path, "rejection")).toBe(0);
  const [third, fourth, fifth] = [await begin("three"), await begin("four"), await begin("five")];
  await Promise.all([
    ledger.journal.conclude(third, doneWith()),
    ledger.journal.conclude(fourth, refused(fourth)),
    ledger.journal.conclude(fifth, doneWith()),
  ]);
  expect(count(path, "rejection")).toBe(0);
});

it("one row says what an enterprise acknowledged and which one a customer has, however often they change", async () => {
  const { ledger, path, time } = await openLedger();
  const customer = key("C1");
  const { state } = ledger;
  const open = (table: string, end: string): unknown[] => rowsOf(path, `select * from ${table} where ${end} is null`);
  const link = { channelCode: "crm", channelCustomerId: "C1", origin: "adopted", examined: true } as const;
  const linked = async (enterpriseGlobalId: string): Promise<unknown> =>
    await state.record(customer, [{ type: "linked", customer, link: { ...link, enterpriseGlobalId } }]);
  for (const name of ["a", "b"]) {
    await linked(`E-${name}`);
    const fields = { name, branchName: "", address: null };
    await state.record(customer, [{ type: "acknowledged", customer, fields }]);
    expect(open("link", "to_at")).toMatchObject([{ enterprise_global_id: `E-${name}` }]);
    expect(open("acknowledged", "to_at")).toMatchObject([{ fields: JSON.stringify(fields) }]);
    const why = { by: "ana", reason: "the wrong one" };
    await state.record(customer, [{ type: "unlinked", customer, enterpriseGlobalId: `E-${name}`, ...why }]);
    expect([open("link", "to_at"), open("unlinked", "ended_at")]).toMatchObject([[], [{ reason: "the wrong one" }]]);
    await time.sleep(1_000);
  }
  await linked("E-c");
  expect(open("unlinked", "ended_at")).toEqual([]);
});

it("customers that begin in one turn are waited for together, and one that cannot be read fails alone", async () => {
  let waited = 0;
  const { ledger } = await openLedger({
    awaited: async (commit) => {
      waited += 1;
      return await commit();
    },
  });
  const bad = key("bad");
  Object.defineProperty(bad, "id", {
    enumerable: true,
    get: () => {
      throw new Error("no id");
    },
  });
  const before = waited;
  const [one, broken, other] = await Promise.allSettled(
    [key("C1"), bad, key("C2")].map((of) => ledger.state.begin(of)),
  );
  expect([one?.status, other?.status]).toEqual(["fulfilled", "fulfilled"]);
  expect(broken).toMatchObject({ status: "rejected", reason: { message: "no id" } });
  expect(waited - before).toBe(3);
});
