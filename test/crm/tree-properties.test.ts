import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Json, canonicalJson, hashOf } from "../../src/base/canonical-json.ts";
import { orderSchema, type Instance, type Package } from "../../src/crm/model.ts";
import { buildAssets } from "../../src/crm/tree.ts";
import { asset, bundle, extension, feature, product } from "../support/world/instances.ts";

const asJson = (value: unknown): Json => JSON.parse(JSON.stringify(value)) as Json;

/** Good orders: a few assets; packages and products that hang under something that comes before them. */
const order = fc
  .record({
    assets: fc.integer({ min: 1, max: 4 }),
    packages: fc.array(fc.nat(), { maxLength: 25 }),
    products: fc.array(fc.nat(), { maxLength: 25 }),
    features: fc.array(fc.nat(), { maxLength: 10 }),
    extensions: fc.array(fc.nat(), { maxLength: 6 }),
    seed: fc.string({ maxLength: 3 }),
  })
  .map((shape): Instance[] => {
    const instances: Instance[] = [];
    const holders: string[] = [];
    for (let index = 0; index < shape.assets; index += 1) {
      holders.push(`a${shape.seed}${index}`);
      instances.push(asset(`a${shape.seed}${index}`));
    }
    for (const [index, pick] of shape.packages.entries()) {
      const parent = holders[pick % holders.length] ?? "";
      holders.push(`k${index}`);
      instances.push(
        bundle(`k${index}`, parent, parent.startsWith("k") && pick % 2 === 0 ? { parentNumber: `N-${parent}` } : {}),
      );
    }
    for (const [index, pick] of shape.products.entries())
      instances.push(product(`p${index}`, holders[pick % holders.length] ?? ""));
    if (shape.products.length > 0) {
      for (const [index, pick] of shape.features.entries()) {
        instances.push(feature(`f${index}`, `p${pick % shape.products.length}`));
      }
    }
    for (const [index, pick] of shape.extensions.entries()) {
      instances.push(extension(`e${index}`, `a${shape.seed}${pick % shape.assets}`));
    }
    return instances;
  });

const shuffled = order.chain((instances) =>
  fc.tuple(
    fc.constant(instances),
    fc.shuffledSubarray(instances, { minLength: instances.length, maxLength: instances.length }),
  ),
);

function idsUnder(packages: readonly Package[]): string[] {
  return packages.flatMap((item) => [item.id, ...item.products.map((one) => one.id), ...idsUnder(item.children)]);
}

describe("whatever order the rows of an order come in", () => {
  it("they make the same tree with the same hash", { tags: "long" }, () => {
    fc.assert(
      fc.property(shuffled, ([instances, other]) => {
        const left = buildAssets(instances);
        const right = buildAssets(other);
        expect(left.faults).toEqual([]);
        expect(right.faults).toEqual([]);
        expect(right.assets).toEqual(left.assets);
        expect(hashOf(asJson(right.assets))).toBe(hashOf(asJson(left.assets)));
      }),
      { numRuns: 300 },
    );
  });

  it("the canonical record is the same, so that nothing counts as changed", () => {
    fc.assert(
      fc.property(shuffled, ([instances, other]) => {
        const record = (rows: Instance[]): string =>
          canonicalJson(asJson(orderSchema.parse({ id: "1", customerId: "c", instances: rows })));
        expect(record(other)).toBe(record(instances));
      }),
      { numRuns: 200 },
    );
  });

  it("nothing is lost and nothing appears twice", () => {
    fc.assert(
      fc.property(order, (instances) => {
        const { assets } = buildAssets(instances);
        const found = assets.flatMap((item) => [
          item.id,
          ...item.products.map((one) => one.id),
          ...idsUnder(item.packages),
        ]);
        const given = instances.flatMap((item) => ("id" in item ? [item.id] : []));
        expect(found.toSorted()).toEqual(given.toSorted());
      }),
      { numRuns: 200 },
    );
  });

  it("any one parent that is changed to nothing is named as an orphan", () => {
    fc.assert(
      fc.property(order, fc.nat(), (instances, pick) => {
        const hanging = instances.filter((item) => item.kind === "package" || item.kind === "product");
        const chosen = hanging[pick % Math.max(1, hanging.length)];
        if (chosen === undefined) return;
        const broken = instances.map((item) => (item === chosen ? { ...chosen, parentId: "nowhere" } : item));
        expect(buildAssets(broken).faults).toContainEqual(
          expect.objectContaining({ code: "orphan-instance", instanceId: chosen.id }),
        );
      }),
      { numRuns: 200 },
    );
  });
});
