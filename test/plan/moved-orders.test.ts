import { expect, it } from "vitest";
import { productInstanceSchema } from "../../src/contract/asset-contents.ts";
import type { ProductInstance } from "../../src/contract/asset-contents.ts";
import type { Instance } from "../../src/crm/model.ts";
import { withTree } from "../../src/operation/desired.ts";
import { standingOf } from "../../src/operation/order-standing.ts";
import type { AwayOrder, CustomerInput } from "../../src/plan/input.ts";
import { takenBack } from "../../src/plan/moved-orders.ts";
import { planOrders } from "../../src/plan/orders.ts";
import { prepare } from "../../src/plan/prepared.ts";
import { planRemovals } from "../../src/plan/removals.ts";
import type { AssetReading } from "../../src/platform/snapshot.ts";
import { asset, bundle, product } from "../support/world/instances.ts";
import { key, shownAsset } from "../support/world/records.ts";
import { standardPolicies, standardRules } from "../support/world/rules.ts";
import { customerKey, fixed, linked, order, placed, settingsWith, situation } from "./situation.ts";
import type { OrderFields, Situation } from "./situation.ts";

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

interface Case {
  was?: Instance[];
  contents?: [string, AssetReading][];
  /** What the CRM says of the order now, which stands with two assets for a customer that it left. */
  now?: OrderFields;
  replacement?: "overlap" | "gap";
  standsThere?: boolean;
  observed?: Situation["observed"];
  licenceOrder?: string | null;
}

/** What is planned where the order was, once it stands for the customer that it moved to. */
function departures(given: Case = {}) {
  const { was = bought, replacement = "gap", standsThere = false, licenceOrder = "L1" } = given;
  const first = order("1", { instances: was });
  const [anchor] = [...placed(first).values()];
  if (anchor === undefined) throw new Error("nothing is placed");
  const numbers = [...fixed("1", "i", "N1"), ...fixed("1", "j", "N2")];
  const parts = { forms: new Map([[1, first.body]]), numbers, licenceOrders: [], steps: [] };
  const standing = standingOf({ ...anchor, customer: customerKey }, parts);
  const moved = withTree(order("1", { instances: was, ...given.now }, { version: 2 }));
  const away: AwayOrder = { order: moved, owner, standing, standsThere };
  const settings = settingsWith({ timeCodecs: { readLimit: "epoch_ms" } });
  const orders = { ...standardPolicies.orders, moved: "apply" as const, cancelled: "apply" as const };
  const policies = { ...standardPolicies, orders, replacement };
  const { contents = [reading("N1", row("p", "L1")), reading("N2", row("q", licenceOrder))] } = given;
  const own: CustomerInput = {
    ...situation({
      known: linked(undefined, { placedOrders: new Map([["crm/1", { ...anchor, customer: owner }]]), numbers }),
      observed: { contents: new Map(contents), ...given.observed },
    }),
    away: [away],
  };
  const options = { settings, ...standardRules, policies, buys: false };
  const prepared = prepare(own, settings);
  const stage = planOrders(prepared, options);
  const { meant, blocks } = planRemovals(prepared, stage.endings, options);
  return { meant, codes: [...stage.blocks, ...blocks].map(([name, { code }]) => `${name} ${code}`) };
}

it("what an order left goes by one call, as M7 shows it", () => {
  const { meant, codes } = departures();
  expect([meant.map(({ kind }) => kind), codes]).toEqual([["delete-assets"], []]);
});

it("with a gap each of several calls that take an order away needs the others", () => {
  const { meant } = departures({ licenceOrder: null, observed: { allContents: true } });
  expect(meant.map(({ kind, needs }) => [kind, needs])).toEqual(
    ["delete-everywhere", "delete-assets"].map((kind) => [kind, [{ stage: "removals", subject: "order:crm/1" }]]),
  );
});

it("with a gap nothing goes of an order where something of it cannot be named to the platform", () => {
  const given = { licenceOrder: null, observed: { allContents: false } };
  const { meant, codes } = departures(given);
  expect([meant, codes]).toEqual([[], ["crm/1 order.contents-not-read"]]);
  expect(departures({ ...given, replacement: "overlap", standsThere: true }).meant).toHaveLength(1);
});

it("with a gap what is in packages and what is in none of an asset that stays goes by one call", () => {
  const was = [asset("i"), product("p", "i", { nodes: 3 }), bundle("k", "i"), product("s", "k", { nodes: 3 })];
  const contents = [reading("N1", row("p", "L1"), row("s", "L1"), row("z", "L9"))];
  const kinds = (replacement: "overlap" | "gap") =>
    departures({ was, contents, replacement, standsThere: true }).meant.map(({ kind }) => kind);
  expect(kinds("gap")).toEqual(["delete-package-products"]);
  expect(kinds("overlap")).toEqual(["delete-products", "delete-package-products"]);
});

/** A record that names no asset: its only product stands in one that is not there. */
const noAsset = { instances: [product("p", "i")] };

it.each(["overlap", "gap"] as const)("nothing goes for an order that names no asset any more (%s)", (replacement) => {
  const { meant, codes } = departures({ now: noAsset, replacement });
  expect([meant, codes]).toEqual([[], ["crm/1 order.moving"]]);
  const gone = departures({ now: { ...noAsset, cancelled: true }, replacement });
  expect(
    gone.meant.map(({ policy }) => policy),
    "nobody wants it any more",
  ).toEqual(["orders.cancelled"]);
});

it("an order that was given over and names no asset any more is taken back", () => {
  const now = order("1", noAsset, { version: 2 });
  const [anchor] = [...placed(order("1", { instances: bought })).values()];
  if (anchor === undefined) throw new Error("nothing is placed");
  const given: CustomerInput = {
    ...situation({ orders: [now], known: linked(undefined, { placedOrders: new Map([["crm/1", anchor]]) }) }),
    standings: new Map([
      [
        "crm/1",
        {
          order: now.key,
          customer: customerKey,
          lastStep: 0,
          units: [],
          amount: undefined,
          ended: [],
          channelOrderId: "1",
        },
      ],
    ]),
    left: new Map([["crm/1", [{ customer: owner, numbers: ["N1"], taken: [] }]]]),
  };
  expect(takenBack(given)).toEqual([{ type: "order-moved", order: now.key, from: customerKey, customer: owner }]);
});
