import { afterAll, beforeAll, expect, it, onTestFinished } from "vitest";
import { standAsOf } from "../../../src/inquiry/as-of/as-of.ts";
import { ReadOnlyLedger } from "../../../src/inquiry/read-only-ledger.ts";
import { openReadOnly } from "../../../src/ledger/database/database.ts";
import { CrmBooks } from "./second-way/crm-books.ts";
import { edit, small } from "./second-way/story.ts";
import { rowsOf } from "./stated.ts";
import { cells, month } from "./statement-world.ts";

const kinds = ["orders", "entitlements", "reconciliation", "exceptions", "run"];
const period = "2026-09..2026-12";

let books: CrmBooks;
/** What each statement said right after each run, by the moment of the run. */
const told = new Map<string, string>();

async function printed(kind: string, ...words: string[]): Promise<string> {
  const ended = await books.does("report", kind, "--period", period, "--format", "json", ...words);
  expect(ended.exitCode, ended.stderr).toBe(0);
  return ended.stdout;
}

/** `leaves`: the run looks at this customer alone, so that the order is removed there and not bought elsewhere yet. */
async function runs(instant: string, leaves?: string): Promise<void> {
  await books.runs(instant, "everything", 0, leaves);
  await books.runs(instant, "verify");
  for (const kind of kinds) told.set(`${instant} ${kind}`, await printed(kind));
}

/** An order moves to another customer, back, and there again; another one stays. */
beforeAll(async () => {
  books = await CrmBooks.open();
  books.extra = {
    policies: { orders: { ended: "apply", cancelled: "apply", added: "apply", moved: "apply" } },
    jobs: {
      everything: { kind: "sync", streams: ["customers", "orders", "staff"] },
      verify: { kind: "verify" },
    },
  };
  books.customers = [
    { id: "C1", branchCode: "B1" },
    { id: "C2", branchCode: "B2" },
  ];
  books.orders = [
    small("M1", "C1", { date: "2026-10-02", placedAt: "2026-10-02T08:00:00Z" }),
    small("O2", "C2", { date: "2026-10-02", placedAt: "2026-10-02T08:00:00Z" }),
  ];
  await runs("2026-10-05T10:00:00.000Z");
  edit(books, "M1", (order) => (order.customer = "C2"));
  await runs("2026-11-10T10:00:00.000Z", "C1");
  await runs("2026-11-10T11:00:00.000Z");
  edit(books, "M1", (order) => (order.customer = "C1"));
  await runs("2026-12-05T10:00:00.000Z", "C2");
  await runs("2026-12-05T11:00:00.000Z");
  edit(books, "M1", (order) => (order.customer = "C2"));
  await runs("2026-12-10T10:00:00.000Z", "C1");
  await runs("2026-12-10T11:00:00.000Z");
}, 60_000);
afterAll(async () => await books.close());

it(
  "an order that moved stands, as of each moment, for whom it stood then, in every statement",
  { tags: "long" },
  async () => {
    for (const [name, then] of told) {
      const [moment = "", kind = ""] = name.split(" ");
      expect.soft(await printed(kind, "--as-of", moment), name).toBe(then);
    }
  },
);

it("an order that waits to be bought at its new customer is said to be missing there", async () => {
  const asOf = "2026-11-10T10:00:00.000Z";
  const ledger = new ReadOnlyLedger(books.ledger, openReadOnly(books.ledger));
  onTestFinished(() => ledger.close());
  standAsOf(ledger, asOf);
  const request = { period: month("2026-10"), by: "happened", filters: {}, asOf } as const;
  const { items = [] } = await rowsOf(ledger, "reconciliation", request);
  const units = items.filter((row) => row["item"] === "P-M1");
  expect(cells(units, "customer", "in_crm", "verdict", "details")).toEqual([
    ["crm/C2", true, "missing", ["not sent: run.scope"]],
  ]);
});
