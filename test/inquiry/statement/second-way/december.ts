import type { CrmBooks } from "./crm-books.ts";
import { edit, small } from "./story.ts";

const print = { name: "Print", pid: "G-PRINT", years: 1 };

/** What people changed on the platform by hand in December, by number. */
export const byHand = {
  changed: { number: "8000000004", product: "Q2", nodes: 8 },
  dropped: { number: "8000000008", product: "P-O3" },
  added: { number: "8000000003", product: "X1", nodes: 7 },
  given: { number: "8000000006", to: "S1" },
  taken: { number: "8000000005" },
} as const;

/**
 * A month in which the CRM edits what was placed in every other way: prices, nodes, terms, products and packages, and
 * another amount alone. Between two comparisons with the platform on the second and the third somebody changes what it
 * holds; on the twelfth it is compared again, and on the twentieth an order comes that nobody looked for since.
 */
export async function december(books: CrmBooks): Promise<void> {
  books.extra = { policies: { orders: { ended: "apply", cancelled: "apply", added: "apply", replaced: "apply" } } };
  edit(books, "O1", (order) => {
    order.total = "310.04";
    order.packages.push({ id: "K3", parent: "A1", name: "More" });
    order.products.push(
      { id: "P6", parent: "K3", nodes: 2, price: "5.01", ...print },
      { id: "P7", parent: "A1", nodes: 1, price: "5.05", ...print, pid: "G-SCAN" },
    );
  });
  edit(books, "O2", (order) => {
    order.total = "999.99";
    for (const product of order.products) {
      if (product.id === "P3") Object.assign(product, { years: 2, nodes: 3, price: "900.00" });
      if (product.id === "Q2") product.until = { date: "2028-07-01", instant: "2028-06-30T22:00:00Z" };
    }
  });
  edit(books, "O5", (order) => {
    order.products = [{ id: "R-O5", parent: "A-O5", nodes: 1, price: "70.07", ...print }];
  });
  await books.runs("2026-12-01T10:00:00.000Z");
  await books.runs("2026-12-02T10:00:00.000Z", "verify");

  const { changed, dropped, added, given, taken } = byHand;
  const s1 = books.told.at(-1)?.members.get(given.to) ?? "";
  books.sandbox.hand({
    action: "change-product",
    assetNum: changed.number,
    crmProductId: changed.product,
    fields: { limitConcurrent: changed.nodes },
  });
  books.sandbox.hand({ action: "drop-product", assetNum: dropped.number, crmProductId: dropped.product });
  books.sandbox.hand({
    action: "add-product",
    assetNum: added.number,
    like: "P3",
    fields: { crmProductId: added.product, limitConcurrent: added.nodes },
  });
  books.sandbox.hand({ action: "move-holder", assetNum: taken.number, memberGlobalId: null });
  books.sandbox.hand({ action: "move-holder", assetNum: given.number, memberGlobalId: s1 });
  await books.runs("2026-12-03T12:00:00.000Z", "verify", 3);
  await books.runs("2026-12-12T10:00:00.000Z", "verify", 3);

  edit(books, "O2", (order) => (order.total = "1000.00"));
  books.orders.push(small("O8", "C2", { date: "2026-12-19", placedAt: "2026-12-19T10:00:00Z", currency: "USD" }));
  await books.runs("2026-12-20T16:00:00.000Z", "everything", 0);
}
