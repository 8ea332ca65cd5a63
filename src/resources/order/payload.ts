import type { AssumptionSettings, MissingAssumption, PayloadUse } from "../../contract/assumption-settings.ts";
import { type TimeWidth, encodeTime } from "../../contract/time-codec.ts";
import type { Asset, LicenseType, Package, Product, RecordKey } from "../../crm/model.ts";
import type { DesiredCustomer } from "../../engine/model/desired.ts";
import type { AssetRecord, MerchandiseRecord, OrderRecord, ProductRecord } from "./shapes.ts";
import { unitsOf, assetNumberReference, type RenewedUnit, type PrivateMarker } from "../../engine/model/references.ts";
import type { Block } from "../../engine/plan/blocks.ts";
import type { CustomerNumbers } from "../../engine/plan/input.ts";
import { uriOf } from "./model.ts";

export type PlannedProduct = Product<PrivateMarker>;
export type PlannedPackage = Package<PrivateMarker>;
export type PlannedAsset = Asset<PrivateMarker>;

/** The bought part of an asset. `units` absent: the first units. `renewed`: units that continue earlier ones. */
export type PurchasedAsset = PlannedAsset & { units?: number[]; renewed?: RenewedUnit[] };

export interface PayloadFault {
  instanceId: string;
  field: string;
  message: string;
}

const timeUses = {
  "asset-limit": { codec: "assetLimit", width: "long" },
  "product-limit": { codec: "productLimit", width: "long" },
  "product-trial": { codec: "productTrialEnd", width: "integer" },
  "feature-trial": { codec: "featureTrialEnd", width: "date" },
} as const satisfies Partial<Record<PayloadUse, { codec: string; width: TimeWidth }>>;
type TimeUse = keyof typeof timeUses;

function encoded({ timeCodecs, dateZone }: AssumptionSettings, use: TimeUse, instant: string) {
  const { codec: name, width } = timeUses[use];
  const codec = timeCodecs[name];
  return codec === undefined ? undefined : encodeTime(codec, instant, width, dateZone);
}

/** Null if it cannot be written; `checkPayload` gives the reason. */
function wireTime(settings: AssumptionSettings, use: TimeUse, instant: string): string | number | null {
  const written = encoded(settings, use, instant);
  return written?.ok === true ? written.value : null;
}

/** E5 requires these customer fields and E2 does not. So a customer may exist before it can order. */
export const orderableFields = [
  "address",
  "adminName",
  "adminAccount",
  "adminEmail",
  "adminMobile",
  "purchaserMobile",
] as const;

/**
 * One record per licence type, assets in the order of their ids (E5). Send them only if `checkPayload` finds no fault.
 */
export function newBuyRecords(
  settings: AssumptionSettings,
  input: { order: RecordKey; numbers: CustomerNumbers; body: DesiredCustomer; assets: readonly PurchasedAsset[] },
): (OrderRecord & { licenseType: LicenseType })[] {
  const { order, numbers, body, assets } = input;
  return byLicenseType(assets).map(([licenseType, own], index) => ({
    sequence: settings.sequenceBase + index,
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
    assets: own.map((asset) => assetRecord(settings, order, asset)),
  }));
}

function byLicenseType(assets: readonly PurchasedAsset[]): [LicenseType, PurchasedAsset[]][] {
  return [...Map.groupBy(assets, ({ licenseType }) => licenseType)].toSorted(([one], [other]) =>
    one < other ? -1 : 1,
  );
}

function assetRecord(settings: AssumptionSettings, order: RecordKey, asset: PurchasedAsset): AssetRecord {
  const { borrowedUsbKey, transferredAssetNumber: transferedAssetNum } = asset;
  const extensions = asset.extensions.map(({ code: extendCode, value: extendValue }) => ({ extendCode, extendValue }));
  const packages = asset.packages.map((item) => merchandiseRecord(settings, item, asset.id));
  return {
    assetNos: unitsOf(asset).map(
      (unit) =>
        asset.renewed?.find((item) => item.unit === unit)?.number ?? assetNumberReference(order, asset.id, unit),
    ),
    products: [
      ...asset.products.map((product) => productRecord(settings, product, asset.id)),
      ...repeatedProducts(settings, asset).map(({ product, parentId }) => productRecord(settings, product, parentId)),
    ],
    ...(extensions.length === 0 ? {} : { assetExtendList: extensions }),
    ...limitDates(settings, asset, "asset-limit"),
    ...(borrowedUsbKey === undefined ? {} : { borrowedUsbKey }),
    ...(transferedAssetNum === undefined ? {} : { transferedAssetNum }),
    ...(packages.length === 0 ? {} : { merchandises: packages }),
  };
}

/** Whether the asset also names the products of its packages (A23). */
function repeats({ packageProducts, packageOnly }: AssumptionSettings, { products, packages }: PlannedAsset): boolean {
  return packages.length > 0 && (packageProducts === "repeat" || (products.length === 0 && packageOnly === "repeat"));
}

function repeatedProducts(
  settings: AssumptionSettings,
  asset: PlannedAsset,
): { product: PlannedProduct; parentId: string }[] {
  if (!repeats(settings, asset)) return [];
  return packagedProducts(asset.packages).map(({ product, packageId }) => {
    return { product, parentId: settings.packageOnlyParent === "asset" ? asset.id : packageId };
  });
}

function packagedProducts(packages: readonly PlannedPackage[]): { product: PlannedProduct; packageId: string }[] {
  return packages.flatMap((item) => [
    ...item.products.map((product) => ({ product, packageId: item.id })),
    ...packagedProducts(item.children),
  ]);
}

function productRecord(settings: AssumptionSettings, product: PlannedProduct, parentId: string): ProductRecord {
  const { passwords, trialEnd } = product;
  return {
    crmProductId: product.id,
    parentCrmProductId: parentId,
    productUri: uriOf(product) ?? "",
    productName: product.name,
    gmsPid: product.gmsPid,
    appKey: product.appKey,
    productType: product.type,
    limitConcurrent: product.nodes,
    limitTimeDuration: product.usage ?? settings.sentinels.productUsage ?? null,
    strictMatchWhenDelete: true,
    trial: product.trial ? 1 : 0,
    trialEndDate:
      product.trial && trialEnd !== undefined
        ? wireTime(settings, "product-trial", trialEnd)
        : (settings.sentinels.productTrialEnd ?? null),
    timeUnit: product.timeUnit,
    timeUnitQuantity: product.timeUnitQuantity,
    timeDurationExpression: product.term,
    srcLicenseOrderId: product.srcLicenseOrderId,
    productFeatures: product.features.map((feature) => featureRecord(settings, feature)),
    ...limitDates(settings, product, "product-limit"),
    ...(passwords === undefined ? {} : { passwords }),
  };
}

type Feature = PlannedProduct["features"][number];

function featureRecord(
  settings: AssumptionSettings,
  { code, name, value, valueType, trial, trialEnd }: Feature,
): ProductRecord["productFeatures"][number] {
  return {
    featureCode: code,
    featureName: name,
    featureValue: value,
    featureValueType: valueType,
    trial: trial ? 1 : 0,
    trialEndDate:
      trial && trialEnd !== undefined
        ? wireTime(settings, "feature-trial", trialEnd)
        : (settings.sentinels.featureTrialEnd ?? null),
  };
}

/** `children` is null on the lowest level. The depth is bounded, because the tree has no faults. */
function merchandiseRecord(settings: AssumptionSettings, item: PlannedPackage, parentId: string): MerchandiseRecord {
  const children = item.children.map((child) => merchandiseRecord(settings, child, item.id));
  return {
    crmProductId: item.id,
    parentCrmProductId: parentId,
    merchandiseNum: item.number,
    merchandiseName: item.name,
    parentMerchandiseNum: item.parentNumber ?? settings.rootParentMerchandiseNum ?? null,
    timeDurationExpression: item.term,
    children: children.length === 0 ? null : children,
    licenseOrderProductList: item.products.map((product) => productRecord(settings, product, item.id)),
  };
}

function limitDates(
  settings: AssumptionSettings,
  { limitStart, limitEnd }: PlannedProduct | PlannedAsset,
  use: TimeUse,
): Pick<ProductRecord & AssetRecord, "limitStartDate" | "limitEndDate"> {
  return {
    ...(limitStart === undefined ? {} : { limitStartDate: wireTime(settings, use, limitStart) }),
    ...(limitEnd === undefined ? {} : { limitEndDate: wireTime(settings, use, limitEnd) }),
  };
}

interface Content {
  instanceId: string;
  field: string;
  use?: PayloadUse;
  time?: { use: TimeUse; instant: string };
  fault?: string;
}

export function checkPayload(
  settings: AssumptionSettings,
  assets: readonly PurchasedAsset[],
): { uses: Set<PayloadUse>; faults: PayloadFault[] } {
  const contents = byLicenseType(assets).flatMap(([, own]) => own.flatMap((asset) => contentsOf(settings, asset)));
  return {
    uses: new Set(contents.flatMap(({ use, time }) => use ?? time?.use ?? [])),
    faults: contents.flatMap(({ instanceId, field, time, fault }) => {
      const written = time === undefined ? undefined : encoded(settings, time.use, time.instant);
      const message = written?.ok === false ? written.error : fault;
      return message === undefined ? [] : [{ instanceId, field, message }];
    }),
  };
}

function contentsOf(settings: AssumptionSettings, asset: PurchasedAsset): Content[] {
  const { id, packages } = asset;
  const repeated = repeatedProducts(settings, asset).map(({ product }) => product);
  const repeating: Content = { instanceId: id, field: "products", use: "repeated-product" };
  const isEmpty = asset.products.length + repeated.length === 0;
  const what = packages.map((item) => `the package ${item.id}`).join(", ") || "the asset";
  const fault =
    `only ${what} would be bought for this asset now, but E5 needs a product directly in the asset. If the platform ` +
    "accepts the package's products there as well, set assumptions.packageOnly: repeat (A23)";
  return [
    ...(repeats(settings, asset) ? [repeating] : []),
    ...[...asset.products, ...repeated].flatMap(contentsOfProduct),
    ...(isEmpty ? [{ instanceId: id, field: "products", fault }] : []),
    ...limitsOf(asset, "asset-limit"),
    ...packages.flatMap(contentsOfPackage),
  ];
}

function contentsOfPackage({ id, children, products }: PlannedPackage): Content[] {
  return [
    { instanceId: id, field: "packages", use: "package" },
    ...children.flatMap(contentsOfPackage),
    ...products.flatMap(contentsOfProduct),
  ];
}

function contentsOfProduct(product: PlannedProduct): Content[] {
  const { id: instanceId, usage, features } = product;
  return [
    ...(uriOf(product) === undefined
      ? [{ instanceId, field: "gmsPid", fault: "neither gmsPid nor appKey is given" }]
      : []),
    { instanceId, field: "trialEnd", ...trialOf("product", product) },
    ...(usage === undefined ? [{ instanceId, field: "usage", use: "product-no-usage" as const }] : []),
    ...features.map((feature) => {
      return { instanceId, field: `features.${feature.code}.trialEnd`, ...trialOf("feature", feature) };
    }),
    ...limitsOf(product, "product-limit"),
  ];
}

function trialOf(
  what: "product" | "feature",
  { trial, trialEnd }: Pick<Feature, "trial" | "trialEnd">,
): Pick<Content, "use" | "time" | "fault"> {
  if (trial && trialEnd !== undefined) return { time: { use: `${what}-trial`, instant: trialEnd } };
  return { use: `${what}-no-trial`, ...(trial ? { fault: "it is a trial, but the end of the trial is missing" } : {}) };
}

function limitsOf({ id: instanceId, limitStart, limitEnd }: PlannedProduct | PlannedAsset, use: TimeUse): Content[] {
  const limits = Object.entries({ limitStart, limitEnd });
  return limits.flatMap(([field, instant]) =>
    instant === undefined ? [] : { instanceId, field, time: { use, instant } },
  );
}

export function assumptionMissing({ key, row, choices }: MissingAssumption): Block {
  const reason = `the setting assumptions.${key} (${row}) has no value; choose ${choices.join(" or ")}`;
  return { code: "assumption.missing", reason, again: true };
}

export const unknownCustomer: Block = {
  code: "customer.unknown",
  reason: "no source has given the customer of the order yet",
  again: true,
};

export function renewedUnits(assets: readonly PurchasedAsset[]): Map<string, RenewedUnit[]> {
  const byAsset = Map.groupBy(
    assets.filter(({ renewed }) => renewed !== undefined),
    ({ id }) => id,
  );
  return new Map([...byAsset].map(([id, own]) => [id, own.flatMap(({ renewed = [] }) => renewed)]));
}

export function renewedIn(renewed: ReadonlyMap<string, RenewedUnit[]>, id: string): { renewed?: RenewedUnit[] } {
  const units = renewed.get(id);
  return units === undefined ? {} : { renewed: units };
}
