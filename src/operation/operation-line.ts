import type { RecordKey } from "../crm/model.ts";
import { parseTerm } from "../contract/term.ts";
import { counted, printable } from "../report/text.ts";
import type { Operation } from "./operation.ts";
import { productsOf } from "./order-payload.ts";
import type { OrderRecord, ProductRecord } from "./order-payload.ts";
import { kindOf } from "../engine/registry.ts";
import type { OperationName } from "../engine/resource.ts";

/** What things are called for whoever reads: only what this reader may see. Everything is safe on a terminal. */
export interface Called {
  /** `SO-50007`: a record by its id. */
  record(key: RecordKey): string;
  /** `E-20005`, or `Jana Novak (E-20005)`. */
  person(key: RecordKey): Promise<string>;
  /** What a company is called, or was, by the commitment to its name; undefined for a person, and where nobody knows. */
  company(customer: RecordKey, commitment?: string): Promise<string | undefined>;
  /** The products of an asset number or of a unit without one. */
  productsOf(asset: string): Promise<readonly string[]>;
  /** The products that a part of an order is or holds. */
  productsIn(order: RecordKey, instanceId: string): Promise<readonly string[]>;
}

/** What an operation does in a few words; the sign says whether it adds, changes or removes. */
export interface OperationLine {
  sign: "+" | "~" | "−";
  text: string;
}

type Line<K extends OperationName> = (operation: Operation<K>, called: Called) => Promise<OperationLine>;

const mostNamed = 3;

const lines: { readonly [K in OperationName]?: Line<K> } = {
  "place-order": async ({ records, payload }, called) =>
    adds(`place order ${nameOf(records, called)}: ${bought(payload.orderList)}`),
  "amend-order": async ({ records, payload }, called) =>
    adds(`add to order ${nameOf(records, called)}: ${bought(payload.orderList)}`),
  "delete-products": deletionLine,
  "delete-package-products": deletionLine,
  "delete-assets": deletionLine,
  "delete-everywhere": deletionLine,
  "add-staff": async ({ records }, called) => adds(`add staff ${named(await peopleOf(records, called))}`),
  "edit-staff": async ({ records, before, after }, called) => {
    const changed = (["userName", "name", "remark", "mobile", "departmentId"] as const).filter(
      (field) => before[field] !== after[field],
    );
    const what = changed.length === 0 ? "as the CRM has it" : changed.join(", ");
    return changes(`update staff ${named(await peopleOf(records, called))}: ${what}`);
  },
  "delete-staff": async ({ after }, called) => removes(`delete the account of ${await called.person(after.staff)}`),
  "reset-password": async ({ after }, called) => changes(`set a new password for ${await called.person(after.staff)}`),
  "take-asset-numbers": async () => adds("take asset numbers for the pool"),
};

/** `assign 1 × Office Suite to E-20005`. */
export async function operationLine<K extends OperationName>(
  operation: Operation<K> & { kind: K },
  called: Called,
): Promise<OperationLine> {
  const line = kindOf(operation).line ?? lines[operation.kind];
  const { sign, text } = (await line?.(operation, called)) ?? changes(operation.kind);
  return { sign, text: printable(text) };
}

export const adds = (text: string): OperationLine => ({ sign: "+", text });
export const changes = (text: string): OperationLine => ({ sign: "~", text });
export const removes = (text: string): OperationLine => ({ sign: "−", text });

type Deletion = "delete-products" | "delete-package-products" | "delete-assets" | "delete-everywhere";

/** What goes of an order: whole assets, or products of assets that stay. */
async function deletionLine({ records, after }: Operation<Deletion>, called: Called): Promise<OperationLine> {
  const [order] = records;
  const counts = new Counts();
  for (const { instanceId, product, shared } of after.items) {
    if (shared === true || order === undefined) continue;
    const names = await called.productsIn(order, product ?? instanceId);
    if (names.length === 0) counts.add(product === null ? "asset" : `product ${product}`);
    for (const one of names) counts.add(one);
  }
  return removes(`remove from order ${nameOf(records, called)}: ${counts.text()}`);
}

/** How often each thing is there. */
class Counts {
  readonly #counts = new Map<string, number>();

  add(name: string, count = 1): void {
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + count);
  }

  text(): string {
    const all = [...this.#counts].map(([name, count]) => `${count} × ${name}`);
    const rest = all.length - mostNamed;
    return rest > 0 ? `${all.slice(0, mostNamed).join(", ")} and ${counted(rest, "other product")}` : all.join(", ");
  }
}

/** The products of order records by name, once for each asset number. */
function bought(orderList: readonly OrderRecord[]): string {
  const counts = new Counts();
  for (const { assetNos, products, merchandises = [] } of orderList.flatMap(({ assets }) => assets))
    for (const product of [...products, ...merchandises.flatMap(productsOf)])
      counts.add(soldAs(product), assetNos.length);
  return counts.text();
}

/** `CAD Pro (5 nodes, 1 year)`. */
function soldAs({ productName, limitConcurrent, timeDurationExpression, trial }: ProductRecord): string {
  const nodes = limitConcurrent === 1 ? [] : [counted(limitConcurrent, "node")];
  return `${productName} (${[...nodes, termText(timeDurationExpression), ...(trial === 1 ? ["trial"] : [])].join(", ")})`;
}

/** `1 year 6 months`; `no end` for 0-0-0, and the expression itself if it has another form. */
function termText(expression: string): string {
  const term = parseTerm(expression);
  if (!term.ok) return expression;
  const { years, months, days } = term.value;
  const parts = [
    ...(years === 0 ? [] : [counted(years, "year")]),
    ...(months === 0 ? [] : [counted(months, "month")]),
    ...(days === 0 ? [] : [counted(days, "day")]),
  ];
  return parts.length === 0 ? "no end" : parts.join(" ");
}

/** `2 × Office Suite`: assets by their products, or by their numbers where nobody knows these. */
export async function assetsText(assets: readonly string[], called: Called): Promise<string> {
  const counts = new Counts();
  for (const asset of assets) {
    const products = await called.productsOf(asset);
    counts.add(products.length === 0 ? "asset" : named(products, " + "));
  }
  return counts.text();
}

export async function numbered(numbers: readonly string[], called: Called): Promise<string> {
  const texts: string[] = [];
  for (const number of numbers.slice(0, mostNamed)) {
    const products = await called.productsOf(number);
    texts.push(products.length === 0 ? number : `${number} (${named(products, " + ")})`);
  }
  return named(texts, ", ", numbers.length);
}

export function named(texts: readonly string[], between = ", ", count = texts.length): string {
  const rest = count - mostNamed;
  return `${texts.slice(0, mostNamed).join(between)}${rest > 0 ? ` and ${rest} more` : ""}`;
}

function nameOf([record]: readonly RecordKey[], called: Called): string {
  return record === undefined ? "" : called.record(record);
}

export async function peopleOf(
  records: readonly (RecordKey & { stream: string })[],
  called: Called,
): Promise<string[]> {
  const people = records.filter(({ stream }) => stream === "staff");
  const texts: string[] = [];
  for (const key of people) texts.push(texts.length < mostNamed ? await called.person(key) : called.record(key));
  return texts;
}
