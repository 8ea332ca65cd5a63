import { pairs } from "../../base/lists.ts";
import { type ShownOrder, type ShownForm, shownOrderKind } from "../../ledger/state/observations.ts";
import { formatKey } from "../../crm/keys.ts";
import type { RecordKey } from "../../crm/model.ts";
import type { OrderWithTree } from "../../engine/model/desired.ts";
import type { EngineDependencies, CustomerState } from "../../engine/customer.ts";
import { channelNumberOf } from "./pool.ts";
import { canonicalJson } from "../../base/canonical-json.ts";
import type { ProductInstance } from "../../contract/asset-contents.ts";
import type { Known, StateChange } from "../../engine/model/state.ts";
import type { Snapshot, AssetReading } from "../../platform/snapshot.ts";
import type { AssumptionSettings } from "../../contract/assumption-settings.ts";
import { fillTemplate } from "../../contract/template.ts";
import { counted } from "../../report/text.ts";
import type { StandingUnit } from "./model.ts";
import { isRowOf } from "./terms.ts";

type Link = NonNullable<Known["link"]>;

interface Shown {
  shown: ShownOrder;
  own: ShownOrder | undefined;
  amendments: readonly ShownAmendment[];
}

export interface ShownAt extends Shown {
  customer: RecordKey;
}

type Dependencies = Pick<EngineDependencies, "ledger" | "settings">;

/**
 * What enterprises of other customers show of an order. First the one with its own number, then by latest amendment.
 */
export async function shownElsewhere(
  deps: Dependencies,
  customer: RecordKey,
  order: OrderWithTree,
): Promise<ShownAt[]> {
  const { state } = deps.ledger;
  const channelOrderId = channelNumberOf(deps, order);
  const named = { order: order.key, channelOrderId };
  const beginning = beginningOf(deps.settings, named);
  const found = Map.groupBy(await state.shownElsewhere(customer, { number: channelOrderId, beginning }), (row) =>
    formatKey(row.customer),
  );
  const places: ShownAt[] = [];
  for (const rows of found.values()) {
    const [{ customer: other } = { customer }] = rows;
    const numbers = rows.map(({ number }) => number);
    const shownUnder = async (number: string): Promise<ShownOrder | undefined> => await state.shownOrder(other, number);
    const others = await ownNumbers(deps, other, numbers);
    const shown = await shownOf(deps.settings, { ...named, others, numbers }, shownUnder);
    if (shown !== undefined) places.push({ customer: other, ...shown });
  }
  return places.toSorted((one, other) => rank(other) - rank(one));
}

async function ownNumbers(deps: Dependencies, customer: RecordKey, numbers: readonly string[]): Promise<Set<string>> {
  const { orders } = deps.ledger.state.load(customer);
  const own = new Set(orders.map((order) => channelNumberOf(deps, order)));
  for (const number of numbers)
    if (await deps.ledger.state.read((rows) => rows.order.placed.isPlaced(number))) own.add(number);
  return own;
}

function rank({ own, amendments }: ShownAt): number {
  return own === undefined ? (amendments.at(-1)?.n ?? 0) : Infinity;
}

interface ShownNow {
  licenceOrders: Map<string, string>;
  products: Map<string, string[]>;
  forms: Map<string, ShownForm[]>;
}

export interface Examination {
  shown: Map<string, ShownNow>;
  bareAssets: string[];
  types: ReadonlySet<string>;
}

/**
 * Reads and keeps what an enterprise shows ((M6 ∪ E8) → M7, E3). Only if no asset is ambiguous does it count as
 * examined,
 * and only then do vanished observations end.
 */
export async function examine(
  { ledger }: Pick<EngineDependencies, "ledger">,
  snapshot: Snapshot,
  knows: CustomerState,
  link: Link,
): Promise<Examination> {
  const { customer } = knows;
  const { enterpriseGlobalId } = link;
  const { assets, ...examination } = await readAll(snapshot, enterpriseGlobalId);
  const { shown, bareAssets, types } = examination;
  // Read again, because an order is placed for one of the enterprise's customers.
  const enterprises = await snapshot.enterprises(link.channelCustomerId);
  const customers = enterprises.find((item) => item.enterpriseGlobalId === enterpriseGlobalId)?.customers ?? [];
  const isClear = bareAssets.length === 0;
  const isUnread = knows.held.unread === true;
  const before = await ledger.state.shownNumbers(customer);
  // A vanished order may be in an ambiguous asset.
  const gone = isClear ? before.filter((subject) => !shown.has(subject)) : [];
  const changes: StateChange[] = [
    ...(isClear ? [{ type: "examined", customer } as const] : []),
    ...(isClear && isUnread ? [{ type: "customer-read", customer } as const] : []),
    { type: "platform-customers", enterpriseGlobalId, customers },
    { type: "licence-types-shown", types: [...types] },
    // All orders are kept: their records may arrive, or leave quarantine, after the last reading.
    ...[...shown].map(([subject, order]): StateChange => ({
      type: "observed",
      customer,
      kind: shownOrderKind,
      subject,
      body: {
        licenceOrders: Object.fromEntries(order.licenceOrders),
        products: Object.fromEntries(order.products),
        forms: Object.fromEntries(order.forms),
      },
    })),
    ...gone.map((subject) => ({ type: "observation-ended", customer, kind: shownOrderKind, subject }) as const),
  ];
  await knows.record(changes, {
    kind: "examined",
    subject: `customer:${formatKey(customer)}`,
    body: { enterpriseGlobalId, assets, adopted: [] },
  });
  return examination;
}

async function readAll(snapshot: Snapshot, enterpriseGlobalId: string): Promise<Examination & { assets: number }> {
  const shown: Examination["shown"] = new Map();
  const bareAssets: string[] = [];
  const types = new Set<string>();
  let assets = 0;
  for await (const { asset, products, bare } of snapshot.contents(enterpriseGlobalId)) {
    assets += 1;
    if (bare) bareAssets.push(asset.assetNum);
    for (const product of products) {
      if (product.licenseType !== null) types.add(product.licenseType);
      if (product.channelOrderId === null) continue;
      const order: ShownNow = shown.get(product.channelOrderId) ?? {
        licenceOrders: new Map(),
        products: new Map(),
        forms: new Map(),
      };
      if (product.licenseOrderId !== null) order.licenceOrders.set(product.licenseOrderId, product.licenseType ?? "");
      if (product.crmProductId !== null) {
        const numbers = order.products.get(product.crmProductId) ?? [];
        order.products.set(product.crmProductId, [...numbers, asset.assetNum]);
        addForm(order.forms, product.crmProductId, product);
      }
      shown.set(product.channelOrderId, order);
    }
  }
  return { shown, bareAssets, types, assets };
}

function addForm(forms: Map<string, ShownForm[]>, id: string, product: ProductInstance): void {
  const form: ShownForm = {
    productUri: product.productUri ?? null,
    gmsPid: product.gmsPid ?? null,
    appKey: product.appKey ?? null,
    limitConcurrent: product.limitConcurrent ?? null,
    limitStartTime: product.limitStartTime ?? null,
    limitEndTime: product.limitEndTime ?? null,
    trial: product.trial ?? null,
    timeDurationExpression: product.timeDurationExpression ?? null,
  };
  const known = forms.get(id) ?? [];
  const text = canonicalJson(form);
  if (!known.some((other) => canonicalJson(other) === text)) forms.set(id, [...known, form]);
}

export interface ShownAmendment {
  n: number;
  channelOrderId: string;
  shown: ShownOrder;
}

interface Amended {
  order: RecordKey;
  channelOrderId: string;
  others: ReadonlySet<string>;
  numbers: readonly string[];
}

async function shownAmendments(
  settings: Pick<AssumptionSettings, "amendmentOrderIdTemplate">,
  amended: Amended,
  shownUnder: (channelOrderId: string) => Promise<ShownOrder | undefined>,
): Promise<ShownAmendment[]> {
  const found: ShownAmendment[] = [];
  const amendmentOf = amendmentsOf(settings, amended);
  for (const channelOrderId of amended.numbers) {
    const n = amended.others.has(channelOrderId) ? undefined : amendmentOf(channelOrderId);
    const shown = n === undefined ? undefined : await shownUnder(channelOrderId);
    if (n !== undefined && shown !== undefined) found.push({ n, channelOrderId, shown });
  }
  return found.toSorted((one, other) => one.n - other.n);
}

export async function shownOf(
  settings: Pick<AssumptionSettings, "amendmentOrderIdTemplate">,
  of: Amended,
  shownUnder: (channelOrderId: string) => Promise<ShownOrder | undefined>,
): Promise<Shown | undefined> {
  const own = of.numbers.includes(of.channelOrderId) ? await shownUnder(of.channelOrderId) : undefined;
  const amendments = await shownAmendments(settings, of, shownUnder);
  const under = purchasesShown({ own, amendments });
  return under.length === 0 ? undefined : { shown: shownTogether(under), own, amendments };
}

export function purchasesShown({ own, amendments }: Pick<Shown, "own" | "amendments">): ShownOrder[] {
  return [...(own === undefined ? [] : [own]), ...amendments.map(({ shown }) => shown)];
}

/** Placeholder for `n` in the template. No number contains it. */
const anyNumber = "\u0000";

export function beginningOf(
  { amendmentOrderIdTemplate }: Pick<AssumptionSettings, "amendmentOrderIdTemplate">,
  { order: { namespace, id }, channelOrderId: order }: Pick<Amended, "order" | "channelOrderId">,
): string {
  return fillTemplate(amendmentOrderIdTemplate, { order, id, namespace, n: anyNumber }).split(anyNumber)[0] ?? "";
}

/** Returns which amendment has a channel order number (A16), or undefined. */
export function amendmentsOf(
  { amendmentOrderIdTemplate }: Pick<AssumptionSettings, "amendmentOrderIdTemplate">,
  { order: { namespace, id }, channelOrderId: order }: Pick<Amended, "order" | "channelOrderId">,
): (number: string) => number | undefined {
  const filled = (n: string): string => fillTemplate(amendmentOrderIdTemplate, { order, id, namespace, n });
  const [before = "", ...rest] = filled(anyNumber).split(anyNumber);
  const after = rest.at(-1) ?? "";
  return (number) => {
    if (!number.startsWith(before) || !number.endsWith(after)) return undefined;
    const n = /^[1-9]\d{0,14}/u.exec(number.slice(before.length))?.[0];
    return n !== undefined && filled(n) === number ? Number(n) : undefined;
  };
}

function shownTogether(shown: readonly ShownOrder[]): ShownOrder {
  const products = new Map<string, readonly string[]>();
  const forms = new Map<string, readonly ShownForm[]>();
  for (const item of shown) {
    for (const [id, numbers] of item.products)
      products.set(id, [...new Set([...(products.get(id) ?? []), ...numbers])]);
    for (const [id, own] of item.forms) forms.set(id, [...(forms.get(id) ?? []), ...own]);
  }
  return { licenceOrders: new Map(shown.flatMap((item) => [...item.licenceOrders])), products, forms };
}

/**
 * Finds unknown asset numbers in M7 of the whole enterprise. As many free numbers as units must show all the products,
 * and no other number any of them. The units are equal, so any assignment is right. `doubt`: why this fails.
 */
export function numbersShown(
  units: readonly StandingUnit[],
  taken: ReadonlySet<string>,
  contents: ReadonlyMap<string, AssetReading>,
): { numbers: ReadonlyMap<StandingUnit, string> } | { doubt: string } {
  const [first] = units;
  if (first === undefined || first.products.length === 0) return { doubt: "it has no product left that M7 could show" };
  const names = namesOf(first);
  if (units.some((unit) => namesOf(unit) !== names)) return { doubt: "its units do not hold the same" };
  const showing = [...contents].filter(
    ([number, { products }]) =>
      !taken.has(number) && first.products.some((standing) => products.some((row) => isRowOf(row, standing))),
  );
  const whole = showing
    .filter(([, { products }]) => first.products.every((standing) => products.some((row) => isRowOf(row, standing))))
    .map(([number]) => number)
    .toSorted();
  if (whole.length !== showing.length || whole.length !== units.length) {
    const doubt =
      `${counted(units.length, "unit")} should exist, and M7 shows all of one under ` +
      `${counted(whole.length, "asset number")} and a part under ${counted(showing.length - whole.length, "other")}`;
    return { doubt };
  }
  return { numbers: new Map(pairs(units, whole)) };
}

function namesOf({ products }: StandingUnit): string {
  return products
    .map(({ product, channelOrderId }) => JSON.stringify([product.id, channelOrderId]))
    .toSorted()
    .join();
}
