import { z } from "zod";
import type { BatchOrderRequest, NewBuyOrder } from "../../contract/order-record.ts";
import type { RecordKey } from "../../crm/model.ts";
import { renewedUnit } from "../../engine/asset-numbers.ts";
import type { PlannedAsset } from "../../engine/asset-numbers.ts";

/** What an E5 has to remember so that its outcome can be found out later. Ids and commitments only. */
export const orderContext = z.object({
  enterpriseGlobalId: z.string(),
  channelOrderId: z.string(),
  bodyHash: z.string(),
  version: z.int(),
  order: z.object({ namespace: z.string(), id: z.string() }),
  secrets: z.boolean(),
  /** Units that continue earlier ones, where there are any. */
  renewed: z.array(renewedUnit.extend({ instanceId: z.string() })).optional(),
  records: z.array(
    z.object({
      sequence: z.int(),
      licenseType: z.string(),
      customerId: z.string(),
      numbers: z.array(z.string()),
      products: z.array(z.string()),
      /** Its products, each once for every number of its asset. */
      standing: z.int(),
    }),
  ),
});
export type OrderContext = z.infer<typeof orderContext>;

type Merchandise = NonNullable<NewBuyOrder["assets"][number]["merchandises"]>;

function merchandiseProducts(packages: Merchandise): string[] {
  return packages.flatMap(({ licenseOrderProductList, children }) => [
    ...licenseOrderProductList.map((product) => product.crmProductId),
    ...merchandiseProducts(children ?? []),
  ]);
}

function productsOf(asset: NewBuyOrder["assets"][number]): string[] {
  return [...asset.products.map((product) => product.crmProductId), ...merchandiseProducts(asset.merchandises ?? [])];
}

/** The products that are on the platform once all that was promised is, each once for every number of its asset. */
export function standingProducts({ records }: OrderContext): number {
  return records.reduce((sum, { standing }) => sum + standing, 0);
}

/** What an order's wire body promises to show: for each order record its asset numbers and CRM product ids. */
export function orderContextOf(
  request: BatchOrderRequest,
  planned: {
    order: RecordKey;
    bodyHash: string;
    version: number;
    secrets: boolean;
    assets: readonly PlannedAsset[];
  },
): OrderContext {
  const renewed = planned.assets.flatMap(({ id, renewed: units = [] }) =>
    units.map(({ shown: _shown, ...unit }) => ({ ...unit, instanceId: id })),
  );
  return {
    enterpriseGlobalId: request.orderList[0]?.enterpriseGlobalId ?? "",
    channelOrderId: request.channelOrderId,
    bodyHash: planned.bodyHash,
    version: planned.version,
    order: planned.order,
    secrets: planned.secrets,
    ...(renewed.length === 0 ? {} : { renewed }),
    records: request.orderList.map(promisedOf),
  };
}

function promisedOf(record: BatchOrderRequest["orderList"][number]): OrderContext["records"][number] {
  if (record.orderType !== "new_buy")
    throw new TypeError(`an order record of the type ${record.orderType} is not placed`);
  const { sequence, licenseType, customerId, assets } = record;
  const products = assets.flatMap(productsOf);
  const numbers = assets.flatMap((asset) => asset.assetNos);
  const standing = assets.reduce((sum, asset) => sum + new Set(productsOf(asset)).size * asset.assetNos.length, 0);
  return { sequence, licenseType, customerId, numbers, products: [...new Set(products)], standing };
}
