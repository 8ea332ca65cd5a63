import type { ShownForm } from "../ledger/state/observations.ts";
import { canonicalJson } from "../base/canonical-json.ts";
import type { ProductInstance } from "../contract/asset-contents.ts";
import { formatKey } from "../crm/keys.ts";
import { shownOrderKind } from "../ledger/state/observations.ts";
import type { Link } from "../resources/enterprise/state/link.ts";
import type { StateChange } from "../engine/state.ts";
import type { Snapshot } from "../platform/snapshot.ts";
import type { CustomerState } from "./customer-state.ts";
import type { ApplyDependencies } from "./dependencies.ts";

interface ShownNow {
  licenceOrders: Map<string, string>;
  products: Map<string, string[]>;
  forms: Map<string, ShownForm[]>;
}

/** One reading of all assets of an enterprise. */
export interface Examination {
  shown: Map<string, ShownNow>;
  /** Numbers of assets in which M7 shows neither a product nor a package. */
  bareAssets: string[];
  types: ReadonlySet<string>;
}

/**
 * Reads everything that the enterprise of a customer shows ((M6 ∪ E8) → M7, E3), and keeps it; it counts as examined
 * only where no asset is ambiguous. What was shown before and is not any more ends then, and not before.
 */
export async function examine(
  { ledger }: Pick<ApplyDependencies, "ledger">,
  snapshot: Snapshot,
  knows: CustomerState,
  link: Link,
): Promise<Examination> {
  const { customer } = knows;
  const { enterpriseGlobalId } = link;
  const { assets, ...examination } = await readAll(snapshot, enterpriseGlobalId);
  const { shown, bareAssets, types } = examination;
  // Read again, and not only when it was adopted: an order is placed for one of its customers.
  const enterprises = await snapshot.enterprises(link.channelCustomerId);
  const customers = enterprises.find((item) => item.enterpriseGlobalId === enterpriseGlobalId)?.customers ?? [];
  const isClear = bareAssets.length === 0;
  const isUnread = (await knows.loaded()).unread === true;
  const before = await ledger.state.shownNumbers(customer);
  // What is not shown any more may be in an asset that shows nothing.
  const gone = isClear ? before.filter((subject) => !shown.has(subject)) : [];
  const changes: StateChange[] = [
    ...(isClear ? [{ type: "examined", customer } as const] : []),
    ...(isClear && isUnread ? [{ type: "customer-read", customer } as const] : []),
    { type: "platform-customers", enterpriseGlobalId, customers },
    { type: "licence-types-shown", types: [...types] },
    // All orders are kept: one may come into the CRM, or out of quarantine, when the enterprise is not read any more.
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

/** Each form once. */
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
