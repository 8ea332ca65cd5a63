import { afterAll, beforeAll, it } from "vitest";
import { CrmBooks } from "./second-way/crm-books.ts";
import { itemsOf } from "./second-way/reconciliation.ts";
import { edit, small } from "./second-way/story.ts";
import { expectWhole } from "./second-way/whole.ts";
import { month, statementOf } from "./statement-world.ts";

let books: CrmBooks;
beforeAll(async () => {
  books = await CrmBooks.open();
});
afterAll(async () => await books.close());

const plot = { name: "Plot", app: "app-plot", years: 2, nodes: 1, price: "0.00" };

/** Two orders of two units with a package in each unit; of the first the CRM drops it, and a person approves that. */
async function packageTakenAway(): Promise<void> {
  books.customers = [{ id: "C1", branchCode: "B1" }];
  books.orders = ["O1", "O2"].map((id) =>
    small(id, "C1", {
      date: "2026-09-01",
      placedAt: "2026-09-01T10:00:00Z",
      assets: [{ id: `A-${id}`, type: "cloud_account", quantity: 2 }],
    }),
  );
  for (const id of ["O1", "O2"])
    edit(books, id, (order) => {
      order.packages.push({ id: `K-${id}`, parent: `A-${id}`, name: "Suite" });
      order.products.push({ id: `Q-${id}`, parent: `K-${id}`, ...plot });
    });
  await books.runs("2026-09-05T10:00:00.000Z");
  edit(books, "O1", (order) => {
    order.packages = [];
    order.products = order.products.filter(({ id }) => id !== "Q-O1");
  });
  await books.runs("2026-09-10T10:00:00.000Z", "everything", 4);
  const held = books.rows<{ id: string }>("select id from operation where state = 'held'");
  for (const { id } of held) {
    const approved = await books.does("approve", id, "--reason", "asked for", "--by", "boris");
    if (approved.exitCode !== 0) throw new Error(approved.stderr);
  }
  await books.runs("2026-09-11T10:00:00.000Z");
  await books.runs("2026-09-12T10:00:00.000Z", "verify");
}

it("a package that was taken away with all that was in it is compared no more, and its order is as meant", async () => {
  await packageTakenAway();
  const { items } = await statementOf(books.ledger, "reconciliation", month("2026-09"));
  const of = { kind: "reconciliation", part: "items", what: "a package taken away" } as const;
  const apart = { operation: "made by the program" };
  expectWhole(of, { rows: items, computed: itemsOf(books), apart });
});
