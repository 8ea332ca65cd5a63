import { describe, expect, it } from "vitest";
import type { OrderStanding, StandingProduct, StandingUnit } from "../../../src/resources/order/model.ts";
import { inOrderToStay, nameOf, namedNumbers, purchasesIn } from "../../../src/resources/order/units-that-stay.ts";
import { customerKey, order, staff } from "../../engine/situation.ts";
import { withTree } from "../../../src/engine/model/desired.ts";
import { asset, product } from "../../support/world/instances.ts";

/** Products as one purchase brought them: `1-1 p q`. */
function brought(...purchases: string[]): StandingProduct[] {
  return purchases.flatMap((text) => {
    const [channelOrderId = "", ...ids] = text.split(" ");
    const instances = [asset("a"), ...ids.map((id) => product(id, "a"))];
    const [tree] = withTree(order("1", { instances })).tree.assets;
    return (tree?.products ?? []).map((one): StandingProduct => {
      return { product: one, channelOrderId, licenseOrderId: undefined, packageId: undefined };
    });
  });
}

const [terms] = withTree(order("1", { instances: [asset("a"), product("p", "a")] })).tree.assets;

function unit(index: number, number: string | undefined, ...purchases: string[]): StandingUnit {
  if (terms === undefined) throw new Error("the order has an asset");
  const common = { instanceId: "a", customer: customerKey, licenseType: terms.licenseType, asset: terms };
  return { ...common, unit: index, number, products: brought(...purchases), packages: [] };
}

interface Case {
  given?: string[];
  named?: string[];
  held?: string[];
  /** Ids that the CRM wants; by default `p`. */
  wanted?: string[];
  /** What was bought in a unit and is gone, by number. */
  gone?: Record<string, string[]>;
}

/** The numbers of the units, first those that stay. */
function stay(units: StandingUnit[], { given, named, held, wanted = ["p"], gone = {} }: Case): (string | undefined)[] {
  const ended = units.flatMap((one) =>
    brought(...(gone[one.number ?? ""] ?? [])).map((standing) => ({ unit: one, standing, version: 1 })),
  );
  const standing: OrderStanding = {
    order: { namespace: "crm", id: "1" },
    customer: customerKey,
    channelOrderId: "1",
    lastStep: 1,
    amount: undefined,
    units,
    ended,
  };
  const purchases = purchasesIn(standing);
  const sorted = inOrderToStay(units, {
    given: new Set(given),
    named: new Set(named),
    held: new Set(held),
    contentsOf: ({ products }) => {
      const own = products.filter((one) => wanted.includes(one.product.id));
      return { wanted: own, lacking: wanted.length - own.length };
    },
    purchasesOf: (one) => purchases.get(nameOf(one)) ?? new Set(),
  });
  return sorted.map(({ number }) => number);
}

describe("of units that are too many", () => {
  const two = () => [unit(0, "N1", "1 p"), unit(1, "N2", "1 p")];

  it.each<[string, Case]>([
    ["the CRM gives to the asset", { given: ["N2"], named: ["N1"], held: ["N1"] }],
    ["the CRM names for a person", { named: ["N2"], held: ["N1"] }],
    ["somebody holds", { held: ["N2"] }],
  ])("the one whose number %s stays", (_, given) => {
    expect(stay(two(), given)).toEqual(["N2", "N1"]);
  });

  it("the lower one stays if nothing tells them apart", () => {
    expect(stay(two().toReversed(), {})).toEqual(["N1", "N2"]);
  });

  it("the one of unknown number stays if the CRM gives any, since it may have that number", () => {
    const units = [unit(0, "N1", "1 p"), unit(1, undefined, "1 p")];
    expect(stay(units, { given: ["N9"], held: ["N1"] })).toEqual([undefined, "N1"]);
    expect(stay(units, { held: ["N1"] })).toEqual(["N1", undefined]);
  });

  it("the one that lacks less stays, whoever holds which", () => {
    const units = [unit(0, "N1", "1 p"), unit(1, "N2", "1 p q")];
    expect(stay(units, { wanted: ["p", "q"], held: ["N1"] })).toEqual(["N2", "N1"]);
  });

  it("the one stays for which something was bought, also where another one lacks less", () => {
    const units = [unit(0, "N1", "1 o"), unit(1, "N2", "1-1 p")];
    const before = { N1: ["1 p q r"], N2: ["1 q r o p"] };
    const held = { held: ["N1"], gone: before };
    expect(stay(units, { ...held, wanted: ["p", "o"] })).toEqual(["N2", "N1"]);
  });

  it("the same if that purchase brought something else to the other unit", () => {
    const units = [unit(0, "N1", "1 q r", "1-1 s"), unit(1, "N2", "1-1 p")];
    const gone = { N1: ["1 p"], N2: ["1 p q r s"] };
    expect(stay(units, { wanted: ["p", "q", "r"], held: ["N1"], gone })).toEqual(["N2", "N1"]);
  });

  it("what was bought in an earlier unit of the same index was not bought in this one", () => {
    const now = unit(0, "N3", "1-2 p");
    const earlier = unit(0, "N1");
    const [standing] = brought("1-1 q");
    if (standing === undefined) throw new Error("something was bought");
    const order = { ...now, units: [now], ended: [{ unit: earlier, standing, version: 1 }] };
    const purchases = purchasesIn({
      order: customerKey,
      channelOrderId: "1",
      lastStep: 1,
      amount: undefined,
      ...order,
    });
    expect(purchases.get(nameOf(now))?.size).toBe(1);
    expect(purchases.get(nameOf(earlier))?.size).toBe(1);
  });
});

describe("the numbers that the CRM names for people", () => {
  it("are those of people whom it has, also if the record waits in quarantine", () => {
    const person = (name: string, number: string, state: "current" | "quarantined" | "absent") =>
      staff(name, { assets: [{ assetNumber: number }, { instanceId: "a" }] }, { state });
    const people = [person("ann", "N1", "current"), person("bob", "N2", "quarantined"), person("cid", "N3", "absent")];
    expect([...namedNumbers(people)]).toEqual(["N1", "N2"]);
  });
});
