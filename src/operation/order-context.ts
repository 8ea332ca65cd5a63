import { z } from "zod";
import type { JsonObject } from "../base/canonical-json.ts";
import type { RecordKey } from "../crm/model.ts";

/** What an E5 has to remember so that its outcome can be found out later. Ids and commitments only. */
export const orderContext = z.object({
  enterpriseGlobalId: z.string(),
  channelOrderId: z.string(),
  bodyHash: z.string(),
  version: z.int(),
  order: z.object({ namespace: z.string(), id: z.string() }),
  secrets: z.boolean(),
  records: z.array(
    z.object({
      sequence: z.int(),
      licenseType: z.string(),
      customerId: z.string(),
      numbers: z.array(z.string()),
      products: z.array(z.string()),
    }),
  ),
});
export type OrderContext = z.infer<typeof orderContext>;

/** The wire body of E5, as far as its own proof needs it. */
const orderWire = z.looseObject({
  channelOrderId: z.string(),
  orderList: z.array(
    z.looseObject({
      sequence: z.int(),
      licenseType: z.string(),
      customerId: z.string(),
      enterpriseGlobalId: z.string(),
      assets: z.array(
        z.looseObject({
          assetNos: z.array(z.string()),
          products: z.array(z.looseObject({ crmProductId: z.string() })).optional(),
          merchandises: z.array(z.unknown()).optional(),
        }),
      ),
    }),
  ),
});

function merchandiseProducts(nodes: readonly unknown[]): string[] {
  return nodes.flatMap((node) => {
    const parsed = z
      .looseObject({
        licenseOrderProductList: z.array(z.looseObject({ crmProductId: z.string() })).nullish(),
        children: z.array(z.unknown()).nullish(),
      })
      .parse(node);
    return [
      ...(parsed.licenseOrderProductList ?? []).map((product) => product.crmProductId),
      ...merchandiseProducts(parsed.children ?? []),
    ];
  });
}

/** What an order's wire body promises to show: for each order record its asset numbers and CRM product ids. */
export function orderContextOf(
  wire: JsonObject,
  planned: { order: RecordKey; bodyHash: string; version: number; secrets: boolean },
): OrderContext {
  const body = orderWire.parse(wire);
  return {
    enterpriseGlobalId: body.orderList[0]?.enterpriseGlobalId ?? "",
    channelOrderId: body.channelOrderId,
    bodyHash: planned.bodyHash,
    version: planned.version,
    order: planned.order,
    secrets: planned.secrets,
    records: body.orderList.map((record) => ({
      sequence: record.sequence,
      licenseType: record.licenseType,
      customerId: record.customerId,
      numbers: record.assets.flatMap((asset) => asset.assetNos),
      products: [
        ...new Set(
          record.assets.flatMap((asset) => [
            ...(asset.products ?? []).map((product) => product.crmProductId),
            ...merchandiseProducts(asset.merchandises ?? []),
          ]),
        ),
      ],
    })),
  };
}
