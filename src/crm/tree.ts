import type { Asset, Instance, InstanceWith, Package, Product } from "./model.ts";

/** Why the instances are not a tree. `instanceId`: the faulty one. */
interface TreeFault {
  code:
    | "duplicate-instance"
    | "orphan-instance"
    | "instance-cycle"
    | "wrong-parent"
    | "package-number-disagrees"
    | "package-too-deep"
    | "no-asset"
    | "too-many-numbers"
    | "duplicate-number";
  instanceId: string;
  message: string;
}

function fault(code: TreeFault["code"], instanceId: string, message: string): TreeFault {
  return { code, instanceId, message };
}

/** Real packages are a few levels deep. Far below the depth at which recursion over a payload would crash. */
export const maxPackageDepth = 100;

const namedMembers = 10;

type AssetInstance = Extract<Instance, { kind: "asset" }>;
type PackageInstance = Extract<Instance, { kind: "package" }>;
type ProductWith<Passwords> = Extract<InstanceWith<Passwords>, { kind: "product" }>;

const byId = (left: { id: string }, right: { id: string }): number =>
  left.id < right.id ? -1 : left.id > right.id ? 1 : 0;
const byCode = (left: { code: string }, right: { code: string }): number =>
  left.code < right.code ? -1 : left.code > right.code ? 1 : 0;

/** Sorted by id, so that equal orders have equal hashes. Unusable with faults. Never recurses: any depth is safe. */
export function buildAssets<Passwords = string[]>(
  instances: readonly InstanceWith<Passwords>[],
): { assets: Asset<Passwords>[]; faults: TreeFault[] } {
  const faults: TreeFault[] = [];
  const { assets, packages, products } = byKind(instances, faults);
  const builtAssets = new Map<string, Asset<Passwords>>();
  for (const asset of assets.values()) {
    const { length: count } = asset.assetNumbers;
    if (count > asset.quantity) {
      const message = `asset ${asset.id} has ${count} asset numbers, but its quantity is ${asset.quantity}`;
      faults.push(fault("too-many-numbers", asset.id, message));
    }
    const { kind: _kind, ...fields } = asset;
    const { assetNumbers, extensions } = asset;
    const own = { assetNumbers: [...assetNumbers], extensions: [...extensions] };
    builtAssets.set(asset.id, { ...fields, ...own, products: [], packages: [] });
  }
  const builtPackages = new Map<string, Package<Passwords>>();
  for (const item of packages.values()) {
    // `attachPackages` gives the number of the real parent.
    const { kind: _kind, parentNumber: _parentNumber, ...fields } = item;
    builtPackages.set(item.id, { ...fields, products: [], children: [] });
  }
  attachPackages(packages, builtPackages, builtAssets, faults);
  const builtProducts = attachProducts(products, builtPackages, builtAssets, faults);
  attachDetails(instances, builtProducts, builtAssets, faults);
  for (const cycle of cyclesOf(packages)) faults.push(cycle);
  for (const asset of builtAssets.values()) {
    const deep = firstTooDeep(asset);
    if (deep !== undefined) faults.push(deep);
  }
  for (const repeated of repeatedNumbers(assets)) faults.push(repeated);

  return { assets: sortedTree(builtAssets, builtPackages, builtProducts), faults };
}

function byKind<Passwords>(
  instances: readonly InstanceWith<Passwords>[],
  faults: TreeFault[],
): {
  assets: Map<string, AssetInstance>;
  packages: Map<string, PackageInstance>;
  products: Map<string, ProductWith<Passwords>>;
} {
  const assets = new Map<string, AssetInstance>();
  const packages = new Map<string, PackageInstance>();
  const products = new Map<string, ProductWith<Passwords>>();
  for (const instance of instances) {
    if (instance.kind === "feature" || instance.kind === "extension") continue;
    if (assets.has(instance.id) || packages.has(instance.id) || products.has(instance.id)) {
      const message = `two assets, products or packages of the order have the same instance id ${instance.id}`;
      faults.push(fault("duplicate-instance", instance.id, message));
      continue;
    }
    if (instance.kind === "asset") assets.set(instance.id, instance);
    else if (instance.kind === "package") packages.set(instance.id, instance);
    else products.set(instance.id, instance);
  }
  if (assets.size === 0) {
    faults.push(fault("no-asset", "", "the order has no asset instance"));
  }
  return { assets, packages, products };
}

function sortedTree<Passwords>(
  builtAssets: ReadonlyMap<string, Asset<Passwords>>,
  builtPackages: ReadonlyMap<string, Package<Passwords>>,
  builtProducts: ReadonlyMap<string, Product<Passwords>>,
): Asset<Passwords>[] {
  const sorted = [...builtAssets.values()].sort(byId);
  for (const asset of sorted) {
    asset.extensions.sort(byCode);
    asset.products.sort(byId);
    asset.packages.sort(byId);
  }
  for (const item of builtPackages.values()) {
    item.children.sort(byId);
    item.products.sort(byId);
  }
  for (const product of builtProducts.values()) product.features.sort(byCode);
  return sorted;
}

function attachPackages<Passwords>(
  packages: ReadonlyMap<string, PackageInstance>,
  built: ReadonlyMap<string, Package<Passwords>>,
  assets: ReadonlyMap<string, Asset<Passwords>>,
  faults: TreeFault[],
): void {
  for (const item of packages.values()) {
    const node = built.get(item.id);
    if (node === undefined) continue;
    const asset = assets.get(item.parentId);
    if (asset !== undefined) {
      if (item.parentNumber !== undefined) {
        const message =
          `package ${item.id} is directly in asset ${item.parentId}, ` +
          `but it has the parent package number ${item.parentNumber}`;
        faults.push(fault("package-number-disagrees", item.id, message));
      }
      asset.packages.push(node);
      continue;
    }
    const parent = built.get(item.parentId);
    if (parent === undefined) {
      faults.push(orphan("package", item));
      continue;
    }
    if (item.parentNumber !== undefined && item.parentNumber !== parent.number) {
      const message =
        `package ${item.id} names the parent package number ${item.parentNumber}, ` +
        `but its parent ${parent.id} has the number ${parent.number}`;
      faults.push(fault("package-number-disagrees", item.id, message));
    }
    node.parentNumber = parent.number;
    parent.children.push(node);
  }
}

function attachProducts<Passwords>(
  products: ReadonlyMap<string, ProductWith<Passwords>>,
  packages: ReadonlyMap<string, Package<Passwords>>,
  assets: ReadonlyMap<string, Asset<Passwords>>,
  faults: TreeFault[],
): Map<string, Product<Passwords>> {
  const built = new Map<string, Product<Passwords>>();
  for (const item of products.values()) {
    const { kind: _kind, features, ...fields } = item;
    const product: Product<Passwords> = { ...fields, features: [...features] };
    built.set(item.id, product);
    const holder = assets.get(item.parentId) ?? packages.get(item.parentId);
    if (holder === undefined) {
      faults.push(orphan("product", item));
      continue;
    }
    holder.products.push(product);
  }
  return built;
}

function attachDetails<Passwords>(
  instances: readonly InstanceWith<Passwords>[],
  products: ReadonlyMap<string, Product<Passwords>>,
  assets: ReadonlyMap<string, Asset<Passwords>>,
  faults: TreeFault[],
): void {
  for (const instance of instances) {
    if (instance.kind === "feature") {
      const { kind: _kind, parentId, ...feature } = instance;
      const product = products.get(parentId);
      if (product === undefined) faults.push(misplaced("feature", feature.code, parentId, "a product"));
      else product.features.push(feature);
    } else if (instance.kind === "extension") {
      const asset = assets.get(instance.parentId);
      if (asset === undefined) faults.push(misplaced("extension", instance.code, instance.parentId, "an asset"));
      else asset.extensions.push({ code: instance.code, value: instance.value });
    }
  }
  for (const { id, features } of products.values()) faults.push(...repeatedCode("product", id, "feature", features));
  for (const { id, extensions } of assets.values()) faults.push(...repeatedCode("asset", id, "extension", extensions));
}

function orphan(kind: "package" | "product", { id, parentId }: { id: string; parentId: string }): TreeFault {
  const message = `${kind} ${id} has the parent ${parentId}, which is neither an asset nor a package of this order`;
  return fault("orphan-instance", id, message);
}

function misplaced(kind: string, code: string, parentId: string, expected: string): TreeFault {
  const message = `${kind} ${code} has the parent ${parentId}, which is not ${expected} of this order`;
  return fault("wrong-parent", parentId, message);
}

function repeatedCode(
  holder: "product" | "asset",
  id: string,
  kind: string,
  items: readonly { code: string }[],
): TreeFault[] {
  const seen = new Set<string>();
  const repeated = items.find(({ code }) => seen.size === seen.add(code).size);
  if (repeated === undefined) return [];
  return [fault("duplicate-instance", id, `${holder} ${id} has the ${kind} ${repeated.code} twice`)];
}

function cyclesOf(packages: ReadonlyMap<string, PackageInstance>): TreeFault[] {
  const state = new Map<string, "open" | "closed">();
  const faults: TreeFault[] = [];
  for (const start of packages.keys()) {
    const path: string[] = [];
    let current: string | undefined = start;
    while (current !== undefined && packages.has(current) && !state.has(current)) {
      state.set(current, "open");
      path.push(current);
      current = packages.get(current)?.parentId;
    }
    if (current !== undefined && state.get(current) === "open") {
      const members = path.slice(path.indexOf(current)).sort();
      const named = members.slice(0, namedMembers).join(", ");
      const others = members.length > namedMembers ? ` and ${members.length - namedMembers} more` : "";
      const message =
        members.length === 1
          ? `package ${named} is its own parent`
          : `packages ${named}${others} are each other's parents`;
      faults.push(fault("instance-cycle", members[0] ?? current, message));
    }
    for (const id of path) state.set(id, "closed");
  }
  return faults;
}

/** The smallest id on the first level that is too deep. Cycles are under no asset, so this loop ends. */
function firstTooDeep<Passwords>(asset: Asset<Passwords>): TreeFault | undefined {
  let level = asset.packages;
  for (let depth = 1; level.length > 0; depth += 1) {
    if (depth > maxPackageDepth) {
      const [first] = level.toSorted(byId);
      const message =
        `package ${first?.id ?? ""} is ${depth} packages deep ` +
        `in asset ${asset.id}; at most ${maxPackageDepth} are allowed`;
      return fault("package-too-deep", first?.id ?? asset.id, message);
    }
    level = level.flatMap((item) => item.children);
  }
  return undefined;
}

function repeatedNumbers(assets: ReadonlyMap<string, AssetInstance>): TreeFault[] {
  const owners = new Map<string, string>();
  const faults: TreeFault[] = [];
  for (const asset of assets.values()) {
    for (const number of asset.assetNumbers) {
      const owner = owners.get(number);
      if (owner === undefined) owners.set(number, asset.id);
      else {
        const message =
          owner === asset.id
            ? `asset ${asset.id} names the asset number ${number} twice`
            : `assets ${owner} and ${asset.id} both name the asset number ${number}`;
        faults.push(fault("duplicate-number", asset.id, message));
      }
    }
  }
  return faults;
}

/** Products, also of packages, times the units of their asset. */
export function productUnits<Passwords>(assets: readonly Asset<Passwords>[]): number {
  let count = 0;
  for (const { products, packages, quantity } of assets) {
    count += products.length * quantity;
    const left = [...packages];
    for (let item = left.pop(); item !== undefined; item = left.pop()) {
      count += item.products.length * quantity;
      left.push(...item.children);
    }
  }
  return count;
}
