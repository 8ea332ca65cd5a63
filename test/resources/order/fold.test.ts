import { describe, expect, it } from "vitest";
import type { DesiredOrder } from "../../../src/engine/model/desired.ts";
import { foldOrder, standingOf, type StandingParts } from "../../../src/resources/order/fold.ts";
import type { OrderStep } from "../../../src/resources/order/state/changes.ts";
import { customerKey, fixed, order, placed } from "../../engine/situation.ts";
import { asset, product } from "../../support/world/instances.ts";
import { key } from "../../support/world/records.ts";

const first = order("1", {
  instances: [
    asset("a", { quantity: 2 }),
    product("p", "a"),
    asset("c", { licenseType: "cloud_account" }),
    product("q", "c"),
  ],
});
const [anchor = unreachable()] = [...placed(first).values()];
const licenceOrder = (licenseType: string, licenseOrderId: string) => ({
  sequence: 1,
  licenseType,
  platformCustomerId: "C",
  licenseOrderId,
});
const parts: StandingParts = {
  forms: new Map<number, DesiredOrder>([[1, first.body]]),
  numbers: [...fixed("1", "a", "N1", "N2"), ...fixed("2", "a", "X1")],
  licenceOrders: [licenceOrder("softkey", "L1")],
  steps: [],
};
const step = { order: key("1"), customer: customerKey, origin: "sent" as const };

function unreachable(): never {
  throw new Error("nothing is placed");
}

function standing(more: Partial<StandingParts> = {}): string[] {
  const made = standingOf(anchor, { ...parts, ...more });
  if ("lost" in made) return [`lost: ${made.lost}`];
  return made.units.map(({ instanceId, unit, number, products }) =>
    [
      `${instanceId}${unit}`,
      number ?? "no number",
      ...products.map((item) => `${item.product.id}@${item.channelOrderId}/${item.licenseOrderId ?? "unknown"}`),
    ].join(" "),
  );
}

describe("what stands of an order", () => {
  it("is what was placed, unit by unit, where nothing happened since", () => {
    expect(standing()).toEqual(["a0 N1 p@1/L1", "a1 N2 p@1/L1", "c0 no number q@1/unknown"]);
  });

  it("names no licence order where a purchase made two of one type: nobody knows which is whose", () => {
    const licenceOrders = [licenceOrder("softkey", "L1"), licenceOrder("softkey", "L2")];
    expect(standing({ licenceOrders }).slice(0, 1)).toEqual(["a0 N1 p@1/unknown"]);
  });

  it("is what each step made of it, old and new side by side until one of them goes", () => {
    const item = { instanceId: "a", unit: 1, number: "N2" };
    const bought: OrderStep = {
      ...step,
      number: 4,
      kind: "bought",
      channelOrderId: "1-1",
      version: 1,
      items: [{ ...item, products: ["p"], packages: [] }],
      licenceOrders: [licenceOrder("softkey", "L9")],
    };
    expect(standing({ steps: [bought] })[1]).toBe("a1 N2 p@1/L1 p@1-1/L9");
    const gone = { ...item, product: "p", channelOrderId: "1", licenseOrderId: "L1" };
    const removed: OrderStep = { ...step, number: 7, kind: "removed", items: [gone] };
    expect(standing({ steps: [bought, removed] })[1]).toBe("a1 N2 p@1-1/L9");
    const whole: OrderStep = {
      ...step,
      number: 8,
      kind: "removed",
      items: [{ ...gone, product: null, channelOrderId: null }],
    };
    expect(standing({ steps: [bought, removed, whole] })).toEqual(["a0 N1 p@1/L1", "c0 no number q@1/unknown"]);
  });

  it("is apart for each customer that it was placed for", () => {
    const other = key("NEXT");
    const bought: OrderStep = {
      ...step,
      customer: other,
      number: 1,
      kind: "bought",
      channelOrderId: "1-1",
      version: 1,
      items: [{ instanceId: "a", unit: 5, number: "N9", products: ["p"], packages: [] }],
      licenceOrders: [],
    };
    expect(standing({ steps: [bought], customer: other })).toEqual(["a5 N9 p@1-1/unknown"]);
    expect(standing({ steps: [bought] })).toHaveLength(3);
  });

  it("is not known where the form that it was made from is not kept any more", () => {
    expect(standing({ forms: new Map() })).toEqual(["lost: form 1 of the order crm/1 is not kept any more"]);
  });
});

describe("what the steps of an order did", () => {
  const placing = { customer: customerKey, channelOrderId: "1", version: 1, licenceOrders: [] };
  const of = { instanceId: "a", unit: 1, number: "N2" };
  const gone = { ...of, product: "p", channelOrderId: "1", licenseOrderId: null };
  const euros = (minor: number) => ({ currency: "EUR", minor });
  const removed: OrderStep = { ...step, number: 2, kind: "removed", items: [gone] };
  const found: OrderStep = {
    ...step,
    number: 3,
    kind: "bought",
    origin: "found",
    channelOrderId: "1",
    version: 1,
    items: [{ ...of, products: ["p"], packages: [] }],
    licenceOrders: [],
  };
  const priced: OrderStep = {
    ...step,
    number: 4,
    kind: "priced",
    version: 1,
    items: [
      { product: "p", from: null, to: euros(5) },
      { product: null, from: null, to: euros(9) },
    ],
  };

  function changes(forms = parts.forms, steps = [removed, found, priced]): string[][] {
    const fold = foldOrder({ order: key("1"), placing, forms, steps, numberOf: () => undefined });
    return fold.changes.map(({ amount, lines }) => [
      String(amount?.minor),
      ...lines.map(({ unit, units, product, previous }) => {
        const price = [previous, product].map((one) => one?.product.amount?.minor ?? "-").join("→");
        return `${units} ${product.product.id} ${unit.instanceId}${unit.unit} ${unit.number ?? "?"} ${price}`;
      }),
    ]);
  }

  it("is told product by product, under the number of the unit that any step names", () => {
    expect(changes()).toEqual([
      ["12300", "1 p a0 ? -→-", "1 p a1 N2 -→-", "1 q c0 ? -→-"],
      ["12300", "-1 p a1 N2 -→-"],
      ["12300", "1 p a1 N2 -→-"],
      ["9", "0 p a0 ? -→5", "0 p a1 N2 -→5"],
    ]);
  });

  it("costs nothing any more once nothing stands", () => {
    const whole = { ...gone, product: null, channelOrderId: null };
    const all = [0, 1].map((unit) => ({ ...whole, unit })).concat({ ...whole, instanceId: "c", unit: 0 });
    const ended: OrderStep = { ...step, number: 5, kind: "removed", items: all };
    expect(changes(parts.forms, [priced, ended]).map(([amount]) => amount)).toEqual(["12300", "9", "undefined"]);
  });

  it("has no lines where the form that was bought is not kept any more", () => {
    expect(changes(new Map())).toEqual([["undefined"], ["undefined"], ["undefined"], ["undefined"]]);
  });
});
