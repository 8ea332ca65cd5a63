import { chmodSync, existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { blockersOf, closeBooks, printBooks, signOff, type BooksPlace } from "../../src/books/books.ts";
import { FrozenFiles } from "../../src/books/frozen-files.ts";
import type { Inquiry } from "../../src/inquiry/inquiry.ts";
import { ask } from "../support/world/asked.ts";
import type { LedgerWorld } from "../support/world/ledger-world.ts";
import { changeFile, folder, openLedger } from "../support/world/start.ts";
import { month, threeMonths } from "../inquiry/statement/statement-world.ts";
import { anna, placeOf, saidNow } from "./book-world.ts";
import { trusted } from "../support/trusted.ts";

const known = { by: "anna", reason: "known" };

/** The three months on 25 November, with the run at its end and everything in the way of October as it is. */
async function open(): Promise<{ world: LedgerWorld; place: BooksPlace }> {
  const world = await threeMonths({ isOtherMoney: true });
  await world.ledger.runs.finish(world.run, { state: "done", exitCode: 0, balance: {}, summary: {} });
  world.now = Date.parse("2026-11-25T10:00:00.000Z");
  return { world, place: placeOf(world) };
}

async function signAll(world: LedgerWorld, place: BooksPlace): Promise<void> {
  const ids = (await blockersOf(place, "2026-10")).map(({ id }) => id);
  await signOff(place, "2026-10", ids, known);
  world.now += 1_000;
}

async function ready(): Promise<{ world: LedgerWorld; place: BooksPlace }> {
  const of = await open();
  await signAll(of.world, of.place);
  return of;
}

const books = (world: LedgerWorld): string => join(dirname(world.path), "periods");

/** A clock that goes on while it is waited for. */
function ticking(world: LedgerWorld, inquiry: Inquiry): BooksPlace {
  const sleep = async (ms: number): Promise<void> => {
    world.now += ms;
  };
  return placeOf(world, {
    clock: { now: () => world.now, monotonic: () => world.now, sleep },
    inquiry: async () => ({ ...inquiry, ...saidNow(world) }),
  });
}

/** Somebody writes each time just before it is asked what stands in the way. */
function writeWhileAsked(inquiry: Inquiry, write: () => Promise<void>): void {
  const ask = inquiry.blockers.bind(inquiry);
  vi.spyOn(inquiry, "blockers").mockImplementation(async (...asked) => {
    await write();
    return await ask(...asked);
  });
}

describe("a period is not closed", () => {
  it("while one of several things that stand in the way is not signed off", { tags: "long" }, async () => {
    const { world, place } = await open();
    // A hold of C2, beside the amount of C1's order that the CRM has otherwise by now.
    world.now = Date.parse("2026-10-25T10:00:00.000Z");
    await ask(world.ledger, "C2");
    world.now = Date.parse("2026-11-25T10:00:00.000Z");
    const ids = (await blockersOf(place, "2026-10")).map(({ id }) => id);
    expect(ids.length).toBeGreaterThanOrEqual(2);
    for (const left of ids) {
      expect(await closeBooks(place, "2026-10", anna)).toMatchObject({ closed: undefined });
      await signOff(place, "2026-10", [left], known);
      world.now += 1_000;
    }
    expect(existsSync(books(world))).toBe(false);
    expect(await closeBooks(place, "2026-10", anna)).toMatchObject({ closed: { closing: 1 } });
    const entry = [...world.ledger.audit.rows()].at(-1);
    const { signedOff } = JSON.parse(entry?.body ?? "{}") as { signedOff: { blocker: string }[] };
    expect(new Set(signedOff.map(({ blocker }) => blocker))).toEqual(new Set(ids));
  });

  it("while another process writes, and nothing of it is rendered", { tags: "long" }, async () => {
    const { world, place } = await ready();
    const other = await openLedger({ path: world.path });
    other.ledger.runs.takeLock();
    await expect(closeBooks(place, "2026-10", anna)).rejects.toMatchObject({ exitCode: 75 });
    other.ledger.runs.releaseLock();
    expect(existsSync(books(world))).toBe(false);
    expect(await closeBooks(place, "2026-10", anna)).toMatchObject({ closed: { closing: 1 } });
  });

  it(
    "before it is over, or while the clock is behind what was written, and nothing of it is rendered",
    { tags: "long" },
    async () => {
      const { world, place } = await ready();
      await expect(closeBooks(place, "2026-11", anna)).rejects.toMatchObject({ code: "periods.not-over" });
      const { now } = world;
      world.now = Date.parse("2026-11-24T10:00:00.000Z");
      const { newest } = await (await world.inquiry()).knownTimes();
      const { kept } = await saidNow(world).knownTimes();
      const behind = {
        ...place,
        inquiry: async () => ({ ...(await world.inquiry()), knownTimes: async () => ({ newest, kept }) }),
      };
      await expect(closeBooks(behind, "2026-10", anna)).rejects.toMatchObject({ code: "clock.not-trusted" });
      expect(existsSync(books(world))).toBe(false);
      world.now = now;
      expect(await closeBooks(place, "2026-10", anna)).toMatchObject({ closed: { closing: 1 } });
    },
  );

  it.each(["entitlements"])("while the two counts of its %s do not come to the same", async (kind) => {
    const { world, place } = await open();
    const sums = async (): Promise<string[]> =>
      (await blockersOf(place, "2026-10")).filter((one) => one.kind === "sum").map(({ id }) => id);
    expect(await sums()).toEqual([]);
    changeFile(world.path, "delete from record_version where stream = 'orders' and id = 'O1' and version = 2");
    expect(await sums()).toEqual([`sum:${kind}`]);
    expect(await closeBooks(place, "2026-10", anna)).toMatchObject({ closed: undefined });
  });
});

describe("closed periods", () => {
  it(
    "stand on the head at their cut-off: what is written while they are closed is after it",
    { tags: "long" },
    async () => {
      const { world, place } = await ready();
      const before = await (await world.inquiry()).auditHead();
      // oxlint-disable-next-line typescript/unbound-method -- it is called with the folder that was asked
      const { keep } = FrozenFiles.prototype;
      const spy = vi.spyOn(FrozenFiles.prototype, "keep").mockImplementation(async function (
        this: FrozenFiles,
        chunks,
      ) {
        await world.ledger.books.signOff("2026-11", [{ id: "hold:h1", facts: "f" }], known, trusted);
        return await keep.call(this, chunks);
      });
      await closeBooks(place, "2026-10", anna);
      spy.mockRestore();
      expect(await (await world.inquiry()).closings()).toMatchObject([{ entry: before?.sequence, root: before?.root }]);
      const out = folder();
      expect(await printBooks(place, "2026-10", { folder: out })).toMatchObject({ different: [] });
      const { header } = JSON.parse(readFileSync(join(out, "orders-2026-10.json"), "utf8")) as {
        header: { auditHead: object };
      };
      expect(header.auditHead).toMatchObject({ sequence: before?.sequence, root: before?.root, size: before?.size });
      expect((await (await world.inquiry()).auditHead())?.sequence).toBe((before?.sequence ?? 0) + 2);
    },
  );

  it("say what was signed off in the last moment before them: the cut-off is after it", { tags: "long" }, async () => {
    const { world, place } = await open();
    const inquiry = await world.inquiry();
    const ids = (await inquiry.blockers(await inquiry.joinedPeriod(month("2026-10")))).map(({ id }) => id);
    expect(ids).not.toEqual([]);
    writeWhileAsked(inquiry, async () => {
      await signOff(place, "2026-10", ids, known);
    });
    expect(await closeBooks(ticking(world, inquiry), "2026-10", anna)).toMatchObject({ closed: { closing: 1 } });
    const out = folder();
    expect(await printBooks(place, "2026-10", { folder: out })).toMatchObject({ different: [] });
    const { parts } = JSON.parse(readFileSync(join(out, "exceptions-2026-10.json"), "utf8")) as {
      parts: { sign_offs: { rows: { blocker: string }[] } };
    };
    expect(new Set(parts.sign_offs.rows.map(({ blocker }) => blocker))).toEqual(new Set(ids));
  });

  it("are not made while somebody else writes again and again", { tags: "long" }, async () => {
    const { world } = await ready();
    const inquiry = await world.inquiry();
    let count = 0;
    writeWhileAsked(inquiry, async () => {
      count += 1;
      await world.ledger.books.signOff("2026-11", [{ id: `hold:h${count}`, facts: "f" }], known, trusted);
    });
    await expect(closeBooks(ticking(world, inquiry), "2026-10", anna)).rejects.toMatchObject({
      code: "periods.written-meanwhile",
      exitCode: 75,
    });
    expect(existsSync(books(world))).toBe(false);
    vi.restoreAllMocks();
    expect(await closeBooks(ticking(world, inquiry), "2026-10", anna)).toMatchObject({ closed: { closing: 1 } });
  });

  it.each(["as_of = '2026-11-24T00:00:00.000Z'", "entry = entry - 1", "entry_hash = 'f'"])(
    "are not printed where the ledger says otherwise of them than the audit log: %s",
    { tags: "long" },
    async (change) => {
      const { world, place } = await ready();
      await closeBooks(place, "2026-10", anna);
      changeFile(world.path, `drop trigger closed_period_only_reopens; update closed_period set ${change}`);
      const out = folder();
      await expect(printBooks(place, "2026-10", { folder: out })).rejects.toMatchObject({
        code: "periods.changed",
        exitCode: 65,
      });
      expect(readdirSync(out)).toEqual([]);
    },
  );

  it("say of each statement that a ledger which somebody changed does not come to it", { tags: "long" }, async () => {
    const { world, place } = await ready();
    await closeBooks(place, "2026-10", anna);
    changeFile(
      world.path,
      `delete from assignment where asset_number = '8000000001';
       update record_version set body = replace(body, '30000', '39000') where stream = 'orders' and id = 'O1'`,
    );
    const { different } = await printBooks(place, "2026-10", { folder: folder() });
    expect(different.map(({ kind }) => kind)).toEqual(expect.arrayContaining(["entitlements", "orders"]));
  });

  it("are frozen anew where a file of the same bytes is there and was changed", { tags: "long" }, async () => {
    const { world, place } = await ready();
    const first = await closeBooks(place, "2026-10", anna);
    const files = first.closed === undefined ? [] : first.files;
    const file = files.find(({ name }) => name === "orders-2026-10.csv");
    const path = join(books(world), file?.sha256 ?? "");
    chmodSync(path, 0o600);
    writeFileSync(path, readFileSync(path, "utf8").replace("100.00", "900.00"));
    await expect(printBooks(place, "2026-10", { folder: folder() })).rejects.toMatchObject({
      code: "periods.file-changed",
    });
    await world.ledger.books.reopen("2026-10", { by: "ben", reason: "a file was changed" });
    world.now += 1_000;
    const second = await closeBooks(place, "2026-10", anna);
    expect(second.closed === undefined ? [] : second.files).toContainEqual(file);
    const out = folder();
    expect(await printBooks(place, "2026-10", { folder: out })).toMatchObject({ closing: { closing: 2 } });
    expect(await printBooks(place, "2026-10", { folder: out, closing: 1 })).toMatchObject({ different: [] });
  });
});
