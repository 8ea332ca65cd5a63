import type { Json, JsonObject } from "../base/canonical-json.ts";
import { fieldNames, shownOtherwise } from "../resources/staff/profile.ts";
import type { ClearProfile } from "../resources/staff/profile.ts";
import type { ObservedMember, SnapshotReader } from "../platform/snapshot.ts";
import type { MerchandiseNode, ProductInstance } from "../contract/asset-contents.ts";
import type { ShownOfCustomer } from "../ledger/state/enterprise-state.ts";
import type { LinkedCustomer } from "../resources/enterprise/state/link.ts";
import type { StateChange } from "../engine/state.ts";
import type { ShownThing } from "../engine/state/observations.ts";

/** Kinds of things that a reading back keeps. */
const shownKinds = ["enterprise", "member", "asset", "product", "package", "loan", "twice"] as const;

/** What reading one customer back came to, and how it is kept. */
export interface Verified extends ShownOfCustomer {
  assets: number;
  products: number;
  members: number;
}

/**
 * Reads everything that the platform shows of one customer, as observations that are to be kept, without a writing
 * call. Rejects where one of the readings failed: then nothing is kept, and what was seen before stands with its age.
 * Of people it is kept which fields are shown otherwise than they were left, never what they hold: `left` is what M5
 * should show, by member id. In one piece: one row for each kind of what is shown.
 */
export async function verifyCustomer(
  reader: SnapshotReader,
  { customer, link, left }: LinkedCustomer & { left: ReadonlyMap<string, ClearProfile> },
  signal: AbortSignal | undefined,
): Promise<Verified> {
  if (link === undefined) return { customer, link, assets: 0, products: 0, members: 0, changes: [] };
  const { enterprises, members, rows, loans, contents } = await reader.of(customer, signal).everything(link);
  const shown: ShownThing[] = [];
  const observe = (kind: (typeof shownKinds)[number], subject: string, body: Json): void => {
    shown.push({ kind, subject, body });
  };
  for (const enterprise of enterprises) {
    observe("enterprise", enterprise.enterpriseGlobalId, {
      customers: enterprise.customers.map((item) => ({ customerId: item.customerId, isDefault: item.isDefault })),
    });
  }
  for (const member of members) {
    const { deleted, assetNums, globalId } = member;
    const otherwise = otherwiseOf(member, left.get(globalId));
    observe("member", globalId, {
      deleted,
      assetNums: [...assetNums].sort(),
      ...(otherwise.length === 0 ? {} : { otherwise }),
    });
  }
  for (const { lock, assetId, lent, borrower } of loans) observe("loan", lock, { assetId, lent, borrower });
  let assets = 0;
  let products = 0;
  const types = new Set<string>();
  for (const [assetNum, times] of shownTwice(rows.map((row) => row.assetNum)))
    observe("twice", `asset ${assetNum}`, { assetNum, times });
  for await (const { asset, products: held, packages } of contents) {
    assets += 1;
    observe("asset", asset.assetNum, { assetId: asset.assetId, holder: asset.holder, borrowed: asset.borrowed });
    const ids = held.flatMap(({ crmProductId }) => crmProductId ?? []);
    for (const [crmProductId, times] of shownTwice(ids)) {
      const { assetNum } = asset;
      observe("twice", `product ${assetNum}/${crmProductId}`, { assetNum, crmProductId, times });
    }
    products += held.length;
    for (const { licenseType } of held) if (licenseType !== null) types.add(licenseType);
    for (const [id, body] of together(held, (product) => product.crmProductId ?? product.id, productBody))
      observe("product", `${asset.assetNum}/${id}`, body);
    for (const [id, body] of together(packages, (item) => item.merchandiseNum ?? item.id, packageBody))
      observe("package", `${asset.assetNum}/${id}`, body);
  }
  const changes: StateChange[] = [
    { type: "observed-all", customer, kinds: shownKinds, shown },
    { type: "licence-types-shown", types: [...types] },
  ];
  return { customer, link, assets, products, members: members.filter(({ deleted }) => !deleted).length, changes };
}

/** The names of the fields that M5 shows otherwise than they were left. */
function otherwiseOf(member: ObservedMember, left: ClearProfile | undefined): string[] {
  return left === undefined ? [] : shownOtherwise(member, left).map((field) => fieldNames[field]);
}

/**
 * What is shown, by its name. Of what is shown more than once, as an old form is beside the new one, the others stand
 * beside the first one, the same in whatever order they come.
 */
function together<Row extends { id: string }>(
  rows: readonly Row[],
  nameOf: (row: Row) => string,
  bodyOf: (row: Row) => JsonObject,
): Map<string, JsonObject> {
  const named = Map.groupBy(
    rows.toSorted((left, right) => (left.id < right.id ? -1 : 1)),
    nameOf,
  );
  return new Map(
    [...named].map(([name, same]) => {
      const [body = {}, ...others] = same.map(bodyOf);
      return [name, others.length === 0 ? body : { ...body, others }];
    }),
  );
}

/** What stands in a list more than once, and how often. */
function shownTwice(names: readonly string[]): [string, number][] {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return [...counts].filter(([, count]) => count > 1);
}

function packageBody(item: MerchandiseNode): JsonObject {
  return {
    merchandiseNum: item.merchandiseNum,
    merchandiseName: item.merchandiseName,
    parentMerchandiseNum: item.parentMerchandiseNum,
    channelOrderId: item.channelOrderId,
    licenseOrderId: item.licenseOrderId,
  };
}

function productBody(product: ProductInstance): JsonObject {
  return {
    id: product.id,
    channelOrderId: product.channelOrderId ?? null,
    licenseOrderId: product.licenseOrderId ?? null,
    crmProductId: product.crmProductId ?? null,
    licenseType: product.licenseType ?? null,
    productUri: product.productUri ?? null,
    gmsPid: product.gmsPid ?? null,
    appKey: product.appKey ?? null,
    productName: product.productName ?? null,
    limitConcurrent: product.limitConcurrent ?? null,
    limitStartTime: product.limitStartTime ?? null,
    limitEndTime: product.limitEndTime ?? null,
    limitTimeDuration: product.limitTimeDuration ?? null,
    trial: product.trial ?? null,
    trialEndDate: product.trialEndDate ?? null,
    timeDurationExpression: product.timeDurationExpression ?? null,
    srcLicenseOrderId: product.srcLicenseOrderId ?? null,
  };
}
