import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { blockersOf, closeBooks, printBooks } from "../../src/app/books.ts";
import type { LedgerWorld } from "../support/world/ledger-world.ts";
import { orderRecord } from "../support/world/records.ts";
import { folder } from "../support/world/start.ts";
import { drawing, eur, placeOrder } from "../inquiry/statement/statement-world.ts";
import { anna, readyWorld, signAll } from "./book-world.ts";

const bytesIn = (path: string): Record<string, string> =>
  Object.fromEntries(readdirSync(path).map((name) => [name, readFileSync(join(path, name), "latin1")]));

async function place(world: LedgerWorld, id: string): Promise<void> {
  await placeOrder(world, { ...orderRecord(id, "C2", { instances: drawing() }), amount: eur(299_99) }, [
    { assetId: "A1", quantity: 2, licenseType: "cloud_account" },
  ]);
}

it(
  "what comes after a closing while the clock is set back is named by its place in the record, and stands in the way",
  { tags: "long" },
  async () => {
    const { world, place: books } = await readyWorld();
    await closeBooks(books, "2026-10", anna);
    const first = folder();
    await printBooks(books, "2026-10", { folder: first });
    const [closing] = await (await world.inquiry()).closings();
    expect(world.ledger.books.clockBehind).toBe(0);
    const at = world.now;
    // In the middle of the month that is closed.
    world.now = Date.parse("2026-10-10T10:00:00.000Z");
    expect(world.ledger.books.clockBehind).toBeGreaterThan(45 * 86_400_000);
    await world.startRun();
    await place(world, "O9");
    await world.ledger.runs.finish(world.run, { state: "done", exitCode: 0, balance: {}, summary: {} });
    world.now = at + 1_000;
    expect(world.ledger.books.clockBehind).toBe(0);
    const again = folder();
    const { different, notCompared } = await printBooks(books, "2026-10", { folder: again });
    expect(different).toEqual([]);
    expect(notCompared.find(({ kind }) => kind === "orders")?.why).toMatch(
      new RegExp(
        `written after the closing \\(entry ${closing?.entry}\\) and bear an earlier time: the clock was set back`,
      ),
    );
    expect(bytesIn(again)).toEqual(bytesIn(first));

    world.now = Date.parse("2026-12-05T10:00:00.000Z");
    const blocker = (await blockersOf(books, "2026-11")).find(({ kind }) => kind === "clock");
    expect(blocker).toMatchObject({ id: "clock:2026-10", what: expect.stringContaining("bear a time within it") });
    await expect(closeBooks(books, "2026-11", anna)).resolves.toMatchObject({ closed: undefined });
    await signAll(books, "2026-11");
    world.now += 1_000;
    await expect(closeBooks(books, "2026-11", anna)).resolves.toMatchObject({ closed: { closing: 1 } });
  },
);
