import { formatKey } from "../../crm/keys.ts";
import type { DraftOperation } from "../../engine/model/operation.ts";
import { givenToNew, newUnitsOf } from "../../engine/model/references.ts";
import type { StandingUnit } from "./model.ts";
import { only, standing } from "../../engine/model/requests.ts";
import type { Known } from "../../engine/model/state.ts";
import type { AssetReading } from "../../platform/snapshot.ts";
import type { Block, BlockedRecord } from "../../engine/plan/blocks.ts";
import type { CustomerInput, LoadedCustomer } from "../../engine/plan/input.ts";
import type { OrderStage } from "./plan.ts";

type Amendment = DraftOperation<"amend-order">;

interface BoughtUnder {
  own: readonly StandingUnit[];
  /** Units of other orders with the same number, by renewal. */
  others: readonly StandingUnit[];
  number: string;
  products: readonly string[];
}

type Given = Pick<CustomerInput, "observed" | "standings"> & { known: Pick<Known, "placedOrders" | "requests"> };

function disabledBy({ known }: Given, number: string): string | undefined {
  const asked = only(known.requests, "lock").find(({ about }) => about === number);
  return asked?.wanted !== "locked" || standing(asked) === "refused" ? undefined : asked.by;
}

function isAmendment(meant: OrderStage["meant"][number]): meant is Amendment {
  return "items" in meant.after;
}

function boughtUnder({ after, records }: Amendment, standings: LoadedCustomer["standings"]): BoughtUnder[] {
  const [order] = records;
  const standing = order === undefined ? undefined : standings?.get(formatKey(order));
  if (standing === undefined || "lost" in standing) return [];
  return after.items.flatMap(({ instanceId, unit: index, stood, products }) => {
    const found = standing.units.find((one) => one.instanceId === instanceId && one.unit === index);
    const number = stood ? found?.number : givenTo(after, instanceId, index);
    if (number === undefined) return [];
    const isUnder = (one: StandingUnit): boolean => one.number === number;
    const orders = stood ? [...(standings?.values() ?? [])].filter((one) => one !== standing) : [];
    const others = orders.flatMap((one) => ("lost" in one ? [] : one.units.filter(isUnder)));
    return [{ own: standing.units.filter(isUnder), others, number, products }];
  });
}

function givenTo({ assets }: Amendment["after"], instanceId: string, unit: number): string | undefined {
  const asset = assets.find(({ id }) => id === instanceId);
  return asset === undefined ? undefined : givenToNew(asset)[newUnitsOf(asset).indexOf(unit)];
}

export function amendedNumbers(
  { meant }: Pick<OrderStage, "meant">,
  { standings }: Pick<LoadedCustomer, "standings">,
): string[] {
  const amended = meant.filter(isAmendment).flatMap((one) => boughtUnder(one, standings).map(({ number }) => number));
  return [...amended, ...meant.flatMap(renewedNumbers)];
}

function renewedNumbers({ after }: OrderStage["meant"][number]): string[] {
  return after.assets.flatMap(({ renewed = [] }) => renewed.map(({ number }) => number));
}

/** The contract does not describe purchases for lent or disabled assets. */
function notRenewable(one: OrderStage["meant"][number], given: Given): Block | undefined {
  for (const number of renewedNumbers(one)) {
    const reading = given.observed.contents?.get(number);
    const block = notUsable(number, reading, given) ?? (reading && boughtTwice(one, number, reading, given));
    if (block !== undefined) return block;
  }
  return undefined;
}

function notUsable(number: string, reading: AssetReading | undefined, given: Given): Block | undefined {
  const stopped = (code: string, reason: string): Block => ({ code, reason, again: true });
  const continued = `the order continues the asset number ${number}`;
  if (reading === undefined)
    return stopped("order.earlier-not-shown", `${continued}, but neither M6 nor E8 shows that number`);
  if (reading.bare) {
    const reason =
      `${continued}, but M7 shows that number without any product or package. ` +
      "Ask the provider of the member-center whether such assets are empty (assumptions.emptyAssets)";
    return stopped("order.earlier-not-shown", reason);
  }
  if (reading.asset.borrowed) {
    const reason =
      `${continued}, which is lent. The contract does not say whether crm-sync ` +
      "may buy something for a lent asset, so have it returned on the platform first";
    return stopped("asset.lent", reason);
  }
  const by = disabledBy(given, number);
  if (by === undefined) return undefined;
  const reason =
    `the order continues the lock ${number}, which is or will be disabled (by ${by}). The contract does not say ` +
    "whether crm-sync may buy something for a disabled lock, so have it enabled first";
  return stopped("order.earlier-locked", reason);
}

/** A renewal may use the product ids of the earlier order. So only rows of unknown purchases count. */
function boughtTwice(
  { payload }: OrderStage["meant"][number],
  number: string,
  { products }: AssetReading,
  { standings, known }: Given,
): Block | undefined {
  const standing = [...(standings?.values() ?? [])].flatMap((one) => ("lost" in one ? [] : one.units));
  const purchases = new Set([
    ...standing.flatMap((unit) => unit.products.map(({ channelOrderId }) => channelOrderId)),
    ...[...known.placedOrders.values()].map(({ channelOrderId }) => channelOrderId),
  ]);
  const assets = payload.orderList.flatMap((record) =>
    record.assets.filter((asset) => asset.assetNos.includes(number)),
  );
  const bought = new Set(assets.flatMap((asset) => asset.products.map((product) => product.crmProductId)));
  const there = products.find((row) => bought.has(row.crmProductId ?? "") && !purchases.has(row.channelOrderId ?? ""));
  return there === undefined ? undefined : isThereAlready(there.crmProductId ?? "", number);
}

function isThereAlready(product: string, number: string): Block {
  const reason =
    `M7 already shows the product ${product} under the asset number ${number}, and more often than this ledger ` +
    "bought it. crm-sync does not buy it a second time";
  return { code: "order.there-already", reason, again: true };
}

/** Drops purchases that M7 already shows under the number: a person may have made them, and nothing is bought twice. */
export function withoutThereAlready(stage: OrderStage, given: Given): OrderStage {
  const checked = stage.meant.map((one) => {
    const amended = isAmendment(one) ? boughtUnder(one, given.standings) : [];
    return { one, block: notRenewable(one, given) ?? thereAlready(amended, given.observed.contents) };
  });
  const blocks = checked.flatMap(({ one, block }) =>
    block === undefined ? [] : one.records.map((record): BlockedRecord => [formatKey(record), block]),
  );
  const meant = checked.flatMap(({ one, block }) => (block === undefined ? [one] : []));
  return { ...stage, meant, blocks: [...stage.blocks, ...blocks] };
}

function thereAlready(
  bought: readonly BoughtUnder[],
  contents: CustomerInput["observed"]["contents"],
): Block | undefined {
  for (const { own, others, number, products } of bought) {
    const elsewhere = new Set(others.flatMap((one) => one.products.map(({ channelOrderId }) => channelOrderId)));
    const rows = (contents?.get(number)?.products ?? []).filter((row) => !elsewhere.has(row.channelOrderId ?? ""));
    const more = products.find((id) => {
      const stands = own.flatMap((unit) => unit.products.filter((item) => item.product.id === id));
      return rows.filter((row) => row.crmProductId === id).length > stands.length;
    });
    if (more !== undefined) return isThereAlready(more, number);
  }
  return undefined;
}
