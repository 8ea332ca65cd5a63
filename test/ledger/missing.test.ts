import fc from "fast-check";
import { expect, it } from "vitest";
import { sha256 } from "../../src/base/canonical-json.ts";
import type { Ledger } from "../../src/ledger/ledger.ts";
import { key } from "../support/world/records.ts";
import { openLedger, sqlite } from "../support/world/start.ts";
import { trusted } from "../support/trusted.ts";

interface Row {
  id: string;
  form: number;
}

/** One whole reading, in batches of so many rows. */
async function read(ledger: Ledger, rows: readonly Row[], batch: number): Promise<void> {
  const reading = await ledger.records.startRead("run", "erp", "customers");
  const hashOf = (row: Row): string => sha256(JSON.stringify(row));
  for (let from = 0; from < rows.length; from += batch) {
    const some = rows.slice(from, from + batch);
    const seen = await reading.markSeen(some.map(hashOf));
    const fresh = some.filter((row) => !seen.unchanged.has(hashOf(row)) && !seen.quarantined.has(hashOf(row)));
    if (fresh.length === 0) continue;
    await reading.ingest(
      fresh.map((row) => ({
        record: {
          rawHash: hashOf(row),
          place: "erp.csv:1",
          raw: JSON.stringify(row),
          key: key(row.id),
          customer: key(row.id),
          record: { id: row.id, branch: String(row.form) },
        },
      })),
    );
  }
  await reading.finish({ complete: true, whole: true, rows: rows.length, bad: 0 });
  await reading.closeWhole({ reads: 1_000, ms: 0, time: async () => trusted });
}

function missed(path: string): Record<string, number> {
  const rows = sqlite(path)
    .prepare<[], { id: string; missed: number }>("select id, missed from record where missed > 0 order by id")
    .all();
  return Object.fromEntries(rows.map((row) => [row.id, row.missed]));
}

const row = (id: string, form = 0): Row => ({ id, form });
const idOf = (number: number): string => `R${String(number).padStart(5, "0")}`;

it.each([
  ["in one batch", 3],
  ["in two batches", 2],
])("what is new and stands twice, %s, hides nothing that is missing", async (_where, batch) => {
  const { ledger, path } = await openLedger();
  await read(ledger, [row("A"), row("B")], 500);
  await read(ledger, [row("A"), row("Z"), row("Z")], batch);
  expect(missed(path)).toEqual({ B: 1 });
});

it("what is as it was and stands twice hides nothing that is missing", async () => {
  const { ledger, path } = await openLedger();
  await read(ledger, [row("A"), row("B"), row("C")], 500);
  await read(ledger, [row("A"), row("C"), row("C")], 1);
  expect(missed(path)).toEqual({ B: 1 });
});

it("what stands twice, before and after something new, hides nothing that is missing", async () => {
  const { ledger, path } = await openLedger();
  await read(ledger, [row("A"), row("B"), row("C"), row("D")], 500);
  await read(ledger, [row("B"), row("Z"), row("B"), row("C"), row("D")], 1);
  expect(missed(path)).toEqual({ A: 1 });
});

const edits = fc.record({
  gone: fc.uniqueArray(fc.nat(1_199), { maxLength: 3 }),
  changed: fc.uniqueArray(fc.nat(1_199), { maxLength: 3 }),
  added: fc.nat(3),
  again: fc.uniqueArray(fc.nat(1_199), { maxLength: 2 }),
  order: fc.constantFrom("as the keys", "as the keys", "the other way round", "cut and turned", "by the form"),
  batch: fc.constantFrom(500, 333, 1_200),
});

it("what a whole reading lacks is missed, whatever the order, and nothing else is", { tags: "long" }, async () => {
  const property = fc.asyncProperty(fc.array(edits, { minLength: 2, maxLength: 4 }), async (readings) => {
    const { ledger, path } = await openLedger();
    let rows = Array.from({ length: 1_200 }, (_, index) => row(idOf(index * 10)));
    await read(ledger, rows, 500);
    const known = new Set(rows.map(({ id }) => id));
    const expected: Record<string, number> = {};
    for (const [turn, edit] of readings.entries()) {
      rows = rows.map((old, index) => (edit.changed.includes(index) ? row(old.id, old.form + 1) : old));
      for (let index = 0; index < edit.added; index += 1) rows.push(row(idOf(turn * 700 + index * 10 + 5)));
      rows = rows.toSorted((left, right) => (left.id < right.id ? -1 : 1));
      const given = rows.filter((_, index) => !edit.gone.includes(index));
      for (const index of edit.again) given.splice(index, 0, ...given.slice(index, index + 1));
      await read(ledger, ordered(given, edit.order), edit.batch);
      const there = new Set(given.map(({ id }) => id));
      for (const id of there) known.add(id);
      for (const id of known)
        if (there.has(id)) delete expected[id];
        else expected[id] = (expected[id] ?? 0) + 1;
      expect(missed(path)).toEqual(expected);
    }
    ledger.close();
  });
  await fc.assert(property, { numRuns: 12 });
});

function ordered(rows: readonly Row[], order: string): Row[] {
  if (order === "the other way round") return rows.toReversed();
  if (order === "cut and turned") return [...rows.slice(500), ...rows.slice(0, 500)];
  if (order === "by the form") return rows.toSorted((left, right) => (sha256(left.id) < sha256(right.id) ? -1 : 1));
  return [...rows];
}
