import { describe, expect, it } from "vitest";
import { hashOf } from "../../src/base/canonical-json.ts";
import type { Instance, Package } from "../../src/crm/model.ts";
import { buildAssets, maxPackageDepth } from "../../src/crm/tree.ts";
import { asset, bundle, extension, feature, product } from "../support/world/instances.ts";

function faultsOf(...instances: Instance[]): string[] {
  return buildAssets(instances).faults.map((fault) => `${fault.code} ${fault.instanceId}: ${fault.message}`);
}

function chain(length: number, top: string): Instance[] {
  return Array.from({ length }, (_, index) => bundle(`c${index}`, index === 0 ? top : `c${index - 1}`));
}

describe("the flat instances of an order", () => {
  it("become assets with their products, packages, features and extensions", () => {
    const { assets, faults } = buildAssets([
      feature("f2", "p1"),
      product("p1", "k2"),
      extension("e1", "a1"),
      bundle("k2", "k1", { parentNumber: "N-k1" }),
      product("p0", "a1", { features: [{ code: "f0", name: "Zero", value: "", valueType: "text" }] }),
      bundle("k1", "a1"),
      feature("f1", "p1"),
      asset("a1", { extensions: [{ code: "e0", value: "0" }] }),
    ]);
    expect(faults).toEqual([]);
    expect(assets).toHaveLength(1);
    const [only] = assets;
    expect(only?.extensions).toEqual([
      { code: "e0", value: "0" },
      { code: "e1", value: "yes" },
    ]);
    expect(only?.products.map((item) => [item.id, item.features.map((one) => one.code)])).toEqual([["p0", ["f0"]]]);
    const [root] = only?.packages ?? [];
    expect(root).toMatchObject({ id: "k1", parentId: "a1", number: "N-k1", products: [] });
    expect(root?.parentNumber).toBeUndefined();
    const [child] = root?.children ?? [];
    expect(child).toMatchObject({ id: "k2", parentId: "k1", parentNumber: "N-k1", children: [] });
    expect(child?.products[0]?.features.map((one) => one.code)).toEqual(["f1", "f2"]);
  });

  it("stand in the order of their ids, by code units, on every level", () => {
    const { assets } = buildAssets([
      asset("b"),
      asset("B"),
      asset("a"),
      product("p10", "a"),
      product("p2", "a"),
      bundle("ä", "a"),
      bundle("z", "a"),
      product("y", "z"),
      product("x", "z"),
      bundle("z2", "z"),
      bundle("z1", "z"),
    ]);
    expect(assets.map((item) => item.id)).toEqual(["B", "a", "b"]);
    const found = assets.find((item) => item.id === "a");
    expect(found?.products.map((item) => item.id)).toEqual(["p10", "p2"]);
    expect(found?.packages.map((item) => item.id)).toEqual(["z", "ä"]);
    expect(found?.packages[0]?.products.map((item) => item.id)).toEqual(["x", "y"]);
    expect(found?.packages[0]?.children.map((item) => item.id)).toEqual(["z1", "z2"]);
  });

  it("are left as they came: building a tree changes none of them", () => {
    const instances = [asset("a", { extensions: [{ code: "x", value: "1" }] }), product("p", "a"), feature("f", "p")];
    const before = hashOf(JSON.parse(JSON.stringify(instances)));
    const { assets } = buildAssets(instances);
    assets[0]?.extensions.push({ code: "later", value: "" });
    assets[0]?.assetNumbers.push("later");
    assets[0]?.products[0]?.features.pop();
    expect(hashOf(JSON.parse(JSON.stringify(instances)))).toBe(before);
  });
});

describe("a fault of the instances names its culprit", () => {
  it("for an id that stands twice, of whatever kinds", () => {
    expect(faultsOf(asset("a"), product("p", "a"), product("p", "a"))).toEqual([
      "duplicate-instance p: two assets, products or packages of the order have the same instance id p",
    ]);
    expect(faultsOf(asset("a"), bundle("a", "a"))[0]).toBe(
      "duplicate-instance a: two assets, products or packages of the order have the same instance id a",
    );
    expect(faultsOf(asset("a"), asset("a"))).toHaveLength(1);
  });

  it("for packages and products without a parent", () => {
    expect(faultsOf(asset("a"), bundle("k", "gone"), product("p", "gone"))).toEqual([
      "orphan-instance k: package k has the parent gone, which is neither an asset nor a package of this order",
      "orphan-instance p: product p has the parent gone, which is neither an asset nor a package of this order",
    ]);
    expect(faultsOf(asset("a"), product("p", "a"), product("q", "p"))[0]).toContain("orphan-instance q");
    expect(faultsOf(asset("a"), product("p", "a"), bundle("k", "p"))[0]).toContain("orphan-instance k");
  });

  it("for packages that are each other's parents, once for each cycle", () => {
    expect(faultsOf(asset("a"), bundle("z", "y"), bundle("y", "x"), bundle("x", "z"), bundle("hangs", "z"))).toEqual([
      "instance-cycle x: packages x, y, z are each other's parents",
    ]);
    expect(faultsOf(asset("a"), bundle("k", "k"))).toEqual(["instance-cycle k: package k is its own parent"]);
    expect(
      faultsOf(asset("a"), bundle("b", "c"), bundle("c", "b"), bundle("d", "e"), bundle("e", "d")).map(
        (fault) => fault.split(":")[0],
      ),
    ).toEqual(["instance-cycle b", "instance-cycle d"]);
  });

  it("for a cycle of thousands, with a message of reasonable length", () => {
    const instances = chain(5_000, "c4999");
    const [fault, ...others] = buildAssets([asset("a"), ...instances]).faults;
    expect(others).toEqual([]);
    expect(fault).toMatchObject({ code: "instance-cycle", instanceId: "c0" });
    expect(fault?.message).toContain("and 4990 more");
    expect(fault?.message.length).toBeLessThan(200);
  });

  it("for a parent number that is not the parent's", () => {
    expect(faultsOf(asset("a"), bundle("k", "a", { parentNumber: "N-x" }))).toEqual([
      "package-number-disagrees k: package k is directly in asset a, but it has the parent package number N-x",
    ]);
    expect(faultsOf(asset("a"), bundle("k", "a"), bundle("l", "k", { parentNumber: "N-l" }))).toEqual([
      "package-number-disagrees l: package l names the parent package number N-l, but its parent k has the number N-k",
    ]);
    expect(faultsOf(asset("a"), bundle("k", "a"), bundle("l", "k", { parentNumber: "N-k" }))).toEqual([]);
  });

  it("for features and extensions in the wrong place or twice", () => {
    expect(faultsOf(asset("a"), product("p", "a"), feature("f", "a"), extension("e", "p"))).toEqual([
      "wrong-parent a: feature f has the parent a, which is not a product of this order",
      "wrong-parent p: extension e has the parent p, which is not an asset of this order",
    ]);
    expect(
      faultsOf(
        asset("a"),
        product("p", "a"),
        feature("f", "p"),
        feature("f", "p"),
        extension("e", "a"),
        extension("e", "a"),
      ),
    ).toEqual([
      "duplicate-instance p: product p has the feature f twice",
      "duplicate-instance a: asset a has the extension e twice",
    ]);
  });

  it("for an order without an asset, and for numbers beyond the quantity", () => {
    expect(buildAssets([product("p", "a")]).faults.map((fault) => fault.code)).toEqual(["no-asset", "orphan-instance"]);
    expect(faultsOf(asset("a", { quantity: 2, assetNumbers: ["1", "2", "3"] }))).toEqual([
      "too-many-numbers a: asset a has 3 asset numbers, but its quantity is 2",
    ]);
    expect(faultsOf(asset("a", { quantity: 3, assetNumbers: ["1", "2", "3"] }))).toEqual([]);
  });

  it("for an asset number that stands for two assets", () => {
    expect(
      faultsOf(asset("a", { assetNumbers: ["1"] }), asset("b", { quantity: 3, assetNumbers: ["1", "2", "2"] })),
    ).toEqual([
      "duplicate-number b: assets a and b both name the asset number 1",
      "duplicate-number b: asset b names the asset number 2 twice",
    ]);
  });
});

describe("trees of any size", () => {
  it(`are taken up to ${maxPackageDepth} packages deep and named beyond`, () => {
    expect(buildAssets([asset("a"), ...chain(maxPackageDepth, "a")]).faults).toEqual([]);
    expect(faultsOf(asset("a"), ...chain(maxPackageDepth + 1, "a"))).toEqual([
      `package-too-deep c100: package c100 is 101 packages deep in asset a; at most 100 are allowed`,
    ]);
  });

  it("do not overflow the stack at 10,000 levels, joined or in a circle", () => {
    const deep = buildAssets([asset("a"), ...chain(10_000, "a"), product("p", "c9999")]);
    expect(deep.faults.map((fault) => fault.code)).toEqual(["package-too-deep"]);
    let bottom: Package | undefined = deep.assets[0]?.packages[0];
    let levels = 0;
    for (; bottom?.children[0] !== undefined; bottom = bottom.children[0]) levels += 1;
    expect([levels, bottom?.products[0]?.id]).toEqual([9_999, "p"]);
    expect(buildAssets([asset("a"), ...chain(10_000, "c9999")]).faults.map((fault) => fault.code)).toEqual([
      "instance-cycle",
    ]);
  });

  it("are built 100,000 wide, good ones and bad ones", { tags: "long" }, () => {
    const wide = Array.from({ length: 100_000 }, (_, index) => product(`p${index}`, "a"));
    const good = buildAssets([asset("a"), ...wide]);
    expect([good.faults.length, good.assets[0]?.products.length]).toEqual([0, 100_000]);
    expect(buildAssets([asset("b"), ...wide]).faults).toHaveLength(100_000);
    const loops = Array.from({ length: 200_000 }, (_, index) => bundle(`k${index}`, `k${index}`));
    expect(buildAssets([asset("b"), ...loops]).faults).toHaveLength(200_000);
  });
});
