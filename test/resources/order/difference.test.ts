import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { withTree, type Desired, type DesiredOrder } from "../../../src/engine/model/desired.ts";
import { standingOf } from "../../../src/resources/order/fold.ts";
import type { OrderStanding } from "../../../src/resources/order/model.ts";
import type { BoughtItem, RemovedItem } from "../../../src/resources/order/shapes.ts";
import type { OrderStep } from "../../../src/resources/order/state/changes.ts";
import {
  differenceOf,
  isEmpty,
  type EndedPart,
  type OrderDifference,
  type WantedOrder,
} from "../../../src/resources/order/difference.ts";
import { asset, bundle, product } from "../../support/world/instances.ts";
import type { Instance } from "../../../src/crm/model.ts";
import { customerKey, fixed, order, placed } from "../../engine/situation.ts";

const nothing: OrderDifference = {
  added: [],
  ended: [],
  emptied: [],
  replaced: [],
  superseded: [],
  assetChanged: [],
  wording: [],
  price: [],
};
const nobodyHolds: Parameters<typeof differenceOf>[2] = { held: new Set<string>() };

/** One order through its forms: what stood first, and the steps after it. */
class Life {
  readonly #forms = new Map<number, DesiredOrder>();
  readonly #steps: OrderStep[] = [];
  readonly #placed: Desired<DesiredOrder>;
  readonly #numbers;

  constructor(first: Desired<DesiredOrder>, numbers = fixed("1", "none")) {
    this.#placed = first;
    this.#numbers = numbers;
    this.#forms.set(first.version, first.body);
  }

  standing(): OrderStanding {
    const of = placed(this.#placed).get("crm/1");
    if (of === undefined) throw new Error("nothing is placed");
    const parts = { forms: this.#forms, numbers: this.#numbers, licenceOrders: [], steps: this.#steps };
    const standing = standingOf(of, parts);
    if ("lost" in standing) throw new Error(standing.lost);
    return standing;
  }

  difference(wanted: Desired<DesiredOrder>, facts = nobodyHolds): OrderDifference {
    return differenceOf(this.standing(), wantedOf(wanted), facts);
  }

  /** What an amendment of this difference buys, and what it says of prices. */
  buys({ added, replaced, assetChanged, price }: OrderDifference, from: Desired<DesiredOrder>): void {
    const bought = new Map<string, BoughtItem>();
    const of = (instanceId: string, unit: number, number: string | null): BoughtItem => {
      const item = bought.get(`${instanceId} ${unit}`) ?? { instanceId, unit, number, products: [], packages: [] };
      bought.set(`${instanceId} ${unit}`, item);
      return item;
    };
    for (const part of added) {
      const item = of(part.asset.id, part.unit, part.standing?.number ?? part.given ?? null);
      item.products.push(...part.products.map(({ id }) => id));
      item.packages.push(...part.packages.map(({ id }) => id));
    }
    for (const { unit, to } of replaced) {
      const item = of(unit.instanceId, unit.unit, unit.number ?? null);
      if ("product" in to) item.products.push(to.product.id);
      else item.packages.push(to.package.id);
    }
    for (const { asset: wanted, newUnit } of assetChanged) {
      const item = of(wanted.id, newUnit, null);
      item.products.push(...wanted.products.map(({ id }) => id));
      item.packages.push(...wanted.packages.map(({ id }) => id));
    }
    this.#forms.set(from.version, from.body);
    const [channelOrderId, version] = [`1-${this.#steps.length + 1}`, from.version];
    const items = [...bought.values()];
    this.#step({ kind: "bought", channelOrderId, version, items, licenceOrders: [] });
    const priced = price.map((item) => ({ ...item, from: item.from ?? null, to: item.to ?? null }));
    this.#step({ kind: "priced", version, items: priced });
  }

  ends(parts: readonly EndedPart[]): void {
    const items = parts.flatMap(({ unit, whole, products }): RemovedItem[] => {
      const { instanceId, unit: index, number = null } = unit;
      const of = { instanceId, unit: index, number, licenseOrderId: null };
      if (whole) return [{ ...of, product: null, channelOrderId: null }];
      return products.map((item) => ({ ...of, product: item.product.id, channelOrderId: item.channelOrderId }));
    });
    this.#step({ kind: "removed", items });
  }

  #step(step: StepOf): void {
    const common = { order: this.#placed.key, customer: customerKey, origin: "sent" as const };
    this.#steps.push({ number: this.#steps.length + 1, ...common, ...step });
  }
}

type StepOf = OrderStep extends infer Step
  ? Step extends OrderStep
    ? Omit<Step, "number" | "order" | "customer" | "origin">
    : never
  : never;

function wantedOf(form: Desired<DesiredOrder>): WantedOrder {
  return { assets: withTree(form).tree.assets, amount: form.body.amount };
}

const form = (version: number, ...instances: Instance[]) => order("1", { instances }, { version });

/** Orders of up to three assets with products and packages that differ in terms, names and amounts. */
const drawnForm = fc
  .array(
    fc.record({
      id: fc.constantFrom("a", "b", "c"),
      quantity: fc.integer({ min: 1, max: 3 }),
      given: fc.subarray(["N1", "N2", "N3"]),
      limitEnd: fc.constantFrom(undefined, "2027-01-01T00:00:00Z"),
      products: fc.uniqueArray(drawnProduct("p"), { selector: ({ id }) => id, minLength: 1, maxLength: 3 }),
      packages: fc.uniqueArray(
        fc.record({
          id: fc.constantFrom("k", "l"),
          products: fc.uniqueArray(drawnProduct("q"), { selector: ({ id }) => id, minLength: 1, maxLength: 2 }),
        }),
        { selector: ({ id }) => id, maxLength: 2 },
      ),
    }),
    { minLength: 1, maxLength: 5 },
  )
  .map((assets) => {
    const byId = new Map(assets.map((item) => [item.id, item]));
    return [...byId.values()].flatMap(({ id, quantity, given, limitEnd, products, packages }): Instance[] => {
      const assetNumbers = given.slice(0, quantity).map((number) => `${id}-${number}`);
      return [
        asset(id, { quantity, assetNumbers, limitEnd }),
        ...products.map((item) => product(`${id}${item.id}`, id, item.fields)),
        ...packages.flatMap((item) => [
          bundle(`${id}${item.id}`, id),
          ...item.products.map((one) => product(`${id}${item.id}${one.id}`, `${id}${item.id}`, one.fields)),
        ]),
      ];
    });
  });

function drawnProduct(letter: string) {
  return fc.record({
    id: fc.constantFrom(`${letter}1`, `${letter}2`, `${letter}3`),
    fields: fc.record({
      nodes: fc.integer({ min: 1, max: 2 }),
      name: fc.constantFrom("Estimating", "Estimation"),
      amount: fc.constantFrom(undefined, { currency: "EUR", minor: 100 }, { currency: "EUR", minor: 200 }),
    }),
  });
}

/** Everything that stands, as the CRM would say it, unit by unit: without names. */
function contentsOf({ units }: OrderStanding): string[] {
  return units
    .filter((unit) => unit.products.length > 0)
    .map((unit) => {
      const products = unit.products.map(
        (item) => `${item.product.id} ${item.product.nodes} ${item.product.amount?.minor} in ${item.packageId}`,
      );
      return `${unit.instanceId} ${unit.asset.limitEnd} ${products.toSorted().join()}`;
    })
    .toSorted();
}

/** Each product of each unit, with its terms. */
function productsIn({ units }: OrderStanding): Set<string> {
  return new Set(
    units.flatMap((unit) =>
      unit.products.map(({ product: { id, nodes } }) => `${unit.instanceId} ${unit.unit} ${id} ${nodes}`),
    ),
  );
}

describe("the difference between what stands of an order and what the CRM wants", () => {
  it("is nothing where they are equal, in whatever version the CRM says it", { tags: "long" }, () => {
    fc.assert(
      fc.property(drawnForm, (instances) => {
        expect(isEmpty(new Life(form(1, ...instances)).difference(form(2, ...instances)))).toBe(true);
      }),
      { numRuns: 200 },
    );
  });

  it(
    "carried out gives what the CRM wants, by way of what stood before and what is wanted side by side",
    { tags: "long" },
    () => {
      fc.assert(
        fc.property(fc.array(drawnForm, { minLength: 2, maxLength: 4 }), ([first = [], ...later]) => {
          const life = new Life(form(1, ...first));
          for (const [index, instances] of later.entries()) {
            const wanted = form(index + 2, ...instances);
            const before = life.standing();
            const difference = life.difference(wanted);
            life.buys(difference, wanted);
            const both = life.standing();
            expect(productsIn(before).isSubsetOf(productsIn(both))).toBe(true);
            const wantedContents = contentsOf(new Life(wanted).standing());
            life.ends([...difference.ended, ...life.difference(wanted).superseded]);
            expect(contentsOf(life.standing())).toEqual(wantedContents);
            expect(isEmpty({ ...life.difference(wanted), wording: [] })).toBe(true);
          }
        }),
        { numRuns: 200 },
      );
    },
  );

  it("takes the smallest free index for a unit more, and ends the highest that nobody holds", () => {
    const first = form(1, asset("a", { quantity: 3 }), product("p", "a"));
    const life = new Life(first, fixed("1", "a", "N1", "N2", "N3"));
    const two = form(2, asset("a", { quantity: 2 }), product("p", "a"));
    const held = life.difference(two, { held: new Set(["N3", "N1"]) });
    expect(held.ended.map(({ unit, whole }) => [unit.number, whole])).toEqual([["N2", true]]);
    life.ends(held.ended);
    const again = life.difference(form(3, asset("a", { quantity: 3 }), product("p", "a")));
    expect(again.added.map(({ unit, standing }) => [unit, standing])).toEqual([[1, undefined]]);
  });

  it.each<[string, Instance[]]>([
    ["other terms", [product("p", "a", { nodes: 5 })]],
    ["another product", [product("p", "a"), product("q", "a")]],
    ["a package", [product("p", "a"), bundle("k", "a"), product("q", "k")]],
  ])("keeps the unit in which it bought %s, whoever holds which unit since", (_, contents) => {
    const life = new Life(form(1, asset("a", { quantity: 2 }), product("p", "a")), fixed("1", "a", "N1", "N2"));
    const one = form(2, asset("a"), ...contents);
    const first = life.difference(one, { held: new Set(["N1", "N2"]) });
    expect(first.ended.map(({ unit }) => unit.number)).toEqual(["N2"]);
    life.buys(first, one);
    const { ended, superseded, ...bought } = life.difference(one, { held: new Set(["N2"]) });
    expect(ended.map(({ unit }) => unit.number)).toEqual(["N2"]);
    expect(superseded.every(({ unit }) => unit.number === "N1")).toBe(true);
    expect(isEmpty({ ...bought, ended: [], superseded: [] })).toBe(true);
    // More is wanted since: it goes where less of it is missing.
    const more = form(3, asset("a"), ...contents, product("r", "a"));
    const { added, replaced } = life.difference(more, { held: new Set(["N2"]) });
    expect(replaced).toEqual([]);
    expect(added.map(({ standing, products }) => [standing?.number, products.map(({ id }) => id)])).toEqual([
      ["N1", ["r"]],
    ]);
  });

  it("keeps the unit into which it bought something, whatever else the CRM wants back since", () => {
    const three = [product("q", "a"), product("r", "a")];
    const life = new Life(
      form(1, asset("a", { quantity: 2 }), product("p", "a"), ...three),
      fixed("1", "a", "N1", "N2"),
    );
    const held = { held: new Set(["N1"]) };
    const one = form(2, asset("a"), product("p", "a", { nodes: 5 }));
    const first = life.difference(one, held);
    expect(first.ended.map(({ unit, whole }) => [unit.number, whole])).toEqual([
      ["N1", false],
      ["N2", true],
    ]);
    life.buys(first, one);
    life.ends([...first.ended.filter(({ unit }) => unit.number === "N1"), ...life.difference(one, held).superseded]);
    const back = life.difference(form(3, asset("a"), product("p", "a", { nodes: 5 }), ...three), held);
    expect(back.replaced).toEqual([]);
    expect(back.added.map(({ standing, products }) => [standing?.number, products.map(({ id }) => id)])).toEqual([
      ["N1", ["q", "r"]],
    ]);
    expect(back.ended.map(({ unit }) => unit.number)).toEqual(["N2"]);
  });

  it("keeps the unit that somebody holds while all of them are wanted with other terms, whatever is in them", () => {
    const life = new Life(
      form(1, asset("a", { quantity: 2 }), product("p", "a"), product("q", "a")),
      fixed("1", "a", "N1", "N2"),
    );
    const standing = life.difference(form(2, asset("a", { quantity: 2 }), product("p", "a")));
    life.ends(standing.ended.filter(({ unit }) => unit.number === "N2"));
    const other = form(3, asset("a", { borrowedUsbKey: true }), product("p", "a"), product("q", "a"));
    const { assetChanged, ended } = life.difference(other, { held: new Set(["N2"]) });
    expect([assetChanged, ended].map((parts) => parts.map(({ unit }) => unit.number))).toEqual([["N2"], ["N1"]]);
  });

  it("keeps the unit that is whole already", () => {
    const two = [asset("a", { quantity: 2 }), product("p", "a", { nodes: 3 })];
    const held = { held: new Set(["N1"]) };
    const life = new Life(form(1, ...two), fixed("1", "a", "N1", "N2"));
    const other = form(2, asset("a"), product("p", "a", { nodes: 9 }));
    life.buys(life.difference(other, held), other);
    life.ends(life.difference(other, held).superseded);
    const { ended, ...back } = life.difference(form(3, asset("a"), product("p", "a", { nodes: 3 })), held);
    expect(ended.map(({ unit, whole }) => [unit.number, whole])).toEqual([["N1", true]]);
    expect(isEmpty({ ...back, ended: [] })).toBe(true);
  });

  it("keeps the unit whose number the CRM names for a person, whatever must be bought in it", () => {
    const life = new Life(form(1, asset("a", { quantity: 2 }), product("p", "a")), fixed("1", "a", "N1", "N2"));
    const one = form(2, asset("a"), product("p", "a", { nodes: 9 }));
    const facts = { held: new Set(["N1", "N2"]), named: new Set(["N2"]) };
    const { ended, replaced } = life.difference(one, facts);
    expect([ended, replaced].map((parts) => parts.map(({ unit }) => unit.number))).toEqual([["N1"], ["N2"]]);
  });

  it("takes a number that the CRM exchanged for one unit less and one more", () => {
    const given = (...assetNumbers: string[]) => [asset("a", { quantity: 2, assetNumbers }), product("p", "a")];
    const life = new Life(form(1, ...given("N1", "N2")), fixed("1", "a", "N1", "N2"));
    const difference = life.difference(form(2, ...given("N1", "N9")));
    expect(difference.ended.map(({ unit }) => unit.number)).toEqual(["N2"]);
    expect(difference.added.map(({ unit, given: number }) => [unit, number])).toEqual([[2, "N9"]]);
    expect(isEmpty(life.difference(form(2, ...given())))).toBe(true);
    expect(isEmpty(life.difference(form(2, ...given("N2"))))).toBe(true);
  });

  it("ends an exchanged number only beside the unit that was bought for it, and no other asset's", () => {
    const given = (...assetNumbers: string[]) => [asset("a", { quantity: 2, assetNumbers }), product("p", "a")];
    const life = new Life(form(1, ...given("N1", "N2")), fixed("1", "a", "N1", "N2"));
    const next = form(2, ...given("N1", "N9"));
    life.buys(life.difference(next), next);
    const ended = (now: Desired<DesiredOrder>) =>
      life.difference(now).ended.map(({ unit, by }) => [unit.number, by?.unit.number]);
    expect(ended(next)).toEqual([["N2", "N9"]]);
    const fewer = form(3, asset("a", { quantity: 1, assetNumbers: ["N1"] }), product("p", "a"));
    expect(ended(fewer)).toEqual([
      ["N2", undefined],
      ["N9", undefined],
    ]);
  });

  it("keeps an asset that is wanted otherwise under a given number until that one stands", () => {
    const life = new Life(form(1, asset("a", { assetNumbers: ["N1"] }), product("p", "a")), fixed("1", "a", "N1"));
    const terms = { assetNumbers: ["N9"], limitEnd: "2029-01-01T00:00:00Z" };
    const next = form(2, asset("a", terms), product("p", "a"));
    const difference = life.difference(next);
    expect(difference).toMatchObject({ ended: [], superseded: [], assetChanged: [], added: [{ given: "N9" }] });
    life.buys(difference, next);
    expect(life.difference(next).superseded.map(({ unit, by }) => [unit.number, by.unit.number])).toEqual([
      ["N1", "N9"],
    ]);
  });

  it("takes licence passwords by what they are, and a product with others for another one", () => {
    const withPasswords = (version: number, password: string, minor: number) =>
      form(version, asset("a"), product("p", "a", { passwords: [password], amount: { currency: "EUR", minor } }));
    const life = new Life(withPasswords(1, "0012", 100));
    const price = { product: "p", from: { currency: "EUR", minor: 100 }, to: { currency: "EUR", minor: 200 } };
    expect(life.difference(withPasswords(2, "0012", 200))).toEqual({ ...nothing, price: [price] });
    expect(life.difference(withPasswords(2, "0013", 100)).replaced.map(({ fields }) => fields)).toEqual([
      ["passwords"],
    ]);
  });

  it("names a catalogue's new words, and buys nothing anew for them", () => {
    const life = new Life(form(1, asset("a"), product("p", "a"), bundle("k", "a"), product("q", "k")));
    const now = form(
      2,
      asset("a"),
      product("p", "a", { name: "Estimation" }),
      bundle("k", "a", { name: "All of it" }),
      product("q", "k"),
    );
    const named = [
      { instanceId: "p", field: "name", from: "Product p", to: "Estimation" },
      { instanceId: "k", field: "name", from: "Package k", to: "All of it" },
    ];
    expect(life.difference(now)).toEqual({ ...nothing, wording: named });
  });

  it("keeps the old form beside the new one until that is shown", () => {
    const life = new Life(form(1, asset("a"), product("p", "a")), fixed("1", "a", "N1"));
    const more = form(2, asset("a"), product("p", "a", { nodes: 5 }));
    const difference = life.difference(more);
    expect(difference).toMatchObject({ ended: [], superseded: [], replaced: [{ fields: ["nodes"] }] });
    life.buys(difference, more);
    const [old, ...others] = life.difference(more).superseded;
    expect(others).toEqual([]);
    expect(old?.products.map((item) => [item.product.nodes, item.channelOrderId])).toEqual([[1, "1"]]);
    expect(old?.by?.unit.number).toBe("N1");
    expect(old?.by?.products.map((item) => [item.product.id, item.channelOrderId])).toEqual([["p", "1-1"]]);
  });

  it("puts a unit beside one whose asset is wanted otherwise, since no call changes an asset", () => {
    const life = new Life(form(1, asset("a"), product("p", "a")), fixed("1", "a", "N1"));
    const later = form(2, asset("a", { limitEnd: "2028-01-01T00:00:00Z" }), product("p", "a"));
    const difference = life.difference(later);
    expect(difference).toMatchObject({ ended: [], added: [], assetChanged: [{ newUnit: 1, fields: ["limitEnd"] }] });
    life.buys(difference, later);
    expect(life.difference(later).superseded.map(({ unit, whole }) => [unit.number, whole])).toEqual([["N1", true]]);
  });

  it("ends everything where nothing is wanted any more", () => {
    const life = new Life(form(1, asset("a", { quantity: 2 }), product("p", "a")), fixed("1", "a", "N1", "N2"));
    const { ended, ...rest } = differenceOf(life.standing(), { assets: [], amount: undefined }, nobodyHolds);
    expect(ended.map(({ unit, whole }) => [unit.number, whole])).toEqual([
      ["N1", true],
      ["N2", true],
    ]);
    expect(isEmpty({ ...rest, ended: [] })).toBe(true);
    life.ends(ended);
    expect(life.standing().units).toEqual([]);
    const restored = life.difference(form(1, asset("a", { quantity: 2 }), product("p", "a")));
    expect(restored.added.map(({ unit }) => unit)).toEqual([0, 1]);
  });
});
