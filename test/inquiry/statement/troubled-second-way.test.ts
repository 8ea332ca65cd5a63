import { afterAll, beforeAll, it } from "vitest";
import { CrmBooks } from "./second-way/crm-books.ts";
import { december } from "./second-way/december.ts";
import { concernedOf, exceptionsOf, exceptionTotals } from "./second-way/exceptions.ts";
import { january, januaryBalance, januaryTroubles, type Decision } from "./second-way/january.ts";
import { itemsOf } from "./second-way/reconciliation.ts";
import { readsOf, runsOf, streamsOf } from "./second-way/runs.ts";
import { threeMonthsOfBooks } from "./second-way/story.ts";
import { reconciledSummary } from "./second-way/summary.ts";
import { expectWhole, type Computed } from "./second-way/whole.ts";
import { month, statementOf } from "./statement-world.ts";

/** Ids that the program makes: no service and no row of the CRM has them. */
const made = { operation: "made by the program", audit_sequence: "a number of the record, held by its own tests" };
const operation = { operation: made.operation };
const words = {
  reason: "words for people, held by the tests of exceptions",
  operation: made.operation,
  hold: made.operation,
  next: "words for people, held by the tests of next steps",
  sign_off_id: "an id of the ledger, held by the tests of signing off",
};

let books: CrmBooks;
let decided: { settled: Decision; approved: Decision };
let compared: Record<string, Record<string, Computed[]>>;
const untilDecember = { ...month("2026-12"), from: month("2026-09").from };

beforeAll(async () => {
  books = await CrmBooks.open();
  await threeMonthsOfBooks(books);
  await december(books);
  compared = {};
  for (const days of [0, 90, 120]) {
    const items = itemsOf(books, days);
    compared[days] = { items, summary: reconciledSummary(items) };
  }
});
afterAll(async () => await books.close());

it("what is compared is what the CRM wants, the sandbox was sent and the platform shows, with its age", async () => {
  for (const [days, parts] of Object.entries(compared)) {
    const tolerances = { transitDays: Number(days) };
    const rows = await statementOf(books.ledger, "reconciliation", untilDecember, { tolerances });
    for (const [part, computed] of Object.entries(parts)) {
      const apart = part === "items" ? operation : {};
      expectWhole({ kind: "reconciliation", part, what: `${days} days` }, { rows: rows[part], computed, apart });
    }
  }
});

it(
  "exceptions wait since the run that met them, for the people and with the money of the orders that wait",
  { tags: "long" },
  async () => {
    decided = await january(books);
    const troubles = januaryTroubles(books, decided);
    for (const [label, known] of [
      ["2027-01", month("2027-01").to],
      ["2027-02", decided.approved.at],
    ] as const) {
      const period = month(label);
      const parts = await statementOf(books.ledger, "exceptions", period);
      const rows = exceptionsOf(books.told, troubles, { to: period.to, known });
      const of = (part: string) => ({ kind: "exceptions", part, what: label }) as const;
      expectWhole(of("exceptions"), { rows: parts["exceptions"], computed: rows, apart: words });
      expectWhole(of("summary"), { rows: parts["summary"], computed: exceptionTotals(rows) });
      const orders = concernedOf(books.told, troubles, period.to);
      const apart = { operation: words.operation, hold: words.hold };
      expectWhole(of("orders"), { rows: parts["orders"], computed: orders, apart });
    }
  },
);

it("runs say what was refused, held, unknown and waited", { tags: "long" }, async () => {
  const own = books.told.filter(({ at }) => at.startsWith("2027-01"));
  const before = books.told.filter(({ at, job }) => at < "2027" && job === "everything");
  const { run, stream, read } = await statementOf(books.ledger, "run", month("2027-01"));
  const of = (part: string) => ({ kind: "run", part, what: "January" }) as const;
  const { audit_sequence } = made;
  expectWhole(of("run"), { rows: run, computed: runsOf(own, januaryBalance), apart: { audit_sequence } });
  expectWhole(of("stream"), { rows: stream, computed: streamsOf(own, before.at(-1), januaryBalance) });
  const bad = ({ orders }: (typeof own)[number]) => orders.filter(({ placedAt }) => placedAt === "never").length;
  expectWhole(of("read"), { rows: read, computed: readsOf(own, 3 * before.length + 1, bad) });
});
