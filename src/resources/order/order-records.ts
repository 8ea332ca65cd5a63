import type { AssumptionSettings } from "../../contract/assumption-settings.ts";
import type { TimeWidth } from "../../contract/time-codec.ts";
import { encodeTime } from "../../contract/time-codec.ts";
import type { PayloadUse } from "../../contract/assumptions/missing.ts";
import type { Asset, LicenseType, Package, Product, RecordKey } from "../../crm/model.ts";
import type { DesiredCustomer } from "../../engine/desired.ts";
import type { AssetRecord, MerchandiseRecord, OrderRecord, ProductRecord } from "./order-payload.ts";
import { unitsOf } from "../../engine/asset-numbers.ts";
import type { RenewedUnit } from "../../engine/asset-numbers.ts";
import { assetNumberReference } from "../../engine/references.ts";
import type { PrivateMarker } from "../../engine/references.ts";
import type { CustomerNumbers } from "../../engine/plan/customer-numbers.ts";

/** The tree of an order whose licence passwords stand as markers. */
export type PlannedProduct = Product<PrivateMarker>;
export type PlannedPackage = Package<PrivateMarker>;
export type PlannedAsset = Asset<PrivateMarker>;

/**
 * An asset with what of it is bought, and under the numbers of which units; of its first ones where it is not said.
 * `renewed`: those of them that continue earlier units.
 */
export type PurchasedAsset = PlannedAsset & { units?: number[]; renewed?: RenewedUnit[] };

/** Why a value cannot go on the wire: which instance, which field, what is wrong. */
export interface PayloadFault {
  instanceId: string;
  field: string;
  message: string;
}

/** Collects what a payload uses and what is wrong with it while it is built. */
export class PayloadBuild {
  readonly settings: AssumptionSettings;
  readonly uses = new Set<PayloadUse>();
  readonly faults: PayloadFault[] = [];

  constructor(settings: AssumptionSettings) {
    this.settings = settings;
  }

  time(instanceId: string, field: string, use: PayloadUse, instant: string, width: TimeWidth): string | number | null {
    this.uses.add(use);
    const { timeCodecs, dateZone } = this.settings;
    const codec =
      use === "asset-limit"
        ? timeCodecs.assetLimit
        : use === "product-limit"
          ? timeCodecs.productLimit
          : use === "product-trial"
            ? timeCodecs.productTrialEnd
            : timeCodecs.featureTrialEnd;
    if (codec === undefined) return null;
    const encoded = encodeTime(codec, instant, width, dateZone);
    if (encoded.ok) return encoded.value;
    this.faults.push({ instanceId, field, message: encoded.error });
    return null;
  }
}

const endlessTrial = "it is a trial, but the end of the trial is missing";

function featureRecord(
  build: PayloadBuild,
  productId: string,
  feature: PlannedProduct["features"][number],
): ProductRecord["productFeatures"][number] {
  let trialEndDate: string | number | null;
  if (feature.trial && feature.trialEnd === undefined) {
    build.faults.push({ instanceId: productId, field: `features.${feature.code}.trialEnd`, message: endlessTrial });
  }
  if (feature.trial && feature.trialEnd !== undefined) {
    trialEndDate = build.time(
      productId,
      `features.${feature.code}.trialEnd`,
      "feature-trial",
      feature.trialEnd,
      "date",
    );
  } else {
    build.uses.add("feature-no-trial");
    trialEndDate = build.settings.sentinels.featureTrialEnd ?? null;
  }
  return {
    featureCode: feature.code,
    featureName: feature.name,
    featureValue: feature.value,
    featureValueType: feature.valueType,
    trial: feature.trial ? 1 : 0,
    trialEndDate,
  };
}

/** A product as E5 wants it. `productUri` is the gmsPid, or else the appKey. */
export function productRecord(build: PayloadBuild, product: PlannedProduct, parentCrmProductId: string): ProductRecord {
  const uri = product.gmsPid ?? product.appKey;
  if (uri === undefined) {
    build.faults.push({ instanceId: product.id, field: "gmsPid", message: "neither gmsPid nor appKey is given" });
  }
  let trialEndDate: string | number | null;
  if (product.trial && product.trialEnd === undefined) {
    build.faults.push({ instanceId: product.id, field: "trialEnd", message: endlessTrial });
  }
  if (product.trial && product.trialEnd !== undefined) {
    trialEndDate = build.time(product.id, "trialEnd", "product-trial", product.trialEnd, "integer");
  } else {
    build.uses.add("product-no-trial");
    trialEndDate = build.settings.sentinels.productTrialEnd ?? null;
  }
  if (product.usage === undefined) build.uses.add("product-no-usage");
  const record: ProductRecord = {
    crmProductId: product.id,
    parentCrmProductId,
    productUri: uri ?? "",
    productName: product.name,
    gmsPid: product.gmsPid,
    appKey: product.appKey,
    productType: product.type,
    limitConcurrent: product.nodes,
    limitTimeDuration: product.usage ?? build.settings.sentinels.productUsage ?? null,
    strictMatchWhenDelete: true,
    trial: product.trial ? 1 : 0,
    trialEndDate,
    timeUnit: product.timeUnit,
    timeUnitQuantity: product.timeUnitQuantity,
    timeDurationExpression: product.term,
    srcLicenseOrderId: product.srcLicenseOrderId,
    productFeatures: product.features.map((feature) => featureRecord(build, product.id, feature)),
  };
  setLimitDates(build, record, product, "product-limit");
  if (product.passwords !== undefined) record.passwords = product.passwords;
  return record;
}

/**
 * A package with its products and lower packages as E5 wants it; `children` is null on the lowest level. A tree without
 * faults bounds the depth.
 */
export function merchandiseRecord(build: PayloadBuild, item: PlannedPackage, parentId: string): MerchandiseRecord {
  build.uses.add("package");
  return {
    crmProductId: item.id,
    parentCrmProductId: parentId,
    merchandiseNum: item.number,
    merchandiseName: item.name,
    parentMerchandiseNum: item.parentNumber ?? build.settings.rootParentMerchandiseNum ?? null,
    timeDurationExpression: item.term,
    children:
      item.children.length === 0 ? null : item.children.map((child) => merchandiseRecord(build, child, item.id)),
    licenseOrderProductList: item.products.map((product) => productRecord(build, product, item.id)),
  };
}

/** When something begins and ends, as far as the CRM says so. */
function setLimitDates(
  build: PayloadBuild,
  record: ProductRecord | AssetRecord,
  { id, limitStart, limitEnd }: PlannedProduct | PlannedAsset,
  use: PayloadUse,
): void {
  if (limitStart !== undefined) record.limitStartDate = build.time(id, "limitStart", use, limitStart, "long");
  if (limitEnd !== undefined) record.limitEndDate = build.time(id, "limitEnd", use, limitEnd, "long");
}

function packagedProducts(packages: readonly PlannedPackage[]): { product: PlannedProduct; packageId: string }[] {
  return packages.flatMap((item) => [
    ...item.products.map((product) => ({ product, packageId: item.id })),
    ...packagedProducts(item.children),
  ]);
}

function assetRecord(build: PayloadBuild, order: RecordKey, asset: PurchasedAsset): AssetRecord {
  const { settings } = build;
  const products = asset.products.map((product) => productRecord(build, product, asset.id));
  const packageOnly = asset.products.length === 0;
  if (
    asset.packages.length > 0 &&
    (settings.packageProducts === "repeat" || (packageOnly && settings.packageOnly === "repeat"))
  ) {
    build.uses.add("repeated-product");
    for (const { product, packageId } of packagedProducts(asset.packages)) {
      products.push(productRecord(build, product, settings.packageOnlyParent === "asset" ? asset.id : packageId));
    }
  }
  if (products.length === 0) {
    build.faults.push({
      instanceId: asset.id,
      field: "products",
      message:
        `only ${asset.packages.map(({ id }) => `the package ${id}`).join(", ") || "the asset"} would be ` +
        "bought for this asset now, but E5 needs a product directly in the asset. If the platform accepts the " +
        "package's products there as well, set assumptions.packageOnly: repeat (A23)",
    });
  }
  const record: AssetRecord = {
    assetNos: unitsOf(asset).map(
      (unit) =>
        asset.renewed?.find((item) => item.unit === unit)?.number ?? assetNumberReference(order, asset.id, unit),
    ),
    products,
  };
  if (asset.extensions.length > 0) {
    record.assetExtendList = asset.extensions.map((extension) => ({
      extendCode: extension.code,
      extendValue: extension.value,
    }));
  }
  setLimitDates(build, record, asset, "asset-limit");
  if (asset.borrowedUsbKey !== undefined) record.borrowedUsbKey = asset.borrowedUsbKey;
  if (asset.transferredAssetNumber !== undefined) record.transferedAssetNum = asset.transferredAssetNumber;
  if (asset.packages.length > 0) {
    record.merchandises = asset.packages.map((item) => merchandiseRecord(build, item, asset.id));
  }
  return record;
}

/** Fields of a customer that E5 requires and E2 does not: a customer may exist and not be orderable yet. */
export const orderableFields = [
  "address",
  "adminName",
  "adminAccount",
  "adminEmail",
  "adminMobile",
  "purchaserMobile",
] as const;

/**
 * The order records of one new purchase: one for each licence type, numbered from the sequence base, assets in the
 * order of their ids (E5).
 */
export function newBuyRecords(
  build: PayloadBuild,
  input: { order: RecordKey; numbers: CustomerNumbers; body: DesiredCustomer; assets: readonly PurchasedAsset[] },
): { licenseType: LicenseType; sequence: number; record: OrderRecord }[] {
  const { settings } = build;
  const { numbers, body } = input;
  const groups = new Map<LicenseType, PurchasedAsset[]>();
  for (const asset of input.assets) {
    const group = groups.get(asset.licenseType) ?? [];
    group.push(asset);
    groups.set(asset.licenseType, group);
  }
  return [...groups.keys()].sort().map((licenseType, index) => {
    const sequence = settings.sequenceBase + index;
    const record: OrderRecord = {
      sequence,
      customerId: { $ref: "customerId", of: licenseType },
      crmCustomerId: numbers.crmCustomerId,
      customerName: body.name,
      channelCustomerId: numbers.channelCustomerId,
      adminName: body.adminName,
      adminAccount: body.adminAccount,
      adminEmail: body.adminEmail,
      adminCellNumber: body.adminMobile,
      passwordMobile: body.purchaserMobile,
      address: body.address,
      customerType: body.customerType,
      branchCode: body.branchCode,
      branchName: body.branchName,
      enterpriseGlobalId: { $ref: "enterpriseGlobalId" },
      licenseType,
      orderType: "new_buy",
      assets: (groups.get(licenseType) ?? []).map((asset) => assetRecord(build, input.order, asset)),
    };
    return { licenseType, sequence, record };
  });
}
