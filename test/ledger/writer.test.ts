import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import Database from "better-sqlite3";
import { describe, expect, it, onTestFinished } from "vitest";
import { openDatabase } from "../../src/ledger/database/database.ts";
import { Sequence } from "../../src/ledger/database/sequence.ts";
import { Writer } from "../../src/ledger/database/writer.ts";
import { count, intend, problemOf, update } from "./opened.ts";
import { folder, openLedger, sqlite } from "../support/world/start.ts";

function table(): { database: Database.Database; path: string; insert: (value: number) => () => void } {
  const path = join(folder(), "numbers.db");
  const database = new Database(path, { timeout: 50 });
  onTestFinished(() => {
    database.close();
  });
  database.pragma("journal_mode = wal");
  database.pragma("synchronous = full");
  database.exec("create table number (value integer primary key)");
  const statement = database.prepare("insert into number (value) values (?)");
  return { database, path, insert: (value) => () => void statement.run(value) };
}

const range = (length: number): number[] => Array.from({ length }, (_, index) => index);

async function turnsOfTheEventLoop(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await setImmediate();
}

it("reads a pause of another process anew, also after its own writing failed", async () => {
  const { ledger, path } = await openLedger();
  ledger.runs.takeLock();
  const other = sqlite(path);
  other.prepare("update meta set value = '999' where key = 'epoch'").run();
  const start = ledger.runs.start({ job: "j", kind: "sync", trigger: "hand", scope: null, header: {} });
  await expect(start).rejects.toMatchObject({ code: "run.lost-lock" });
  expect(ledger.pause.now()).toBeUndefined();
  const word = { isPaused: true, since: "2026-11-30T00:00:00.000Z", by: "ana", reason: "a test" };
  other.prepare("insert into meta (key, value) values ('pause', ?)").run(JSON.stringify(word));
  expect(ledger.pause.now()).toMatchObject({ by: "ana" });
});

describe("the one writer", () => {
  it("commits at most 64 pieces of work together", async () => {
    const { database, insert } = table();
    let groups = 0;
    const writer = new Writer(database, { guard: () => (groups += 1) });
    await Promise.all(range(200).map((value) => writer.write(insert(value))));
    expect(groups).toBe(4);
    expect(database.prepare("select count(*) from number").pluck().get()).toBe(200);
  });

  it("answers after the commit and not before", async () => {
    const { database, path, insert } = table();
    const writer = new Writer(database);
    const written = writer.write(insert(1));
    expect(count(path, "number")).toBe(0);
    await written;
    expect(count(path, "number")).toBe(1);
  });

  it("undoes work that throws alone, with everything it had done", async () => {
    const { database, path, insert } = table();
    const writer = new Writer(database);
    const outcomes = await Promise.allSettled([
      writer.write(insert(1)),
      writer.write(() => {
        insert(2)();
        insert(3)();
        throw new Error("no");
      }),
      writer.write(insert(4)),
    ]);
    expect(outcomes.map((outcome) => outcome.status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
    expect(database.prepare("select value from number order by value").pluck().all()).toEqual([1, 4]);
    expect(count(path, "number")).toBe(2);
    await writer.write(insert(5));
  });

  it("takes no savepoint while nothing throws", async () => {
    const said: string[] = [];
    const { path } = table();
    const database = sqlite(path, { verbose: (sql) => said.push(String(sql)) });
    const writer = new Writer(database);
    const insert = database.prepare("insert into number (value) values (?)");
    await Promise.all(range(2).map((value) => writer.write(() => void insert.run(value))));
    expect(said).toEqual([
      "begin immediate",
      ...range(2).map((value) => `insert into number (value) values (${value}.0)`),
      "commit",
    ]);
  });

  it("runs a group again where a piece of it throws, and nothing of it counts twice", async () => {
    const { database, path } = table();
    database.exec("create table text (body text)");
    const statement = database.prepare("insert into text (body) values (?)");
    const write = (text: string) => (): string => {
      statement.run(text);
      return text;
    };
    const kept: number[] = [];
    const writer = new Writer(database, { counted: () => () => kept.push(count(path, "text")) });
    let tries = 0;
    const sequence = new Sequence();
    const first = (): string => {
      tries += 1;
      if (tries === 1) throw new Error("once");
      return write("leads")();
    };
    const outcomes = await Promise.allSettled([
      writer.write(write("before")),
      writer.write(sequence.leads(first)),
      writer.write(sequence.follows(write("after"))),
      writer.write(() => {
        write("guilty")();
        throw new Error("always");
      }),
    ]);
    expect(outcomes.map((outcome) => (outcome.status === "fulfilled" ? outcome.value : "refused"))).toEqual([
      "before",
      "leads",
      "after",
      "refused",
    ]);
    expect(database.prepare("select body from text").pluck().all()).toEqual(["before", "leads", "after"]);
    expect(kept, "committed once, and kept once").toEqual([3]);
  });

  it("keeps what stands before the piece of a customer that throws, and nothing that counts on it", async () => {
    const { database, insert } = table();
    const writer = new Writer(database);
    const sequence = new Sequence();
    const other = new Sequence();
    const fails = (): never => {
      throw new Error("always");
    };
    const outcomes = await Promise.allSettled([
      writer.write(sequence.leads(insert(1)), true),
      writer.write(sequence.follows(insert(2))),
      writer.write(other.leads(insert(3)), true),
      writer.write(sequence.leads(fails), true),
      writer.write(sequence.leads(insert(4)), true),
      writer.write(sequence.follows(insert(5))),
      writer.write(other.follows(insert(6))),
    ]);
    expect(outcomes.map(({ status }) => status === "fulfilled")).toEqual([true, true, true, false, false, false, true]);
    expect(database.prepare("select value from number order by value").pluck().all()).toEqual([1, 2, 3, 6]);
    await expect(writer.write(sequence.follows(insert(7))), "in a later group").rejects.toThrow("always");
  });

  it("accepts nothing more after a commit that failed, and says why", async () => {
    const { database, path, insert } = table();
    const writer = new Writer(database);
    const other = sqlite(path);
    other.exec("begin immediate");
    const outcomes = await Promise.allSettled([writer.write(insert(1)), writer.write(insert(2))]);
    other.exec("rollback");
    expect(outcomes.map((outcome) => outcome.status)).toEqual(["rejected", "rejected"]);
    expect(writer.broken?.code).toBe("ledger.busy");
    expect(await problemOf(() => writer.write(insert(3)))).toMatchObject({ code: "ledger.busy", exitCode: 65 });
    expect(count(path, "number")).toBe(0);
  });

  it("refuses what waits when a group before it failed", async () => {
    const { database, path, insert } = table();
    const writer = new Writer(database, { groupSize: 2 });
    const other = sqlite(path);
    other.exec("begin immediate");
    const outcomes = await Promise.allSettled(range(7).map((value) => writer.write(insert(value))));
    other.exec("rollback");
    expect(outcomes.every((outcome) => outcome.status === "rejected")).toBe(true);
    expect(count(path, "number")).toBe(0);
  });

  it("ends when the database cannot grow, and keeps none of the group that met it", async () => {
    const { database, path } = table();
    database.exec("create table text (body text)");
    const statement = database.prepare("insert into text (body) values (?)");
    database.pragma(`max_page_count = ${Number(database.pragma("page_count", { simple: true })) + 4}`);
    const writer = new Writer(database, { groupSize: 4 });
    const long = "x".repeat(3_000);
    await writer.write(() => void statement.run("first"));
    const outcomes = await Promise.allSettled(range(20).map(() => writer.write(() => void statement.run(long))));
    const kept = outcomes.filter((outcome) => outcome.status === "fulfilled").length;
    expect(kept).toBeLessThan(20);
    expect(writer.broken?.code).toBe("ledger.disk-full");
    expect(count(path, "text")).toBe(1 + kept);
  });

  it("commits what nobody waits for with what somebody waits for, in its order, and by itself where nobody does", async () => {
    const { path, database, insert } = table();
    let groups = 0;
    const writer = new Writer(database, { guard: () => (groups += 1) });
    onTestFinished(() => writer.close());
    const riding = range(20).map((value) => writer.write(insert(value), true));
    expect(count(path, "number")).toBe(0);
    await writer.write(insert(20));
    expect({ groups, rows: count(path, "number") }).toEqual({ groups: 1, rows: 21 });
    await Promise.all(riding);
    const alone = writer.write(insert(21), true);
    await Promise.race([alone, turnsOfTheEventLoop(100)]);
    expect({ groups, rows: count(path, "number") }).toEqual({ groups: 2, rows: 22 });
    await alone;
  });

  it("runs what is queued when it is closed, and nothing after", async () => {
    const { database, path, insert } = table();
    const writer = new Writer(database);
    const written = range(100).map((value) => writer.write(insert(value)));
    writer.close();
    expect(count(path, "number")).toBe(100);
    await Promise.all(written);
    await expect(writer.write(insert(500))).rejects.toThrow("closed");
  });
});

describe("a ledger", () => {
  it("reads the durability back that it asked for", async () => {
    const database = openDatabase(join(folder(), "ledger.db"));
    onTestFinished(() => {
      database.close();
    });
    const names = ["journal_mode", "synchronous", "foreign_keys"];
    expect(names.map((name) => database.pragma(name, { simple: true }))).toEqual(["wal", 2, 1]);
  });

  it("has an intent on disk before it answers", async () => {
    const { ledger, path } = await openLedger();
    const id = await intend(ledger, update("1"));
    const rows = sqlite(path, { readonly: true }).prepare("select id, state from operation").all();
    expect(rows).toEqual([{ id, state: "sending" }]);
  });
});
