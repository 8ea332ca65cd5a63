import { describe, expect, it } from "vitest";
import { sha256 } from "../../src/base/canonical-json.ts";
import { blockersOf, closeBooks, printBooks, signOff, type BooksPlace, type Printed } from "../../src/books/books.ts";
import { threeMonths } from "../inquiry/statement/statement-world.ts";
import { placeOf } from "./book-world.ts";
import { openInquiry } from "../../src/inquiry/inquiry.ts";
import { reportSettingsSchema } from "../../src/operate/report-settings.ts";
import type { LedgerWorld } from "../support/world/ledger-world.ts";
import { key, orderRecord } from "../support/world/records.ts";
import { folder } from "../support/world/start.ts";
import { trustedAt } from "../support/trusted.ts";

const day = 86_400_000;

async function close(world: LedgerWorld, place: BooksPlace, label: string): Promise<void> {
  const ids = (await blockersOf(place, label)).map(({ id }) => id);
  if (ids.length > 0) await signOff(place, label, ids, { by: "anna", reason: "known" });
  world.now += 1_000;
  const made = await closeBooks(place, label, { by: "anna", reason: undefined });
  expect(made.closed).toMatchObject({ period: label });
}

async function anew(place: BooksPlace, label: string): Promise<Pick<Printed, "different" | "notCompared">> {
  const { different, notCompared } = await printBooks(place, label, { folder: folder() });
  return { different, notCompared };
}

const same = { different: [], notCompared: [] };

async function badRow(world: LedgerWorld, line: number, code = "missing"): Promise<void> {
  const { records } = world.ledger;
  const read = await records.startRead(world.run, "erp", "orders");
  const rejection = {
    rawHash: sha256("a bad row"),
    place: `orders.csv:${line}`,
    key: key("O8"),
    customer: key("C1"),
    field: "amount",
    code,
    message: "the amount cannot be read",
    expected: "a decimal",
    raw: "{}",
  };
  await read.ingest([{ rejection }]);
  await read.finish({ complete: true, whole: false, rows: 1, bad: 1 });
}

/** November, with an order that waits, a bad row, an operation in doubt and two readings of a customer, closed. */
async function closedNovember(): Promise<{ world: LedgerWorld; place: BooksPlace; parked: string }> {
  const world = await threeMonths();
  const place = placeOf(world);
  world.now = Date.parse("2026-11-26T10:00:00.000Z");
  await world.startRun();
  await world.ledger.records.setOutcomes(world.run, [
    { stream: "orders", key: key("O2"), outcome: "deferred", code: "assumption.missing", reason: "no answer yet" },
  ]);
  await badRow(world, 99);
  await world.read("orders", [{ orders: orderRecord("O7", "C1") }]);
  const parked = await world.intend(await world.orderOperation(key("C1"), key("O7")));
  await world.ledger.journal.conclude(parked, {
    state: "parked",
    attempt: { outcome: "unknown", detail: "time-out" },
    message: "the platform does not show the order",
    changes: [],
    audit: { kind: "parked", body: { reason: "time-out" } },
  });
  const body = { crmProductId: "PX", channelOrderId: "nobody's", licenseType: "cloud_account", productName: "Extra" };
  const shown = { kind: "product", subject: "8000000001/PX", body };
  await world.observe(key("C2"), []);
  world.now += 1_000;
  await world.observe(key("C2"), [shown]);
  await world.ledger.runs.finish(world.run, { state: "done", exitCode: 3, balance: {}, summary: {} });
  world.now = Date.parse("2026-12-05T10:00:00.000Z");
  await close(world, place, "2026-11");
  expect(await anew(place, "2026-11")).toEqual(same);
  return { world, place, parked };
}

/** All of that ends, or is told otherwise, after the month was closed. */
async function everythingEnds({ world, parked }: { world: LedgerWorld; parked: string }): Promise<void> {
  world.now += day;
  await world.startRun();
  await world.ledger.records.setOutcomes(world.run, [{ stream: "orders", key: key("O2"), outcome: "planned" }]);
  await badRow(world, 100, "not-a-number");
  world.now += day;
  await world.read("orders", [{ orders: orderRecord("O8", "C1") }]);
  await world.ledger.journal.conclude(parked, {
    state: "dropped",
    verdict: "not found",
    message: "not applied",
    changes: [],
    audit: { kind: "settled", body: { by: "anna", reason: "looked at it" } },
  });
  await world.observe(key("C2"), []);
  await world.ledger.runs.finish(world.run, { state: "done", exitCode: 0, balance: {}, summary: {} });
}

describe("every statement of closed periods", () => {
  it("comes out anew as it was frozen, also where what waited then has ended since", { tags: "long" }, async () => {
    const closed = await closedNovember();
    await everythingEnds(closed);
    expect(await anew(closed.place, "2026-11")).toEqual(same);
  });

  it(
    "comes out anew as it was frozen also where what is old was thinned; other moments are refused",
    { tags: "long" },
    async () => {
      const closed = await closedNovember();
      const { world, place } = closed;
      await everythingEnds(closed);
      for (let read = 0; read < 12; read += 1) await world.read("orders", [{ orders: orderRecord("O8", "C1") }]);
      world.now += 900 * day;
      await world.startRun();
      const kept = { rawRecordDays: 400, observationDays: 400, runDays: 400 };
      const thinned = await world.ledger.runs.thinHistory(trustedAt(world.now), kept, () => false);
      for (const kind of ["readings", "reads", "runs"]) expect(thinned, kind).toHaveProperty(kind);
      expect(await anew(place, "2026-11")).toEqual(same);
      expect(() => openInquiry(world.path, "2026-12-04T10:00:00.000Z")).toThrow("is no longer known");
    },
  );
});

it(
  "books are computed anew with what counted as equal then, whatever the configuration says by now",
  { tags: "long" },
  async () => {
    const world = await threeMonths();
    world.now = Date.parse("2026-12-25T10:00:00.000Z");
    await world.ledger.runs.finish(world.run, { state: "done", exitCode: 0, balance: {}, summary: {} });
    const place = placeOf(world);
    const tolerances = { money: { EUR: "0.05" }, transitDays: 3, termSeconds: 60, ageing: [5, 40] };
    const then = { ...place, config: { ...place.config, reports: reportSettingsSchema.parse({ tolerances }) } };
    await close(world, then, "2026-10");
    expect([await anew(then, "2026-10"), await anew(place, "2026-10")]).toEqual([same, same]);
  },
);
