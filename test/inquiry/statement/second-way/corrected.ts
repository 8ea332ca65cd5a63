import { minorOf, type BookOrder, type BookProduct, type ToldRun } from "./crm-books.ts";
import { branchOf } from "./lines.ts";
import type { Computed } from "./whole.ts";

/** One thing that a row of the export says otherwise than the row before. */
interface Edit {
  level: "order" | "asset" | "package" | "product";
  item: string | null;
  product: string | null;
  product_number: string | null;
  license_type: string | null;
  field: string;
  before: string | null;
  after: string | null;
  /** Minor units, and numbers of nodes, units or assets. */
  amounts: readonly [bigint | null, bigint | null];
  counts: readonly [number | null, number | null];
}

const nothing = { amounts: [null, null], counts: [null, null], before: null, after: null } as const;

/** A form of an order: a row of the export, since when it was so, and in which line. */
interface Form {
  row: BookOrder;
  run: ToldRun;
  line: number;
}

/** Every form of an order, the oldest first. */
function formsOf(told: readonly ToldRun[], id: string): Form[] {
  const forms: Form[] = [];
  for (const run of told) {
    const at = run.orders.findIndex((one) => one.id === id);
    const row = run.orders[at];
    if (row === undefined || JSON.stringify(row) === JSON.stringify(forms.at(-1)?.row)) continue;
    forms.push({ row, run, line: at + 1 });
  }
  return forms;
}

/** What the last form says otherwise than the one that an order was placed from, as a row. */
export function correctedOf(told: readonly ToldRun[]): Computed[] {
  const ids = [...new Set(told.flatMap(({ orders }) => orders.map(({ id }) => id)))];
  return ids.flatMap((id) => {
    const forms = formsOf(told, id);
    const [first, last] = [forms[0], forms.at(-1)];
    const end = told.at(-1);
    if (first === undefined || last === undefined || end === undefined) return [];
    return editsOf(first.row, last.row).map((edit) => ({
      ...orderCells(forms, last),
      branch: branchOf(end, last.row.customer),
      ...editCells(edit, last.row.currency),
      changed_at: last.run.at,
      source: "crm",
      place: `orders.ndjson:${last.line}`,
    }));
  });
}

function orderCells(forms: readonly Form[], { row, run }: Form): Computed {
  return {
    customer: `crm/${row.customer}`,
    branch: branchOf(run, row.customer),
    crm_order: `crm/${row.id}`,
    crm_date: row.date,
    channel_order_id: row.id,
    placed_at: forms[0]?.run.at ?? null,
  };
}

function editCells({ amounts: [from, to], counts: [few, many], ...edit }: Edit, currency: string): Computed {
  const isMoney = from !== null || to !== null;
  return {
    ...edit,
    before_amount: from,
    before_amount_currency: from === null ? null : currency,
    after_amount: to,
    after_amount_currency: to === null ? null : currency,
    amount_change: isMoney ? (to ?? 0n) - (from ?? 0n) : null,
    amount_change_currency: isMoney ? currency : null,
    before_count: few,
    after_count: many,
    count_change: few === null && many === null ? null : (many ?? 0) - (few ?? 0),
  };
}

const whole = { level: "order", item: null, product: null, product_number: null, license_type: null } as const;

/** What was edited between two rows of an order. */
function editsOf(before: BookOrder, after: BookOrder): Edit[] {
  const edits: Edit[] = [];
  if (before.total !== after.total)
    edits.push({ ...nothing, ...whole, field: "amount", amounts: [minorOf(before.total), minorOf(after.total)] });
  if (before.cancelled !== after.cancelled)
    edits.push({ ...nothing, ...whole, field: "cancelled", before: word(before), after: word(after) });
  for (const asset of after.assets) {
    const was = before.assets.find(({ id }) => id === asset.id);
    if (was === undefined) continue;
    const about = {
      ...nothing,
      level: "asset",
      item: asset.id,
      product: null,
      product_number: null,
      license_type: asset.type,
    } as const;
    if (was.quantity !== asset.quantity)
      edits.push({ ...about, field: "quantity", ...counted(was.quantity, asset.quantity) });
    if (was.until?.instant !== asset.until?.instant)
      edits.push({ ...about, field: "term_end", before: was.until?.date ?? null, after: asset.until?.date ?? null });
  }
  for (const id of new Set([...before.packages, ...after.packages].map((one) => one.id))) {
    const [was, is] = [before, after].map(({ packages }) => packages.find((one) => one.id === id));
    const named = {
      product: (is ?? was)?.name ?? null,
      product_number: id,
      license_type: after.assets[0]?.type ?? null,
    };
    if ((was === undefined) !== (is === undefined))
      edits.push({
        ...nothing,
        ...named,
        level: "package",
        item: id,
        field: "package",
        before: was?.id ?? null,
        after: is?.id ?? null,
      });
  }
  const ids = new Set([...before.products, ...after.products].map(({ id }) => id));
  for (const id of ids) edits.push(...productEdits(before, after, id));
  return edits;
}

const word = ({ cancelled }: BookOrder): string => (cancelled ? "yes" : "no");
const counted = (before: number, after: number) => ({
  before: String(before),
  after: String(after),
  counts: [before, after] as const,
});

function productEdits(before: BookOrder, after: BookOrder, id: string): Edit[] {
  const [was, is] = [before, after].map(({ products }) => products.find((one) => one.id === id));
  const one = is ?? was;
  if (one === undefined) return [];
  const asset = (is === undefined ? before : after).assets.find(
    (item) => item.id === one.parent || one.parent.startsWith("K"),
  );
  const about = {
    ...nothing,
    level: "product",
    item: id,
    product: one.name,
    product_number: one.pid ?? one.app ?? null,
    license_type: asset?.type ?? null,
  } as const;
  if (was === undefined || is === undefined) {
    const number = (product: BookProduct | undefined): string | null => product?.pid ?? product?.app ?? null;
    const price = (product: BookProduct | undefined): bigint | null =>
      product === undefined ? null : minorOf(product.price);
    const units = (product: BookProduct | undefined): number | null =>
      product === undefined ? null : (asset?.quantity ?? null);
    const sides = { before: number(was), after: number(is), amounts: [price(was), price(is)] as const };
    return [{ ...about, field: "product", ...sides, counts: [units(was), units(is)] }];
  }
  const edits: Edit[] = [];
  if (was.price !== is.price)
    edits.push({ ...about, field: "amount", amounts: [minorOf(was.price), minorOf(is.price)] });
  if (was.nodes !== is.nodes) edits.push({ ...about, field: "nodes", ...counted(was.nodes, is.nodes) });
  if (was.years !== is.years)
    edits.push({ ...about, field: "term", before: `${was.years}-0-0`, after: `${is.years}-0-0` });
  if (was.until?.instant !== is.until?.instant)
    for (const field of ["term_end", "trial_end"])
      edits.push({ ...about, field, before: was.until?.date ?? null, after: is.until?.date ?? null });
  return edits;
}
