import type { Resting } from "../../engine/model/assumptions-met.ts";
import { customerFields, isAsync, removedItem } from "./shapes.ts";
import { z } from "zod";
import type { BatchOrderRequest } from "../../contract/order-record.ts";
import { prepareOrder } from "./purchase.ts";
import { formatKey } from "../../crm/keys.ts";
import type { RecordKey } from "../../crm/model.ts";
import type { Snapshot } from "../../platform/snapshot.ts";
import type {
  Bound,
  Effect,
  Evidence,
  JournalEntry,
  NotSendable,
  Prepared,
} from "../../engine/model/operation-type.ts";
import { restsOfLimits } from "./assumptions.ts";
import { references } from "../../engine/model/references.ts";
import type { ShapesOf } from "../../engine/model/resource.ts";
import type { StateChange } from "../../engine/model/state.ts";

const time = z.union([z.string(), z.number(), z.null()]).optional();

const deletedProduct = z.object({
  crmProductId: z.string(),
  productUri: z.string(),
  limitStartDate: time,
  limitEndDate: time,
  limitConcurrent: z.number(),
  strictMatchWhenDelete: z.literal(true),
});
export type DeletedProduct = z.infer<typeof deletedProduct>;

/** `deleteShape: full` adds customer fields (A18). Only `delete-everywhere` may leave `srcLicenseOrderId` empty. */
const deleteRecord = z.object({
  sequence: z.number(),
  customerId: references.customerId.optional(),
  crmCustomerId: z.string().optional(),
  ...customerFields,
  enterpriseGlobalId: references.enterpriseGlobalId,
  srcLicenseOrderId: z.string(),
  licenseType: z.string(),
  orderType: z.enum(["delete_product", "delete_asset"]),
  assets: z.array(z.object({ assetNos: z.array(z.string()), products: z.array(deletedProduct).optional() })),
});
export type DeleteRecord = z.infer<typeof deleteRecord>;

/** `product: null`: the whole asset with its contents. */
const goingItem = removedItem.extend({
  number: z.string(),
  assetId: z.string(),
  /** Another unit has the number too, so the number stays. */
  shared: z.literal(true).optional(),
});

const going = z.object({
  items: z.array(goingItem),
  products: z.array(z.object({ assetId: z.string(), crmProductId: z.string(), licenseOrderId: z.string().nullable() })),
  /** Removed asset numbers that crm-sync had assigned to people. */
  held: z.array(z.string()),
});
export type Going = z.infer<typeof going>;

export const deletionSchemas = {
  target: z.object({}),
  payload: z.object({
    channelCode: z.string(),
    channelOrderId: references.channelOrderId,
    syncMode: z.string(),
    orderList: z.array(deleteRecord),
  }),
  before: z.object({ also: z.array(z.string()) }).nullable(),
  after: going.extend({
    /** Removed products that count; a product with a new form does not. */
    counted: z.int(),
    /** The order's state at planning. If it changed, the operation is not sent. */
    lastStep: z.int(),
    agreed: z.string().nullable(),
  }),
  context: z.object({
    enterpriseGlobalId: z.string(),
    order: z.object({ namespace: z.string(), id: z.string() }),
    channelOrderId: z.string(),
  }),
};
export type DeletionShapes = ShapesOf<typeof deletionSchemas>;

/** Products are counted once per asset number. A removed number is never used again, and its holder loses it. */
export function removed(operationId: string, customer: RecordKey, order: RecordKey, going: Going): Effect {
  const { items, products, held } = going;
  const numbers = items.flatMap((item) => (item.product === null && item.shared !== true ? [item.number] : []));
  const changes: StateChange[] = [
    {
      type: "order-removed",
      order,
      customer,
      operationId,
      origin: "sent",
      products: products.length,
      items: items.map(({ assetId: _asset, shared: _shared, ...item }) => item),
    },
  ];
  if (numbers.length > 0) changes.push({ type: "numbers-ended", numbers });
  for (const assetNumber of held) changes.push({ type: "asset-revoked", assetNumber, operationId });
  return {
    changes,
    audit: {
      order: formatKey(order),
      removed: items.map(({ number, product, licenseOrderId }) => ({ number, product, licenseOrderId })),
      revoked: held,
    },
  };
}

function partOf(going: Going, gone: ReadonlySet<string>): Going {
  const items = going.items.filter((item) => gone.has(keyOf(item.assetId, item.product, item.licenseOrderId)));
  const numbers = new Set(items.flatMap((item) => (item.product === null ? [item.number] : [])));
  // Products of an asset that still exists count when the whole asset is removed.
  const ended = new Set(items.map((item) => keyOf(item.assetId, item.product, item.licenseOrderId)));
  const counts = (item: Going["products"][number]): boolean =>
    ended.has(keyOf(item.assetId, null, null)) ||
    ended.has(keyOf(item.assetId, item.crmProductId, item.licenseOrderId));
  return {
    items,
    products: going.products.filter(counts),
    held: going.held.filter((number) => numbers.has(number)),
  };
}

function keyOf(assetId: string, product: string | null, licenseOrderId: string | null): string {
  return JSON.stringify([assetId, product, product === null ? null : licenseOrderId]);
}

/**
 * Reads each asset by its id in M7: M6 and E8 have no total, so their silence proves nothing. An asset is gone if M7
 * says so (60024), or shows other products and none of ours. Empty answers prove nothing (A43).
 */
export async function readDeletion(entry: JournalEntry<DeletionShapes>, snapshot: Snapshot): Promise<Evidence> {
  const { context, operation } = entry;
  const { after: going, customer } = operation;
  const gone = new Set<string>();
  const detail = { call: "M7", still: 0, assets: 0 };
  for (const assetId of new Set(going.products.map((product) => product.assetId))) {
    const contents = await snapshot.contentsById(context.enterpriseGlobalId, assetId);
    if (contents !== "gone" && contents.bare) {
      const reason =
        `M7 shows the asset ${assetId} without any product or package, so it is not known whether the ` +
        "products are removed; " +
        "ask the provider of the member-center whether such assets are empty " +
        "(assumptions.emptyAssets)";
      return { kind: "ambiguous", reason, detail, says: "nothing" };
    }
    detail.assets += 1;
    const own = going.products.filter((product) => product.assetId === assetId);
    const still = own.filter(
      ({ crmProductId, licenseOrderId }) =>
        contents !== "gone" &&
        contents.products.some(
          (row) => row.crmProductId === crmProductId && (row.licenseOrderId ?? null) === licenseOrderId,
        ),
    );
    detail.still += still.length;
    for (const product of own)
      if (!still.includes(product)) gone.add(keyOf(assetId, product.crmProductId, product.licenseOrderId));
    if (still.length === 0) gone.add(keyOf(assetId, null, null));
  }
  const part = partOf(going, gone);
  const effect = removed(entry.id, customer, context.order, part);
  if (detail.still === 0) return { kind: "confirmed", effect, detail };
  return { kind: "not-found", detail, partEffect: part.items.length === 0 ? undefined : effect };
}

export function prepareDeletion(
  bound: Pick<Bound<DeletionShapes>, "operation" | "wire">,
  schema: z.ZodType<BatchOrderRequest>,
): Prepared<DeletionShapes> | NotSendable {
  const { customer, after } = bound.operation;
  return prepareOrder(bound, schema, ({ channelOrderId, orderList }, order) => ({
    context: { enterpriseGlobalId: orderList[0]?.enterpriseGlobalId ?? "", order, channelOrderId },
    effectOf: (id) => removed(id, customer, order, after),
  }));
}

export function restsOfDeletion(payload: DeletionShapes["payload"]): Resting[] {
  const types = [...new Set(payload.orderList.map(({ licenseType }) => licenseType))];
  return [
    ...(isAsync(payload) ? [{ row: "A15" as const }] : []),
    ...(payload.orderList.length > 1 ? [{ row: "A16" as const }] : []),
    ...types.map((about) => ({ row: "A19" as const, about, fields: ["srcLicenseOrderId"] })),
    ...types.map((about) => ({ row: "A43" as const, about })),
    ...payload.orderList
      .flatMap(({ assets }) => assets.flatMap(({ products = [] }) => products))
      .flatMap((product) => restsOfLimits("products", product))
      .slice(0, 1),
  ];
}
