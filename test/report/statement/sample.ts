import { renderStatement, type StatementFormat } from "../../../src/report/statement/render.ts";
import type { Part, PartRow, Row, StatementHeader, StatementShape } from "../../../src/report/statement/shape.ts";

const orders: Part = {
  name: "orders",
  title: "Orders",
  about: "Each order of the period.",
  groupBy: "verdict",
  columns: [
    { name: "order", type: "text", title: "Order", about: "The number of the order." },
    { name: "verdict", type: "text", title: "Verdict", about: "How it compares." },
    { name: "products", type: "list", title: "Products", about: "What was ordered, by name." },
    { name: "note", type: "text", title: "Note", about: "What the CRM wrote." },
    { name: "seats", type: "integer", title: "Seats", about: "How many seats.", total: true },
    { name: "trial", type: "boolean", title: "Trial", about: "Whether it is a trial." },
    { name: "ordered_on", type: "date", title: "Ordered on", about: "The CRM's date." },
    { name: "placed_at", type: "instant", title: "Placed at", about: "When it was placed here." },
    { name: "currency", type: "text", title: "Currency", about: "Of the amount (ISO 4217)." },
    { name: "amount", type: "money", title: "Amount", about: "What it costs.", currencyIn: "currency", total: true },
  ],
};

const refunds: Part = {
  name: "refunds",
  title: "Refunds",
  about: "What was given back.",
  columns: [
    { name: "currency", type: "text", title: "Currency", about: "Of the amount (ISO 4217)." },
    { name: "amount", type: "money", title: "Amount", about: "What went back.", currencyIn: "currency", total: true },
    { name: "nodes", type: "integer", title: "Nodes", about: "How many nodes.", total: true },
  ],
};

const lines: Part = {
  name: "lines",
  title: "Lines",
  about: "Each line of an order.",
  columns: [
    { name: "order", type: "text", title: "Order", about: "The order of the line." },
    { name: "currency", type: "text", title: "Currency", about: "Of the amounts (ISO 4217)." },
    { name: "price", type: "money", title: "Price", about: "What one costs.", currencyIn: "currency" },
    { name: "amount", type: "money", title: "Amount", about: "What all cost.", currencyIn: "currency", total: true },
  ],
};

export const sampleShape: StatementShape = {
  kind: "sample",
  version: 3,
  title: "Sample of orders",
  about: "A statement for tests.",
  parts: [orders, refunds, lines],
};

export const sampleHeader: StatementHeader = {
  kind: "sample",
  version: 3,
  title: "Sample of orders, October 2026",
  period: { label: "2026-10", zone: "Europe/Berlin", from: "2026-09-30T22:00:00.000Z", to: "2026-10-31T23:00:00.000Z" },
  by: "happened",
  filters: { customer: "crm/ALFKI" },
  asOf: "2026-11-02T08:00:00.000Z",
  provisional: false,
  ledger: "ledger-1",
  auditHead: {
    sequence: 41,
    at: "2026-11-01T23:30:00.000Z",
    hash: "a".repeat(64),
    size: 41,
    root: "b".repeat(64),
    checkpoint: "crm-sync/ledger-1\n41\n\n— crm-sync/ledger-1 c2lnbmVk\n",
  },
  program: "0.1.0",
};

/** What a CRM may hold and no reader of a statement may be caught by. */
export const hostileTexts = [
  "=1+1",
  '=HYPERLINK("https://x.example","click")',
  "+41 44",
  "-2+3",
  "@SUM(A1)",
  "\t=1+1",
  "\r\n=1+1",
  "\uff1d1+1",
  "\uff20x",
  "nul\u0000 bell\u0007 escape\u001b[31m delete\u007f next\u0085",
  "left\u202eright\u202c \u2066isolate\u2069 mark\u200f\u200e\u061c",
  "lone \ud800 half, not a character \uffff, line\u2028separator, \ufeffmark",
  "a,b;c\"d'e|f",
  "two\nlines\tand tab",
  "<script>alert(1)</script>&amp;<img src=x onerror=alert(1)>",
  "]]> <!-- --> _x0041_ &#65;",
  " spaces at both ends ",
  "'quoted",
  "Größe 漢字 𝔘 🧾",
  "true",
  "00123",
  "1e5",
];

const placed = "2026-09-30T22:00:00.000Z";

const orderRows: Row[] = [
  {
    order: "10248",
    verdict: "matched",
    products: ["Atlas", "Mercury; pro"],
    note: null,
    seats: 5,
    trial: false,
    ordered_on: "2026-10-01",
    placed_at: placed,
    currency: "EUR",
    amount: 594,
  },
  {
    order: "10249",
    verdict: "different",
    products: [],
    seats: 7,
    trial: true,
    ordered_on: "2026-10-31",
    // After the clocks went back.
    placed_at: "2026-10-25T01:30:00.250Z",
    currency: "EUR",
    amount: 99_999,
  },
  { order: "10250", verdict: "matched", seats: -2, currency: "JPY", amount: 120_000 },
  { order: "10251", verdict: "matched", seats: 1, currency: "KWD", amount: 1005 },
  { order: "10252", verdict: "missing", currency: "EUR", amount: -1 },
  { order: "10253", verdict: "missing" },
  ...hostileTexts.map((note, index) => ({
    order: `h${index}`,
    verdict: "hostile",
    products: [note, "Atlas"],
    note,
    seats: 1,
    currency: "JPY",
    amount: 1,
  })),
];

const lineRows: Row[] = [
  { order: "10248", currency: "EUR", price: 10, amount: 20 },
  { order: "10248", currency: "EUR", price: 10, amount: 10 },
  { order: "10250", currency: "JPY", price: 3, amount: 9 },
];

/** Rows of the first and of the last part; the one between them has none. */
export const sampleRows: PartRow[] = [
  ...orderRows.map((row) => ({ part: "orders", row })),
  ...lineRows.map((row) => ({ part: "lines", row })),
];

/** The files of a statement, whole, by what stands in `file`. Fails when chunks of two files come by turns. */
export async function filesOf(
  format: StatementFormat,
  {
    shape = sampleShape,
    header = sampleHeader,
    rows = sampleRows,
  }: {
    shape?: StatementShape;
    header?: StatementHeader;
    rows?: AsyncIterable<PartRow> | Iterable<PartRow>;
  } = {},
): Promise<Map<string, Buffer>> {
  const files = new Map<string, Buffer[]>();
  let last: string | undefined;
  for await (const { file, chunk } of renderStatement(format, shape, header, rows)) {
    if (file !== last && files.has(file)) throw new Error(`chunks of ${file} and ${last} come by turns`);
    last = file;
    const chunks = files.get(file) ?? [];
    chunks.push(Buffer.from(chunk));
    files.set(file, chunks);
  }
  return new Map([...files].map(([file, chunks]) => [file, Buffer.concat(chunks)]));
}

/** One of the files as text. */
export function textOf(files: Map<string, Buffer>, file: string): string {
  const found = files.get(file);
  if (found === undefined) throw new Error(`there is no file ${file}`);
  return found.toString();
}
