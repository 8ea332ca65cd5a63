import type { ProductInstance } from "../contract/asset-contents.ts";
import { formatKey } from "../crm/keys.ts";
import type { Package, RecordKey } from "../crm/model.ts";
import type { Block } from "./block.ts";
import type { Desired, DesiredOrder, OrderWithTree } from "../operation/desired.ts";

/** What M7 tells forms of a product apart by. */
export type ShownForm = {
  [
    Field in
      | "productUri"
      | "gmsPid"
      | "appKey"
      | "limitConcurrent"
      | "limitStartTime"
      | "limitEndTime"
      | "trial"
      | "timeDurationExpression"
  ]: Exclude<ProductInstance[Field], undefined>;
};

/** What an enterprise that somebody else made shows under one channel order number. */
export interface ShownOrder {
  /** Licence types by licence order number. */
  licenceOrders: ReadonlyMap<string, string>;
  /** The asset numbers under which each CRM product is shown. */
  products: ReadonlyMap<string, readonly string[]>;
  /** The different forms in which each CRM product is shown. */
  forms: ReadonlyMap<string, readonly ShownForm[]>;
}

/** Products that a message names. */
const mostNamed = 5;

/**
 * The products of an order that the platform does not show under its channel order number, each in words; [] where it
 * shows all of them: every product of the tree, packages included, under as many asset numbers as its asset counts.
 */
export function notShown(order: OrderWithTree, shown: ShownOrder): string[] {
  const { assets, faults } = order.tree;
  const [fault] = faults;
  if (fault !== undefined) return [`its lines cannot be compared: ${fault.message}`];
  const missing = assets.flatMap((asset) => {
    const products = [...asset.products, ...asset.packages.flatMap(productsIn)];
    return products.flatMap(({ id }) => {
      const times = new Set(shown.products.get(id)).size;
      if (times >= asset.quantity) return [];
      return [asset.quantity === 1 ? id : `${id} (under ${times} of ${asset.quantity} asset numbers)`];
    });
  });
  const some = assets.some((asset) => asset.products.length + asset.packages.length > 0);
  return some ? missing : ["it has no product that could be compared"];
}

function productsIn<Passwords>(item: Package<Passwords>): Package<Passwords>["products"] {
  return [...item.products, ...item.children.flatMap(productsIn)];
}

/** Why an order waits that the platform shows in part: it is neither placed nor not placed. */
export function shownInPart(order: Desired<DesiredOrder>, channelOrderId: string, missing: readonly string[]): Block {
  const named = missing.slice(0, mostNamed).join(", ");
  const more = missing.length > mostNamed ? ` and ${missing.length - mostNamed} more` : "";
  return {
    code: "order.shown-in-part",
    reason:
      `the platform shows only a part of the order ${formatKey(order.key)} under the channel order ` +
      `number ${channelOrderId}, in an enterprise that somebody else made; it does not show ` +
      `${named}${more}. It is not placed again: a person completes it on the platform or takes the ` +
      "part away there; the next run looks again",
    again: true,
  };
}

/** Why an order waits that the platform shows in another form than the CRM gives: what stands of it nobody knows. */
export function shownInOtherForm(
  order: Desired<DesiredOrder>,
  channelOrderId: string,
  otherwise: readonly string[],
): Block {
  const named = otherwise.slice(0, mostNamed).join("; ");
  const more = otherwise.length > mostNamed ? `; and ${otherwise.length - mostNamed} more` : "";
  return {
    code: "order.shown-otherwise",
    reason:
      `the platform shows the order ${formatKey(order.key)} under the channel order number ${channelOrderId} ` +
      `otherwise than the CRM has it now, and this ledger did not place it: ${named}${more}. It is neither placed ` +
      "nor amended: change the platform to agree with the CRM, or give the order in the CRM the form of " +
      "the platform, until it is adopted; the next run, or the next rebuild, looks again",
    again: true,
  };
}

/** Why an order waits that is shown with amendments which this ledger did not make. */
export function amendedElsewhere(
  order: Desired<DesiredOrder>,
  channelOrderId: string,
  amendments: readonly { channelOrderId: string }[],
): Block {
  const numbers = amendments.slice(0, mostNamed).map((item) => item.channelOrderId);
  return {
    code: "order.amended-elsewhere",
    reason:
      `the platform shows the order ${formatKey(order.key)} under the channel order numbers ` +
      `${numbers.join(", ")}. They are ` +
      `amendments of ${channelOrderId} that this ledger did not make. The order waits: ` +
      "`crm-sync rebuild` with a new, empty ledger reads the order and its amendments from the platform",
    again: true,
  };
}

/** Why an order waits that enterprises of other customers show. `otherwise`: how they show it otherwise. */
export function shownAtAnother(
  order: Desired<DesiredOrder>,
  places: readonly { customer: RecordKey }[],
  otherwise: readonly string[],
): Block {
  const where = places.map(({ customer }) => formatKey(customer)).join(", ");
  const named = otherwise.slice(0, mostNamed).join("; ");
  const more = otherwise.length > mostNamed ? `; and ${otherwise.length - mostNamed} more` : "";
  const why =
    otherwise.length === 0
      ? "This ledger does not know it as an order that moved: `crm-sync rebuild` into an empty ledger does"
      : `It is shown there otherwise than the CRM has it now: ${named}${more}. A person makes it there as the CRM ` +
        "says, or takes it away there; the next rebuild looks again";
  return {
    code: "order.shown-elsewhere",
    reason:
      `the platform shows the order ${formatKey(order.key)} under its channel order numbers in the enterprise of ` +
      `${where}, so it is placed already and moved in the CRM since. It is not placed a second time, whoever ` +
      `approves that. ${why}`,
    again: true,
  };
}

/** Why an order waits that a restored ledger had as placed, and of which nothing is shown any more. */
export function placedBefore(order: Desired<DesiredOrder>): Block {
  return {
    code: "order.placed-before-restore",
    reason:
      `the ledger was restored from a backup, which has the order ${formatKey(order.key)} as placed; the platform ` +
      "shows nothing of it now. It is not placed a second time: look on the platform what became of it; " +
      "`crm-sync resolve order` says that a person saw to it",
    again: true,
  };
}

/** Why an order waits that may be placed for another customer, who could not be looked at. */
export function maybeMoved(
  order: Desired<DesiredOrder>,
  { customer, why, count }: { customer: RecordKey; why: string; count: number },
): Block {
  const who = customer.namespace === "" ? "" : ` ${formatKey(customer)}`;
  const more = count > 1 ? ` (and ${count - 1} more)` : "";
  return {
    code: "order.maybe-moved",
    reason:
      `the platform has more than this ledger made, and not all of that could be looked at:${who} ${why}${more}. ` +
      `The order ${formatKey(order.key)} may be placed there already and have moved in the CRM since, so it is not ` +
      "placed, whoever approves that, until that was looked at",
    again: true,
  };
}

/** Why an order waits that is not shown, where not being shown proves nothing. */
export function maybeThere(
  order: Desired<DesiredOrder>,
  why: { bareAssets: readonly string[]; hiddenType: string | undefined; isMade: boolean },
): Block | undefined {
  const key = formatKey(order.key);
  const [bare] = why.bareAssets;
  if (bare !== undefined) {
    const { length } = why.bareAssets;
    const assets = length === 1 ? `the asset ${bare}` : `${length} assets (the first is ${bare})`;
    return {
      code: "order.assets-ambiguous",
      reason:
        `M7 shows ${assets} of this enterprise, which somebody else made, without any product or package, ` +
        `so the order ${key} may be there already. It is not placed: ask the operator of the member-center ` +
        "whether such assets are empty; if they are, set assumptions.emptyAssets: empty (A43)",
      again: true,
    };
  }
  if (why.hiddenType === undefined) return undefined;
  return {
    code: "order.not-observable",
    reason:
      `${why.isMade ? "the ledger was built anew" : "somebody else made this enterprise"}, and the platform is not ` +
      "known to show assets of the licence " +
      `type ${why.hiddenType}, so the order ${key} may be there already. It is not placed: look on the ` +
      "platform; where M6 or E8 do show the type, name it in assumptions.visibleLicenseTypes (A43)",
    again: true,
  };
}
