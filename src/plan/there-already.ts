import { formatKey } from "../crm/keys.ts";
import type { MeantOperation } from "../operation/operation.ts";
import type { StandingUnit } from "../operation/order-standing.ts";
import type { Block } from "./block.ts";
import type { CustomerInput, LoadedCustomer } from "./input.ts";
import type { OrderStage } from "./orders.ts";

type Amendment = MeantOperation<"amend-order">;

/** What is bought under the number of a unit that stands, or of a new one whose number the CRM gives. */
interface BoughtUnder {
  unit: StandingUnit | undefined;
  number: string;
  products: readonly string[];
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
    return [{ unit: standing.units.find((one) => one.number === number), number, products }];
  });
}

/** The number that the CRM gives to a new unit. */
function givenTo({ assets }: Amendment["after"], instanceId: string, unit: number): string | undefined {
  const asset = assets.find(({ id }) => id === instanceId);
  return asset?.given[asset.units?.indexOf(unit) ?? unit];
}

/** Numbers under which something more is to be bought: M7 says whether it is there already. */
export function amendedNumbers({ meant }: OrderStage, { standings }: Pick<LoadedCustomer, "standings">): string[] {
  return meant.filter(isAmendment).flatMap((one) => boughtUnder(one, standings).map(({ number }) => number));
}

/**
 * Leaves out a purchase of which M7 shows something under its number that this ledger did not buy: a person may have
 * done it by hand, and nothing is bought a second time.
 */
export function withoutThereAlready(
  stage: OrderStage,
  { observed, standings }: Pick<CustomerInput, "observed" | "standings">,
): OrderStage {
  const blocks = [...stage.blocks];
  const meant = stage.meant.filter((one) => {
    const block = isAmendment(one) ? thereAlready(boughtUnder(one, standings), observed.contents) : undefined;
    if (block === undefined) return true;
    blocks.push(...one.records.map((record) => [formatKey(record), block] as const));
    return false;
  });
  return { ...stage, meant, blocks };
}

function thereAlready(
  bought: readonly BoughtUnder[],
  contents: CustomerInput["observed"]["contents"],
): Block | undefined {
  for (const { unit, number, products } of bought) {
    const rows = contents?.get(number)?.products ?? [];
    const more = products.find((id) => {
      const stands = (unit?.products ?? []).filter((item) => item.product.id === id);
      return rows.filter((row) => row.crmProductId === id).length > stands.length;
    });
    if (more === undefined) continue;
    const reason =
      `M7 shows the product ${more} under the asset number ${number} already, and more often than this ledger bought ` +
      "it: it is not bought a second time";
    return { code: "order.there-already", reason, again: true };
  }
  return undefined;
}
