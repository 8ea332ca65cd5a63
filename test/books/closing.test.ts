import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import Database from "better-sqlite3";
import { describe, expect, it, vi } from "vitest";
import { blockersOf, closeBooks, printBooks, signOff, type BooksPlace } from "../../src/books/books.ts";
import { FrozenFiles } from "../../src/books/frozen-files.ts";
import { anyGroup } from "../support/as-user.ts";
import type { LedgerWorld } from "../support/world/ledger-world.ts";
import { folder } from "../support/world/start.ts";
import { threeMonths } from "../inquiry/statement/statement-world.ts";
import { customerRecord } from "../support/world/records.ts";
import { anna, placeOf, readyWorld, signAll } from "./book-world.ts";
import { trusted } from "../support/trusted.ts";

const books = (world: LedgerWorld): string => join(dirname(world.path), "periods");

/** The configuration names another zone from now on. */
function inZone(place: BooksPlace, zone: string): BooksPlace {
  return { ...place, config: { ...place.config, zone } };
}

describe("a month that is closed in another zone than the one before", () => {
  for (const zone of ["America/New_York", "Asia/Tokyo"])
    it(`begins where that one ended: ${zone}`, { tags: "long" }, async () => {
      const { world, place } = await readyWorld();
      await closeBooks(place, "2026-10", anna);
      world.now = Date.parse("2026-12-25T10:00:00.000Z");
      const other = inZone(place, zone);
      await signAll(other, "2026-11");
      world.now += 1_000;
      expect(await closeBooks(other, "2026-11", anna)).toMatchObject({ closed: { closing: 1 } });
      const [october, november] = await (await world.inquiry()).closings();
      expect(november).toMatchObject({ zone, from: october?.to });
      const out = folder();
      expect(await printBooks(other, "2026-11", { folder: out })).toMatchObject({ different: [] });
      const { header } = JSON.parse(readFileSync(join(out, "orders-2026-11.json"), "utf8")) as {
        header: { period: object };
      };
      expect(header.period).toMatchObject({ from: "2026-10-31T23:00:00.000Z", zone, joined: true });
      // The month after it begins where its label says.
      world.now = Date.parse("2027-01-05T10:00:00.000Z");
      await signAll(other, "2026-12");
      world.now += 1_000;
      expect(await closeBooks(other, "2026-12", anna)).toMatchObject({ closed: { closing: 1 } });
      expect((await (await world.inquiry()).closings("2026-12"))[0]?.from).toBe(november?.to);
    });

  it("is refused where it begins on another day", { tags: "long" }, async () => {
    const { world, place } = await readyWorld();
    await closeBooks(place, "2026-10", anna);
    world.now = Date.parse("2026-12-25T10:00:00.000Z");
    await expect(closeBooks(inZone(place, "America/New_York"), "2026-10-31..2026-11-30", anna)).rejects.toMatchObject({
      code: "periods.shared-time",
    });
    await expect(closeBooks(inZone(place, "Asia/Tokyo"), "2026-11-02..2026-11-30", anna)).rejects.toMatchObject({
      code: "books.gap",
    });
  });
});

describe("the folder of closed periods", () => {
  it("is for its owner, and is given to the group that the configuration names later", { tags: "long" }, async () => {
    const { world, place } = await readyWorld();
    await closeBooks(place, "2026-10", anna);
    const rights = (path: string): string => (statSync(path).mode & 0o7777).toString(8);
    const files = readdirSync(books(world)).map((name) => join(books(world), name));
    expect(new Set([books(world), ...files].map(rights))).toEqual(new Set(["700", "400"]));
    const group = anyGroup();
    new FrozenFiles(world.path, group).keepReadable();
    expect(rights(books(world))).toBe("2750");
    expect(new Set(files.map(rights))).toEqual(new Set(["440"]));
    for (const path of [books(world), ...files]) expect(statSync(path).gid).toBe(group.id);
    new FrozenFiles(world.path, undefined).keepReadable();
    expect(new Set([books(world), ...files].map(rights))).toEqual(new Set(["700", "400"]));
  });

  it(
    "keeps nothing of a closing that failed, and leaves what another ledger is closing alone",
    { tags: "long" },
    async () => {
      const { world, place } = await readyWorld();
      mkdirSync(join(books(world), "unfinished-other.db"), { recursive: true });
      const full = Object.assign(new Error("ENOSPC: no space left on device, write"), { syscall: "write" });
      // oxlint-disable-next-line typescript/unbound-method -- it is called with the folder that was asked
      const { keep } = FrozenFiles.prototype;
      let left = 5;
      const spy = vi.spyOn(FrozenFiles.prototype, "keep").mockImplementation(async function (
        this: FrozenFiles,
        chunks,
      ) {
        left -= 1;
        if (left === 0) throw full;
        return await keep.call(this, chunks);
      });
      await expect(closeBooks(place, "2026-10", anna)).rejects.toBe(full);
      spy.mockRestore();
      expect(readdirSync(books(world))).toEqual(["unfinished-other.db"]);
      expect(await (await world.inquiry()).closings()).toEqual([]);
      expect(await closeBooks(place, "2026-10", anna)).toMatchObject({ closed: { closing: 1 } });
      expect(existsSync(join(books(world), "unfinished-other.db"))).toBe(true);
    },
  );

  it("that cannot be written stops the closing, is named, and leaves the period open", async () => {
    const { world, place } = await readyWorld();
    writeFileSync(books(world), "a file is there");
    await expect(closeBooks(place, "2026-10", anna)).rejects.toMatchObject({
      code: "periods.cannot-write",
      message: expect.stringContaining(books(world)),
    });
    expect(await (await world.inquiry()).closings()).toEqual([]);
  });

  it(
    "is read where a closing ended before its files were moved, and the next closing moves them",
    { tags: "long" },
    async () => {
      const { world, place } = await readyWorld();
      expect(await closeBooks(place, "2026-10", anna)).toMatchObject({ closed: { closing: 1 } });
      const waiting = join(books(world), "unfinished-ledger.db");
      expect(world.path.endsWith("/ledger.db")).toBe(true);
      const all = readdirSync(books(world));
      mkdirSync(waiting);
      for (const name of all) renameSync(join(books(world), name), join(waiting, name));
      writeFileSync(join(waiting, "f".repeat(64)), "of no closing");
      expect(await printBooks(place, "2026-10", { folder: folder() })).toMatchObject({ different: [] });
      world.now = Date.parse("2026-12-25T10:00:00.000Z");
      await signAll(place, "2026-11");
      world.now += 1_000;
      await closeBooks(place, "2026-11", anna);
      expect(readdirSync(books(world))).toEqual(expect.arrayContaining(all));
      expect(readdirSync(books(world))).not.toContain("f".repeat(64));
      expect(existsSync(waiting)).toBe(false);
    },
  );
});

it("closed periods say what was signed off, by whom and why, whatever it was", { tags: "long" }, async () => {
  const world = await threeMonths({ isOtherMoney: true });
  await world.read("customers", [{ customers: customerRecord("C1") }], { complete: false });
  world.now = Date.parse("2026-11-25T10:00:00.000Z");
  const place = placeOf(world);
  const blockers = await blockersOf(place, "2026-10");
  for (const [index, { id }] of blockers.entries())
    await signOff(place, "2026-10", [id], { by: "ben", reason: `reason ${index}` });
  world.now += 1_000;
  expect(await closeBooks(place, "2026-10", anna)).toMatchObject({ closed: { closing: 1 } });
  const out = folder();
  await printBooks(place, "2026-10", { folder: out });
  const { parts } = JSON.parse(readFileSync(join(out, "exceptions-2026-10.json"), "utf8")) as {
    parts: { sign_offs: { rows: Record<string, unknown>[] } };
  };
  expect(new Set(blockers.map(({ kind }) => kind))).toEqual(new Set(["run", "money"]));
  expect(parts.sign_offs.rows).toMatchObject(
    blockers.map(({ id, what, facts }, index) => ({
      blocker: id,
      what,
      facts,
      signed_off_by: "ben",
      signed_off_at: "2026-11-25T11:00:00+01:00",
      sign_off_reason: `reason ${index}`,
    })),
  );
});

/** Puts tables back as they are now. */
function keeping(database: Database.Database, tables: readonly string[]): () => void {
  const kept = tables.map((table) => ({
    table,
    rows: database.prepare<[], unknown[]>(`select * from ${table}`).raw().all(),
  }));
  return () => {
    for (const { table, rows } of kept) {
      database.exec(`delete from ${table}`);
      for (const row of rows)
        database.prepare(`insert into ${table} values (${row.map(() => "?").join(", ")})`).run(row);
    }
  };
}

describe("audit verify", () => {
  it("finds any row of closed periods that is not as its audit entry says", { tags: "long" }, async () => {
    const { world, place } = await readyWorld();
    const made = await closeBooks(place, "2026-10", anna);
    if (made.closed === undefined) throw new Error("it was not closed");
    await world.ledger.books.reopen("2026-10", { by: "ben", reason: "an amount was wrong" });
    const verified = async () => (await (await world.inquiry()).auditVerdicts([])).integrity;
    expect(await verified()).toEqual({ good: true });
    const database = new Database(world.path);
    const guards = database
      .prepare<[], { name: string; sql: string }>("select name, sql from sqlite_schema where type = 'trigger'")
      .all()
      .filter(({ name }) => /^(?:closed|sign)_/u.test(name));
    // As somebody could who lifts the guards and puts them back.
    const unguarded = (work: () => void): void => {
      for (const guard of guards) database.exec(`drop trigger ${guard.name}`);
      work();
      for (const { sql } of guards) database.exec(sql);
    };
    const restore = keeping(database, ["closed_period", "closed_file", "sign_off"]);
    const name = made.files[0]?.name ?? "";
    const changes: [sql: string, why: string][] = [
      ["update closed_period set as_of = '2026-11-26T00:00:00.000Z'", "closing 1 of 2026-10 is not as entry"],
      ["update closed_period set closed_by = 'zoe'", "closing 1 of 2026-10 is not as entry"],
      ["update closed_period set reopened_reason = 'zoe'", "that closing 1 of 2026-10 was opened again is not as"],
      ["update closed_period set reopened_at = null", "that closing 1 of 2026-10 was opened again is gone"],
      ["delete from closed_period", "closing 1 of 2026-10 is gone from the tables"],
      [
        `update closed_file set sha256 = '${"f".repeat(64)}' where name = '${name}'`,
        `${name} of closing 1 of 2026-10 is not`,
      ],
      [`delete from closed_file where name = '${name}'`, `${name} of closing 1 of 2026-10 is gone`],
      [
        `insert into closed_file values ('2026-10', 1, 'z.csv', 'orders', 'csv', '${"f".repeat(64)}', 1)`,
        "z.csv of closing 1 of 2026-10 is in the tables, and no entry is about it",
      ],
      ["update sign_off set reason = 'zoe'", "the sign-off of money:crm/O2 for 2026-10"],
      ["delete from sign_off", "the sign-off of money:crm/O2 for 2026-10"],
    ];
    for (const [sql, why] of changes) {
      unguarded(() => database.exec(sql));
      expect(await verified(), sql).toMatchObject({
        good: false,
        code: "books-changed",
        why: expect.stringContaining(why),
      });
      unguarded(restore);
    }
    expect(await verified()).toEqual({ good: true });
    database.close();
  });
});

describe("printing", () => {
  it("writes all files of a closing or none", { tags: "long" }, async () => {
    const { world, place } = await readyWorld();
    const made = await closeBooks(place, "2026-10", anna);
    const last = made.closed === undefined ? undefined : made.files.toSorted((a, b) => (a.name < b.name ? 1 : -1))[0];
    if (last === undefined) throw new Error("nothing was frozen");
    const path = join(books(world), last.sha256);
    chmodSync(path, 0o600);
    writeFileSync(path, "rubbish");
    const out = folder();
    await expect(printBooks(place, "2026-10", { folder: out })).rejects.toMatchObject({ code: "periods.file-changed" });
    expect(readdirSync(out)).toEqual([]);
  });

  it("follows no name out of the folder, also where the audit log has it", async () => {
    const { world, place } = await readyWorld();
    const head = await (await world.inquiry()).auditHead();
    if (head === undefined) throw new Error("nothing was written");
    const frozen = new FrozenFiles(world.path, undefined);
    const kept = await frozen.keep(["x"]);
    frozen.settle(new Set([kept.sha256]));
    const period = { label: "2026-10", zone: "UTC", from: "2026-10-01T00:00:00.000Z", to: "2026-11-01T00:00:00.000Z" };
    const file = { name: "../out.csv", kind: "orders", format: "csv", ...kept };
    const of = { period, asOf: new Date(world.now).toISOString(), head, program: "0", configuration: "c" };
    await world.ledger.books.close({ ...of, files: [file], signedOff: [] }, anna, trusted);
    const out = join(folder(), "inside");
    mkdirSync(out);
    await expect(printBooks(place, "2026-10", { folder: out })).rejects.toMatchObject({ code: "periods.changed" });
    expect(readdirSync(dirname(out))).toEqual(["inside"]);
  });
});
