import type { CrmBooks, BookOrder } from "./crm-books.ts";

const end = { date: "2027-10-01", instant: "2027-09-30T22:30:00Z" };
const later = { date: "2028-01-01", instant: "2027-12-31T23:00:00Z" };

const draw = { name: "Draw", pid: "G-DRAW", years: 1 };
const plot = { name: "Plot", app: "app-plot", years: 2 };

const first: BookOrder = {
  id: "O1",
  customer: "C1",
  date: "2026-09-01",
  placedAt: "2026-08-31T22:30:00Z",
  total: "300.00",
  currency: "EUR",
  cancelled: false,
  assets: [{ id: "A1", type: "cloud_account", quantity: 2, until: end }],
  packages: [
    { id: "K1", parent: "A1", name: "Suite" },
    { id: "K2", parent: "K1", name: "Extras" },
  ],
  products: [
    { id: "P1", parent: "A1", nodes: 5, price: "200.01", ...draw },
    { id: "P2", parent: "K2", nodes: 1, price: "99.99", until: end, trial: true, ...plot },
  ],
};

const second: BookOrder = {
  id: "O2",
  customer: "C2",
  date: "2026-09-04",
  placedAt: "2026-09-04T10:00:00Z",
  total: "1050.50",
  currency: "USD",
  cancelled: false,
  assets: [
    { id: "A2", type: "cloud_account", quantity: 3 },
    { id: "B2", type: "softkey", quantity: 1 },
  ],
  packages: [],
  products: [
    { id: "P3", parent: "A2", nodes: 2, price: "1000.00", ...draw },
    { id: "Q2", parent: "B2", nodes: 4, price: "50.50", until: later, ...plot },
  ],
};

/** An order of one product in one asset. */
export function small(
  id: string,
  customer: string,
  more: Partial<BookOrder> & Pick<BookOrder, "date" | "placedAt">,
): BookOrder {
  return {
    id,
    customer,
    total: "70.07",
    currency: "EUR",
    cancelled: false,
    assets: [{ id: `A-${id}`, type: "cloud_account", quantity: 1 }],
    packages: [],
    products: [{ id: `P-${id}`, parent: `A-${id}`, nodes: 3, price: "70.07", ...draw }],
    ...more,
  };
}

/**
 * Three months of two customers in two branches. In September each buys an order, in euros and in dollars. In October
 * C1 gets a third unit, at another price, C2 another price alone and a person less, an order comes late, dated in
 * September, and one early, dated in November. In November C1 renews the order that came late, and C2's early one is
 * cancelled, C1 moves to another branch, and the third unit goes again.
 */
export async function threeMonthsOfBooks(books: CrmBooks): Promise<void> {
  books.extra = { policies: { orders: { ended: "apply", cancelled: "apply", added: "apply" } } };
  books.customers = [
    { id: "C1", branchCode: "B1" },
    { id: "C2", branchCode: "B2" },
  ];
  books.orders = [first, second];
  books.staff = [
    { id: "S1", customer: "C1", holds: ["A1"] },
    { id: "S2", customer: "C2", holds: ["A2"] },
    { id: "S3", customer: "C2", holds: [] },
  ];
  await books.runs("2026-09-05T10:00:00.000Z");

  edit(books, "O1", (order) => {
    order.total = "399.99";
    for (const asset of order.assets) asset.quantity = 3;
    for (const product of order.products) if (product.id === "P1") product.price = "300.00";
  });
  books.orders.push(small("O3", "C1", { date: "2026-09-30", placedAt: "2026-09-30T20:00:00Z" }));
  books.staff.push({ id: "S4", customer: "C1", holds: ["A-O3"] });
  await books.runs("2026-10-10T10:00:00.000Z");

  edit(books, "O2", (order) => {
    order.total = "950.51";
    for (const product of order.products) if (product.id === "P3") product.price = "900.01";
  });
  for (const person of books.staff) if (person.id === "S2") person.holds = [];
  const early = small("O4", "C2", { date: "2026-11-02", placedAt: "2026-11-01T23:30:00Z", currency: "USD" });
  early.packages.push({ id: "K4", parent: "A-O4", name: "Suite" });
  early.products.push({ id: "Q4", parent: "K4", nodes: 2, price: "0.00", ...plot });
  books.orders.push(early);
  await books.runs("2026-10-20T10:00:00.000Z");

  books.orders.push(
    small("O5", "C1", {
      date: "2026-11-05",
      placedAt: "2026-11-05T08:00:00Z",
      assets: [{ id: "A-O5", type: "cloud_account", quantity: 1, continues: { order: "O3", instance: "A-O3" } }],
    }),
  );
  edit(books, "O4", (order) => (order.cancelled = true));
  await books.runs("2026-11-05T10:00:00.000Z");

  books.customers = books.customers.map((one) => (one.id === "C1" ? { ...one, branchCode: "B3" } : one));
  await books.runs("2026-11-10T10:00:00.000Z");

  edit(books, "O1", (order) => {
    order.total = "299.98";
    for (const asset of order.assets) asset.quantity = 2;
    for (const product of order.products) if (product.id === "P1") product.price = "199.99";
  });
  await books.runs("2026-11-20T10:00:00.000Z");
}

/** Changes an order in the CRM; what stood in the export before is kept by the runs. */
export function edit(books: CrmBooks, id: string, change: (order: BookOrder) => unknown): void {
  books.orders = structuredClone(books.orders);
  for (const order of books.orders) if (order.id === id) change(order);
}
