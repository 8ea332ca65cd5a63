import { expect, it } from "vitest";
import { productInstanceSchema, type ProductInstance } from "../../../src/contract/asset-contents.ts";
import { withTree } from "../../../src/engine/model/desired.ts";
import { standingOf } from "../../../src/resources/order/fold.ts";
import { planOrders } from "../../../src/resources/order/plan.ts";
import { planInputOf } from "../../../src/engine/plan/input.ts";
import { planRemovals } from "../../../src/resources/order/removals.ts";
import type { AssetReading } from "../../../src/platform/snapshot.ts";
import { asset, product } from "../../support/world/instances.ts";
import { key, shownAsset } from "../../support/world/records.ts";
import { standardPolicies, standardRules } from "../../support/world/rules.ts";
import {
  customer,
  customerKey,
  fixed,
  linked,
  order,
  placed,
  settingsWith,
  situation,
  type OrderFields,
} from "../../engine/situation.ts";

const owner = key("BERGS");
const bought = [asset("i"), product("p", "i", { nodes: 3 }), asset("j"), product("q", "j", { nodes: 5 })];
const limits = { limitStartTime: 0, limitEndTime: null };

function row(crmProductId: string, licenseOrderId: string | null): ProductInstance {
  const fields = { licenseType: "softkey", channelOrderId: "1", limitConcurrent: crmProductId === "q" ? 5 : 3 };
  const named = { id: `row-${crmProductId}`, productUri: `pid-${crmProductId}`, crmProductId, licenseOrderId };
  return productInstanceSchema.parse({ ...fields, ...limits, ...named });
}

function reading(number: string, ...products: ProductInstance[]): [string, AssetReading] {
  return [number, { asset: shownAsset(number), products, packages: [], bare: false }];
}

/** What is planned for the customer that an order of two assets left, as the CRM has the order now. */
function departures(now: OrderFields = {}) {
  const first = order("1", { instances: bought });
  const [anchor] = [...placed(first).values()];
  if (anchor === undefined) throw new Error("nothing is placed");
  const numbers = [...fixed("1", "i", "N1"), ...fixed("1", "j", "N2")];
  const parts = { forms: new Map([[1, first.body]]), numbers, licenceOrders: [], steps: [] };
  const standing = standingOf({ ...anchor, customer: customerKey }, parts);
  const moved = withTree(order("1", { instances: bought, ...now }, { version: 2 }));
  const settings = settingsWith({ timeCodecs: { readLimit: "epoch_ms" } });
  const orders = { ...standardPolicies.orders, moved: "apply" as const, cancelled: "apply" as const };
  const options = { settings, ...standardRules, policies: { ...standardPolicies, orders }, buys: false };
  const own = situation({
    known: linked(undefined, { placedOrders: new Map([["crm/1", anchor]]), numbers }),
    observed: { contents: new Map([reading("N1", row("p", "L1")), reading("N2", row("q", "L1"))]) },
  });
  const away = [
    {
      order: moved,
      owner,
      standing,
      unclear: undefined,
      theirs: { known: own.known, standings: new Map() },
      noEnterprise: undefined,
      buyer: customer({ channelCustomerId: customerKey.id }),
      taken: [],
    },
  ];
  const prepared = planInputOf({ ...own, away }, settings);
  const stage = planOrders(prepared, options);
  const { meant, blocks } = planRemovals(prepared, stage.endings, options);
  return { meant, codes: [...stage.blocks, ...blocks].map(([name, { code }]) => `${name} ${code}`) };
}

it("what an order left goes by one call, as M7 shows it", () => {
  const { meant, codes } = departures();
  expect([meant.map(({ kind }) => kind), codes]).toEqual([["delete-assets"], []]);
});

it("nothing goes for an order that names no asset any more, unless nobody wants it", () => {
  const noAsset = { instances: [product("p", "i")] };
  expect(departures(noAsset)).toEqual({ meant: [], codes: ["crm/1 order.move-stopped"] });
  const { meant } = departures({ ...noAsset, cancelled: true });
  expect(meant.map(({ policy }) => policy)).toEqual(["orders.cancelled"]);
});
