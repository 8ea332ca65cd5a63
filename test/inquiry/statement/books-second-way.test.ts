import { afterAll, beforeAll, expect, it } from "vitest";
import type { Row } from "../../../src/report/statement/shape.ts";
import { CrmBooks } from "./second-way/crm-books.ts";
import { checkOf, entitlementParts, entitlementsOf } from "./second-way/entitlements.ts";
import { licencesOf, linesOf, orderEvents, ordersOf } from "./second-way/lines.ts";
import { readsOf, runsOf, streamsOf } from "./second-way/runs.ts";
import { threeMonthsOfBooks } from "./second-way/story.ts";
import { expectWhole } from "./second-way/whole.ts";
import { month, statementOf } from "./statement-world.ts";

const months = ["2026-09", "2026-10", "2026-11"];

/** Ids that the program makes: no service and no row of the CRM has them. What they name is checked apart. */
const made = {
  operation: "made by the program; every operation of a row is one call, and every call one operation",
  audit_sequence: "a number of the record, whose entry is read and names the operation or the reading",
};

let books: CrmBooks;
beforeAll(async () => {
  books = await CrmBooks.open();
  await threeMonthsOfBooks(books);
});
afterAll(async () => await books.close());

/** The entry of the audit log that a row names, names its operation, or else was made when the row happened. */
function expectProved(rows: readonly Row[]): void {
  for (const row of rows) {
    const [entry] = books.rows<{ body: string; at: string }>(
      "select body, at from audit where sequence = ?",
      row["audit_sequence"],
    );
    const { operation = null, at } = row;
    expect.soft(entry?.at, JSON.stringify(row)).toBe(at);
    if (operation !== null) expect.soft(entry?.body).toContain(operation);
  }
}

it("orders say month by month what the platform shows and what the rows of the CRM cost", async () => {
  const events = orderEvents(books.told);
  const seats = licencesOf(books.told);
  for (const label of months) {
    const { lines = [], orders, licences = [] } = await statementOf(books.ledger, "orders", month(label));
    const own = events.filter(({ run }) => run.at.startsWith(label));
    const last = books.told.findLast(({ at }) => at < month(label).to);
    const of = (part: string) => ({ kind: "orders", part, what: label }) as const;
    expectWhole(of("lines"), { rows: lines, computed: linesOf(own, last), apart: made });
    expectWhole(of("orders"), { rows: orders, computed: ordersOf(own) });
    const granted = seats.filter(({ at }) => at.startsWith(label));
    expectWhole(of("licences"), { rows: licences, computed: granted, apart: made });
    expectProved([...lines, ...licences]);
    // Each call of an order is one operation, and each operation one call; a price alone is sent to nobody.
    const sent = lines.filter(({ operation }) => operation !== null);
    const calls = new Set(sent.map((row) => `${String(row["crm_order"])} ${String(row["at"])}`));
    expect(new Set(sent.map((row) => row["operation"])).size).toBe(calls.size);
    expect(lines.filter((row) => row["event"] === "repriced")).toEqual(
      lines.filter((row) => row["operation"] === null),
    );
  }
});

it("entitlements roll from month to month as the platform shows more and less", async () => {
  for (const label of months) {
    const parts = await statementOf(books.ledger, "entitlements", month(label));
    const computed = entitlementsOf(books.told, label);
    for (const part of entitlementParts)
      expectWhole({ kind: "entitlements", part, what: label }, { rows: parts[part], computed: computed[part] });
    const check = { rows: parts["check"], computed: checkOf(computed.entitlements) };
    expectWhole({ kind: "entitlements", part: "check", what: label }, check);
  }
});

it("runs count the rows of the export and the calls that the sandbox got", async () => {
  const { audit_sequence } = made;
  let before = 0;
  for (const label of months) {
    const own = books.told.filter(({ at }) => at.startsWith(label));
    const { run = [], stream, read } = await statementOf(books.ledger, "run", month(label));
    const of = (part: string) => ({ kind: "run", part, what: label }) as const;
    expectWhole(of("run"), { rows: run, computed: runsOf(own), apart: { audit_sequence } });
    expectWhole(of("stream"), { rows: stream, computed: streamsOf(own, books.told[before - 1]) });
    expectWhole(of("read"), { rows: read, computed: readsOf(own, 3 * before + 1) });
    before += own.length;
    expectProved(run);
  }
});
