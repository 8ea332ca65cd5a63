import { type JsonObject, sha256 } from "../../../src/base/canonical-json.ts";
import { assumptionSettingsSchema, type AssumptionSettings } from "../../../src/contract/assumption-settings.ts";
import type { ProductRecord } from "../../../src/contract/order-record.ts";
import type { Known } from "../../../src/engine/model/state.ts";
import { customerKeyOf } from "../../../src/crm/keys.ts";
import {
  type Customer,
  type Order,
  type RecordKey,
  type Staff,
  type Stream,
  recordSchemas,
} from "../../../src/crm/model.ts";

import type { ObservedAsset, ObservedMember } from "../../../src/platform/snapshot.ts";
import { asset, bundle, product } from "./instances.ts";

/** Stands in every private text of these records. */
export const canary = "CANARY";

/** What must never come out of the ledger or be logged: a private text, or one of the mobiles. */
export const canaries = /CANARY|4917700700/u;

export function key(id: string, namespace = "crm"): RecordKey {
  return { namespace, id };
}

/** What a company whose platform is the sandbox has answered about the services. */
export function answersWith(changes: JsonObject = {}): AssumptionSettings {
  return assumptionSettingsSchema.parse({
    channelCode: "crm",
    timeCodecs: {
      readLimit: "epoch_ms",
      assetLimit: "epoch_ms",
      productLimit: "epoch_ms",
      productTrialEnd: "epoch_s",
      featureTrialEnd: "epoch_ms",
    },
    sentinels: { productUsage: 0, productTrialEnd: 0, featureTrialEnd: 0 },
    rootParentMerchandiseNum: "",
    timeUnits: { YEAR: "year" },
    productTypes: ["tool"],
    ...changes,
  });
}

export function customerRecord(id: string, fields: Partial<Customer> = {}): Customer {
  return {
    namespace: "crm",
    id,
    name: `${canary} name ${id}`,
    customerType: "company",
    branchCode: "B1",
    branchName: "Branch 1",
    address: `${canary} street ${id}`,
    adminName: `${canary} admin`,
    adminAccount: `${canary}admin`,
    adminEmail: `${canary}@example.com`,
    adminMobile: "491770070001",
    purchaserMobile: "491770070002",
    ...fields,
  };
}

type LicenseType = "cloud_account" | "normal_recover_usbkey";

/**
 * An order with one asset for each licence type: the first is `A-<id>`, of one unit, the next `A1-<id>`, of two. In
 * each are a product with a licence password, one with limits, and a package with a product.
 */
export function orderRecord(
  id: string,
  customerId: string,
  fields: Partial<Order> = {},
  licenseTypes: readonly LicenseType[] = ["cloud_account"],
): Order {
  const limits = { limitStart: "2026-10-01T00:00:00Z", limitEnd: "2027-10-01T00:00:00Z" };
  return {
    namespace: "crm",
    id,
    customerId,
    cancelled: false,
    placedAt: "2026-09-28T10:00:00Z",
    amount: { currency: "EUR", minor: 12_300 },
    instances: licenseTypes.flatMap((licenseType, index) => {
      const own = index === 0 ? `-${id}` : `${index}-${id}`;
      const unit = `A${own}`;
      return [
        asset(unit, { licenseType, quantity: index + 1 }),
        product(`P1${own}`, unit, { nodes: 5, passwords: [`${canary} licence password`] }),
        product(`P2${own}`, unit, { nodes: 1, ...limits }),
        bundle(`K${own}`, unit, { number: "M-100", name: "Suite" }),
        product(`P3${own}`, `K${own}`, { nodes: 2 }),
      ];
    }),
    ...fields,
  };
}

export function staffRecord(id: string, customerId: string, fields: Partial<Staff> = {}): Staff {
  return {
    namespace: "crm",
    id,
    customerId,
    userName: `${canary}user${id}`,
    name: `${canary} person ${id}`,
    remark: `${canary} remark`,
    mobile: "491770070003",
    assets: [],
    ...fields,
  };
}

/** A member as M5 shows it, with nothing but a name. */
export function shownMember(globalId: string, fields: Partial<ObservedMember> = {}): ObservedMember {
  return {
    globalId,
    userName: globalId,
    name: globalId,
    remark: null,
    mobile: null,
    departmentId: null,
    borrows: null,
    online: false,
    deleted: false,
    assetNums: [],
    ...fields,
  };
}

/** An asset as M6 shows it, held by nobody. */
export function shownAsset(assetNum: string, fields: Partial<ObservedAsset> = {}): ObservedAsset {
  return { assetNum, assetId: `id-${assetNum}`, holder: null, borrowed: false, online: false, from: "M6", ...fields };
}

/** A product as E5 carries it. */
export function sentProduct(crmProductId: string, parentCrmProductId: string): ProductRecord {
  return {
    crmProductId,
    parentCrmProductId,
    productUri: "gms-1",
    productName: "Drawing",
    gmsPid: "gms-1",
    productType: "tool",
    limitConcurrent: 3,
    limitTimeDuration: 0,
    strictMatchWhenDelete: true,
    trial: 0,
    trialEndDate: 0,
    timeUnit: "year",
    timeUnitQuantity: 1,
    timeDurationExpression: "1-0-0",
    productFeatures: [],
  };
}

/** What is known of a customer for whom nothing was sent yet. */
export const nothingKnown: Known = {
  link: undefined,
  platformCustomers: [],
  acknowledged: undefined,
  placedOrders: new Map(),
  numbers: [],
  staffLinks: new Map(),
  assignments: [],
  protectedMembers: new Set(),
  enterpriseCode: undefined,
  requests: [],
  crmAsked: [],
};

/** A record as a reading of a source hands it to the ledger. */
export function readRecord(stream: Stream, given: Customer | Order | Staff, place: string) {
  const record = recordSchemas[stream].parse(given);
  return {
    record: {
      rawHash: sha256(JSON.stringify(record)),
      place,
      key: { namespace: record.namespace, id: record.id },
      customer: customerKeyOf(stream, record),
      record: JSON.parse(JSON.stringify(record)) as JsonObject,
      raw: JSON.stringify({ raw: `${canary} raw` }),
    },
  };
}
