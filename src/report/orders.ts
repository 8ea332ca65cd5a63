import type { Money, RecordKey } from "../crm/model.ts";
import type { ReportRow, ReportShape } from "./document.ts";

/**
 * Something that was given to a customer or taken away: an order was placed by us or found on the platform (`adopted`),
 * something was bought for it later (`amended`) or went (`ended`), amounts of it changed (`repriced`, without a call),
 * a person was granted an asset number or it was taken away. What was found gone on the platform, without an operation
 * of ours, is `found-gone`, and what had ended and is shown there again `found-again`.
 */
export interface OrderEvent {
  at: string;
  event:
    | "placed"
    | "adopted"
    | "amended"
    | "ended"
    | "repriced"
    | "granted"
    | "grant-adopted"
    | "revoked"
    | "found-gone"
    | "found-again";
  customer: RecordKey;
  enterpriseGlobalId: string | null;
  order: RecordKey | null;
  crmDate: string | null;
  channelOrderId: string | null;
  licence: { sequence: number; licenseType: string; licenseOrderId: string } | null;
  assetNumbers: readonly string[];
  productIds: readonly string[];
  staff: RecordKey | null;
  memberGlobalId: string | null;
  /** The amount of the whole order, on its first row only, so that the column can be added up. */
  orderAmount: Money | null;
  /** The amounts of this row's products together, where the CRM gives all of them in one currency. */
  productAmount: Money | null;
  /** The same before they changed. */
  before: { order: Money | null; product: Money | null };
  operationId: string | null;
  runId: string | null;
  auditSequence: number | null;
}

export const ordersShape: ReportShape = {
  columns: [
    "at",
    "event",
    "customer",
    "enterprise_global_id",
    "crm_order",
    "crm_date",
    "channel_order_id",
    "sequence",
    "license_type",
    "license_order_id",
    "asset_numbers",
    "product_ids",
    "products",
    "staff",
    "member_global_id",
    "order_amount_minor",
    "order_currency",
    "product_amount_minor",
    "product_currency",
    "order_amount_minor_before",
    "product_amount_minor_before",
    "operation",
    "run",
    "audit_sequence",
  ],
  totalOf: (row) => String(row["event"]),
};

/** One event as a row of the report. Amounts are in the minor unit of their currency. */
export function orderRow(event: OrderEvent): ReportRow {
  const { licence } = event;
  return {
    at: event.at,
    event: event.event,
    customer: keyText(event.customer),
    enterprise_global_id: event.enterpriseGlobalId,
    crm_order: keyText(event.order),
    crm_date: event.crmDate,
    channel_order_id: event.channelOrderId,
    sequence: licence?.sequence ?? null,
    license_type: licence?.licenseType ?? null,
    license_order_id: licence?.licenseOrderId ?? null,
    asset_numbers: event.assetNumbers,
    product_ids: event.productIds,
    products: event.productIds.length,
    staff: keyText(event.staff),
    member_global_id: event.memberGlobalId,
    order_amount_minor: event.orderAmount?.minor ?? null,
    order_currency: event.orderAmount?.currency ?? null,
    product_amount_minor: event.productAmount?.minor ?? null,
    product_currency: event.productAmount?.currency ?? null,
    order_amount_minor_before: event.before.order?.minor ?? null,
    product_amount_minor_before: event.before.product?.minor ?? null,
    operation: event.operationId,
    run: event.runId,
    audit_sequence: event.auditSequence,
  };
}

/** `crm/10248`, or an empty cell. */
export function keyText(key: RecordKey | null): string | null {
  return key === null ? null : `${key.namespace}/${key.id}`;
}

/** The sum of amounts, where all are given and in one currency. */
export function sumOf(amounts: readonly (Money | undefined)[]): Money | null {
  const [first] = amounts;
  if (first === undefined) return null;
  let minor = 0;
  for (const amount of amounts) {
    if (amount === undefined || amount.currency !== first.currency) return null;
    minor += amount.minor;
  }
  return { currency: first.currency, minor };
}
