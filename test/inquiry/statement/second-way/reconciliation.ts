import { assignmentItems, staffItem, strangerItems } from "./beside-orders.ts";
import { minorOf, type BookOrder, type CrmBooks, type ShownNumber } from "./crm-books.ts";
import { boughtOf, type SentProduct } from "./sent.ts";
import { blank, opened, shownCells, type Stand } from "./stand.ts";
import type { Computed } from "./whole.ts";

/** Every item of the statement after the last run, where what was sent in so many days may be on its way. */
export function itemsOf(books: CrmBooks, transitDays = 0): Computed[] {
  const { told } = books;
  const looks = told.filter(({ job }) => job === "verify");
  const [before, look, last] = [looks[0], looks.at(-1), told.at(-1)];
  if (before === undefined || look === undefined || last === undefined) throw new Error("the platform was compared");
  const transitFrom = new Date(Date.parse(last.at) - transitDays * 86_400_000).toISOString();
  const stand = { books, before, look, last, looks, transitFrom };
  return [
    ...last.customers.map(({ id }) => enterpriseItem(stand, id)),
    ...last.orders.flatMap((row) => orderItems(stand, row)),
    ...last.staff.map((person) => staffItem(stand, person)),
    ...assignmentItems(stand),
    ...strangerItems(stand),
  ];
}

function enterpriseItem(stand: Stand, customer: string): Computed {
  return {
    ...blank(stand, customer),
    level: "enterprise",
    verdict: "matched",
    in_crm: true,
    sent: true,
    shown: true,
    details: ["name, branch and address: no endpoint reads them back"],
    sent_at: stand.books.told[0]?.at ?? null,
  };
}

const isShown = (shown: readonly ShownNumber[], { number, product, channelOrder }: SentProduct) =>
  shown
    .find((one) => one.number === number)
    ?.products.find((one) => one.crmProductId === product && one.channelOrderId === channelOrder);

/** What was sent of an order and stands by what was done since: the platform showed it before hands were at work. */
function standingOf({ books, before, last }: Stand, id: string): SentProduct[] {
  const all = boughtOf(books).products.filter(({ order }) => order === id);
  return all
    .filter((one) => one.run.at > before.at || isShown(before.shown, one) !== undefined)
    .filter((one) => one.run.at <= last.at);
}

/** What the CRM changed last in an order. */
function changedAt({ books }: Stand, row: BookOrder): string {
  const own = JSON.stringify(row);
  return books.told.find(({ orders }) => orders.some((one) => JSON.stringify(one) === own))?.at ?? "";
}

const shareOf = (price: string, count: number, index: number): bigint => {
  const [minor, at] = [minorOf(price), BigInt(index)];
  return (minor * (at + 1n)) / BigInt(count) - (minor * at) / BigInt(count);
};

const quantityOf = (row: BookOrder, number: SentProduct): number => {
  const parents = new Map([...row.packages, ...row.products].map(({ id, parent }) => [id, parent]));
  let id = number.product;
  for (let up = parents.get(id); up !== undefined; up = parents.get(id)) id = up;
  return row.assets.find((asset) => asset.id === id)?.quantity ?? 0;
};

function orderItems(stand: Stand, row: BookOrder): Computed[] {
  const sent = standingOf(stand, row.id);
  // Of a cancelled order nothing stands: nobody wants it and nothing is there.
  if (row.cancelled && sent.length === 0) return [];
  const ranks = new Map<string, number>();
  const products = sent
    .toSorted((one, other) => (one.number < other.number ? -1 : 1))
    .map((one) => {
      const index = ranks.get(one.product) ?? 0;
      ranks.set(one.product, index + 1);
      return productItem(stand, row, { one, index });
    });
  // A package is there as long as anything that was bought in it is.
  const packages = boughtOf(stand.books).packages.filter(({ number, channelOrder, inside }) =>
    sent.some((one) => one.number === number && one.channelOrder === channelOrder && inside.includes(one.product)),
  );
  const inPackages = packages.map(({ item, number, channelOrder, licenceType, run }): Computed => ({
    ...blank(stand, row.customer),
    level: "package",
    verdict: "matched",
    ...orderCells(row),
    channel_order_id: channelOrder,
    license_order_id: licenceOf(stand, { number, channelOrder }),
    license_type: licenceType,
    asset_number: number,
    item,
    product: row.packages.find(({ id }) => id === item)?.name ?? null,
    product_number: item,
    in_crm: true,
    sent: true,
    shown: true,
    sent_at: run.at,
  }));
  return [wholeOrder(stand, row, { sent, products }), ...products, ...inPackages];
}

const orderCells = (row: BookOrder): Computed => ({ crm_order: `crm/${row.id}`, crm_date: row.date });

function licenceOf({ before, last }: Stand, of: Pick<SentProduct, "number" | "channelOrder">): string | null {
  const all = [...before.shown, ...last.shown].filter(({ number }) => number === of.number);
  const found = all.flatMap(({ products }) => products).find((one) => one.channelOrderId === of.channelOrder);
  return found?.licenseOrderId ?? null;
}

function productItem(stand: Stand, row: BookOrder, { one, index }: { one: SentProduct; index: number }): Computed {
  const { look, looks } = stand;
  const wanted = row.products.find(({ id }) => id === one.product);
  const form = one.run.orders.find(({ id }) => id === row.id);
  const bought = form?.products.find(({ id }) => id === one.product);
  if (wanted === undefined || form === undefined || bought === undefined) throw new Error(`${one.product} is wanted`);
  const [now, then] = [quantityOf(row, one), quantityOf(form, one)];
  if (now !== then) throw new Error(`${one.product} is bought in as many units as are wanted`);
  const isLater = one.run.at > look.at;
  const shown = isLater ? undefined : isShown(look.shown, one);
  const isOther = shown !== undefined && shown.limitConcurrent !== one.nodes;
  const isOtherMoney = wanted.price !== bought.price;
  const amounts = { crm: shareOf(wanted.price, now, index), sent: shareOf(bought.price, then, index) };
  const end = wanted.until === undefined ? null : new Date(wanted.until.instant).toISOString();
  const found = looks.find((run) => isShown(run.shown, one)?.limitConcurrent !== one.nodes)?.at ?? null;
  const [verdict, since] = isLater
    ? ["not-observable", one.run.at]
    : shown === undefined
      ? [one.run.at > stand.transitFrom ? "in-transit" : "missing", found]
      : isOther
        ? ["different", found]
        : isOtherMoney
          ? ["different", changedAt(stand, row)]
          : ["matched", null];
  const words = {
    "not-observable": ["it was sent after the platform was last read for the customer"],
    missing: ["M7 does not show it under its asset"],
    "in-transit": ["M7 does not show it under its asset", "sent so lately that it may be on its way"],
  };
  return {
    ...blank(stand, row.customer),
    level: "product",
    verdict,
    ...orderCells(row),
    channel_order_id: one.channelOrder,
    license_order_id: licenceOf(stand, one),
    license_type: one.licenceType,
    asset_number: one.number,
    item: one.product,
    product: wanted.name,
    product_number: wanted.pid ?? wanted.app ?? null,
    in_crm: true,
    sent: true,
    shown: isLater ? null : shown !== undefined,
    crm_units: 1,
    crm_nodes: wanted.nodes,
    crm_term: `${wanted.years}-0-0`,
    crm_term_end: end,
    sent_units: 1,
    sent_nodes: one.nodes,
    sent_term: one.term,
    sent_term_end: one.end,
    ...(shown === undefined ? {} : shownCells(shown)),
    ...moneyCells(amounts, row.currency),
    within_tolerance: !isOtherMoney,
    observed_amount: shown === undefined ? null : amounts.sent,
    details: [
      ...(isOther ? [`limitConcurrent: sent ${one.nodes}, shown ${shown.limitConcurrent}`] : []),
      ...(isOtherMoney ? ["amount: the CRM has another one than it was sent with"] : []),
      ...(verdict === "missing" || verdict === "in-transit" || verdict === "not-observable" ? words[verdict] : []),
    ],
    sent_at: one.run.at,
    ...opened(since ?? null, stand),
  };
}

function moneyCells({ crm, sent }: { crm: bigint; sent: bigint }, currency: string): Computed {
  return {
    crm_amount: crm,
    crm_amount_currency: currency,
    sent_amount: sent,
    sent_amount_currency: currency,
    amount_difference: crm - sent,
    amount_difference_currency: currency,
  };
}

const worst = ["missing", "different", "extra", "in-transit", "not-observable"];

/** The row of an order, from those of its products. */
function wholeOrder(
  stand: Stand,
  row: BookOrder,
  { sent, products }: { sent: readonly SentProduct[]; products: readonly Computed[] },
): Computed {
  const placed = stand.books.told.find(({ orders }) => orders.some(({ id }) => id === row.id));
  const bought = sent
    .map(({ run }) => run)
    .toSorted((one, other) => (one.at < other.at ? -1 : 1))
    .at(-1);
  const form = bought?.orders.find(({ id }) => id === row.id);
  const amounts = { crm: minorOf(row.total), sent: minorOf(form?.total ?? row.total) };
  const isOtherMoney = amounts.crm !== amounts.sent;
  const verdicts = products.map((one) => String(one["verdict"]));
  const counts = worst.map((word) => [word, verdicts.filter((one) => one === word).length] as const);
  const shown = products.map((one) => one["shown"]);
  const isThere = shown.includes(true) ? true : shown.includes(null) ? null : false;
  const lost = products
    .filter((one) => one["shown"] !== true)
    .reduce((sum, one) => sum + BigInt(String(one["sent_amount"])), 0n);
  const since = products.flatMap((one) => (typeof one["open_since"] === "string" ? [one["open_since"]] : []));
  if (isOtherMoney) since.push(changedAt(stand, row));
  const standing = products.filter((one) => one["sent"] === true);
  const [first] = standing.some((one) => one["channel_order_id"] === row.id)
    ? []
    : standing.toSorted((one, other) => (String(one["sent_at"]) < String(other["sent_at"]) ? -1 : 1));
  return {
    ...blank(stand, row.customer),
    level: "order",
    verdict: worst.find((word) => verdicts.includes(word) || (isOtherMoney && word === "different")) ?? "matched",
    ...orderCells(row),
    channel_order_id: first?.["channel_order_id"] ?? row.id,
    in_crm: true,
    sent: true,
    shown: isThere,
    ...moneyCells(amounts, row.currency),
    within_tolerance: !isOtherMoney,
    observed_amount: isThere === true ? amounts.sent - lost : null,
    details: [
      ...counts.filter(([, count]) => count > 0).map(([word, count]) => `${count} ${word}`),
      ...(isOtherMoney ? ["amount: the CRM has another one than it was sent with"] : []),
    ],
    sent_at: first?.["sent_at"] ?? placed?.at ?? null,
    ...opened(since.toSorted()[0] ?? null, stand),
  };
}
