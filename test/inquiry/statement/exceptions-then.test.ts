import { afterAll, beforeAll, expect, it } from "vitest";
import { CrmBooks } from "./second-way/crm-books.ts";
import { edit, small } from "./second-way/story.ts";
import { cells, month, statementOf } from "./statement-world.ts";

let books: CrmBooks;
beforeAll(async () => {
  books = await CrmBooks.open();
});
afterAll(async () => await books.close());

const stakes = async (branch?: string) => {
  const filters = branch === undefined ? {} : { branch };
  const { summary, exceptions, orders } = await statementOf(books.ledger, "exceptions", month("2026-10"), { filters });
  return {
    summary: cells(summary, "kind", "open", "owner", "currency", "count", "orders", "at_stake"),
    exceptions: cells(exceptions, "record", "customer", "branch", "open", "orders", "at_stake", "at_stake_currency"),
    orders: cells(orders, "kind", "record", "crm_order", "crm_date", "amount", "amount_currency"),
  };
};

it("exceptions of a month have the customer, the branch and the amounts of its end, whatever came later", async () => {
  const at = { date: "2026-10-02", placedAt: "2026-10-02T08:00:00Z" };
  books.customers = [
    { id: "C1", branchCode: "B1" },
    { id: "C2", branchCode: "B2" },
  ];
  books.orders = [small("O1", "C1", at), small("O2", "C2", at), small("W1", "C9", { ...at, total: "50.00" })];
  await books.runs("2026-10-20T10:00:00.000Z", "everything", 3);
  edit(books, "O1", (order) => (order.total = "much"));
  await books.runs("2026-10-25T10:00:00.000Z", "everything", 3);
  const then = await stakes();
  const ofBranch = await stakes("B1");
  expect(then.exceptions).toEqual([
    ["order crm/O1", "crm/C1", "B1", true, 1, 70_07, "EUR"],
    ["order crm/W1", "crm/C9", null, true, 1, 50_00, "EUR"],
  ]);
  expect(ofBranch.exceptions).toEqual(then.exceptions.slice(0, 1));
  // The month after: other amounts, another currency, another customer, another branch.
  books.customers = [
    { id: "C1", branchCode: "B7" },
    { id: "C2", branchCode: "B1" },
  ];
  edit(books, "O1", (order) => (order.total = "90.00"));
  edit(books, "W1", (order) => Object.assign(order, { total: "60.00", currency: "USD", customer: "C8" }));
  await books.runs("2026-11-20T10:00:00.000Z", "everything", 3);
  expect(await stakes()).toEqual(then);
  expect(await stakes("B1")).toEqual(ofBranch);
});
