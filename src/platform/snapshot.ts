import {
  type AssetContents,
  type MerchandiseNode,
  type ProductInstance,
  allProducts,
} from "../contract/asset-contents.ts";
import { type AssumptionSettings, channelCodesOf } from "../contract/assumption-settings.ts";
import { formatKey } from "../crm/keys.ts";
import type { RecordKey } from "../crm/model.ts";
import { ReadFailure } from "../http/call.ts";
import { AmbiguousReading, notAskedFor, saysNothing } from "./services.ts";
import { inOrder } from "../base/lanes.ts";
import type { Platform } from "./platform.ts";

export interface PlatformCustomer {
  customerId: string;
  isDefault: boolean;
  channelCode: string;
  channelCustomerId: string;
}

export interface ShownEnterprise {
  enterpriseGlobalId: string;
  customers: PlatformCustomer[];
}

/** As M5 shows it. Null: M5 shows nothing. */
export interface ObservedMember {
  globalId: string;
  /** With the enterprise code appended. */
  userName: string;
  name: string;
  remark: string | null;
  mobile: string | null;
  departmentId: string | null;
  borrows: string | null;
  online: boolean;
  deleted: boolean;
  assetNums: string[];
}

/** As M6 or E8 shows it. `holder` null: nobody. */
export interface ObservedAsset {
  assetNum: string;
  assetId: string;
  holder: string | null;
  /** M6: it is lent. E8: it is a lock that may be lent. */
  borrowed: boolean;
  /** In online use now. Only M6 shows this. */
  online: boolean;
  from: "M6" | "E8";
}

/** A lock that may be lent, and its borrower (M8). M8 does not show the lent assets. */
export interface ObservedLoan {
  lock: string;
  assetId: string;
  lent: boolean;
  borrower: string | null;
}

/** The contents of an asset (M7), flat: products, and packages of all levels. */
export interface ObservedContents {
  products: ProductInstance[];
  packages: MerchandiseNode[];
  /** Only empty lists or null came, and no setting says that this means an empty asset (A43). */
  bare: boolean;
}

export interface AssetReading extends ObservedContents {
  asset: ObservedAsset;
}

export type SnapshotList = "enterprises" | "members" | "assets";

/** M7's answer for a missing asset. Other rejections prove nothing about it. */
const noSuchAsset = "60024";

export interface Snapshots {
  of(customer: RecordKey, signal?: AbortSignal): Snapshot;
}

interface SnapshotDeps {
  platform: Platform;
  settings: AssumptionSettings;
  channelCodes: ReadonlySet<string>;
}

export class SnapshotReader implements Snapshots {
  readonly #deps: SnapshotDeps;

  constructor(platform: Platform, settings: AssumptionSettings) {
    this.#deps = { platform, settings, channelCodes: new Set(channelCodesOf(settings)) };
  }

  of(customer: RecordKey, signal?: AbortSignal): Snapshot {
    return new Snapshot(this.#deps, { customer: formatKey(customer), signal });
  }
}

export interface EnterpriseReading {
  enterprises: ShownEnterprise[];
  members: ObservedMember[];
  rows: ObservedAsset[];
  loans: ObservedLoan[];
  contents: AsyncIterable<AssetReading>;
}

/** Each list is read once, at first use, until `forget`. A failed reading throws, and is repeated when needed again. */
export class Snapshot {
  readonly #deps: SnapshotDeps;
  readonly #call: { customer: string; signal: AbortSignal | undefined };
  readonly #enterprises = new Map<string, ShownEnterprise[]>();
  readonly #members = new Map<string, ObservedMember[]>();
  readonly #assets = new Map<string, ObservedAsset[]>();
  readonly #assetRows = new Map<string, ObservedAsset[]>();
  readonly #loans = new Map<string, ObservedLoan[]>();
  #failure: { error: unknown } | undefined;

  constructor(deps: SnapshotDeps, call: { customer: string; signal: AbortSignal | undefined }) {
    this.#deps = deps;
    this.#call = call;
  }

  /** `alsoUnder`: earlier channel codes. Throws an AmbiguousReading for another customer or an ambiguous null (A13). */
  enterprises(channelCustomerId: string, alsoUnder: readonly string[] = []): Promise<ShownEnterprise[]> {
    const channelCodes = this.#deps.channelCodes.union(new Set(alsoUnder));
    return this.#once(this.#enterprises, JSON.stringify([channelCustomerId, ...channelCodes]), () =>
      this.#findEnterprises(channelCustomerId, channelCodes),
    );
  }

  async #findEnterprises(channelCustomerId: string, channelCodes: ReadonlySet<string>): Promise<ShownEnterprise[]> {
    const found = new Map<string, Map<string, PlatformCustomer>>();
    for (const channelCode of channelCodes) {
      const { orderService } = this.#deps.platform;
      const rows = await orderService.findCustomers(channelCode, channelCustomerId, "N", this.#call);
      if (rows === null && this.#deps.settings.nullEnterprises === "ambiguous") throw saysNothing(channelCustomerId);
      for (const row of rows ?? []) {
        if (row.channelCustomerId !== channelCustomerId || row.channelCode !== channelCode)
          throw notAskedFor({ channelCode, channelCustomerId }, row);
        const customers = found.get(row.enterpriseGlobalId) ?? new Map<string, PlatformCustomer>();
        customers.set(row.customerId, {
          customerId: row.customerId,
          isDefault: row.isDefault,
          channelCode: row.channelCode,
          channelCustomerId: row.channelCustomerId,
        });
        found.set(row.enterpriseGlobalId, customers);
      }
    }
    return [...found].map(([enterpriseGlobalId, customers]) => ({
      enterpriseGlobalId,
      customers: [...customers.values()],
    }));
  }

  async lookUp(channelCustomerId: string): Promise<{ enterprises: ShownEnterprise[] | undefined; ambiguous?: string }> {
    try {
      return { enterprises: await this.enterprises(channelCustomerId) };
    } catch (error) {
      if (!(error instanceof AmbiguousReading)) throw error;
      return { enterprises: undefined, ambiguous: `${error.message}; ${error.cure}` };
    }
  }

  members(enterpriseGlobalId: string): Promise<ObservedMember[]> {
    return this.#once(this.#members, enterpriseGlobalId, async () => {
      const rows = await this.#deps.platform.memberCenter.listStaff(enterpriseGlobalId, this.#call);
      return rows.map((row) => ({
        globalId: row.globalId,
        userName: row.userName,
        name: row.name ?? "",
        remark: row.remark,
        mobile: row.passwordMobile,
        departmentId: row.departmentId,
        borrows: row.borrowNum === "" ? null : row.borrowNum,
        online: row.onlineFlag ?? false,
        deleted: row.deleted,
        assetNums: row.assetNums,
      }));
    });
  }

  /** M6. */
  assets(enterpriseGlobalId: string): Promise<ObservedAsset[]> {
    return this.#once(this.#assets, enterpriseGlobalId, async () => {
      const rows = await this.#deps.platform.memberCenter.listAssetNumbers(enterpriseGlobalId, this.#call);
      return rows.map((row) => ({
        assetNum: row.assetNum,
        assetId: row.assetId,
        holder: row.cloudAccountGlobalId,
        borrowed: row.borrowedFlag,
        online: row.onlineFlag,
        from: "M6" as const,
      }));
    });
  }

  /** M8: every lock that may be lent. */
  loans(enterpriseGlobalId: string): Promise<ObservedLoan[]> {
    return this.#once(this.#loans, enterpriseGlobalId, async () => {
      const rows = await this.#deps.platform.memberCenter.listBorrowedLocks(enterpriseGlobalId, this.#call);
      return rows.map((row) => ({
        lock: row.assetNum,
        assetId: row.assetId,
        lent: row.borrowedFlag,
        borrower: row.cloudAccountGlobalId,
      }));
    });
  }

  async allAssets(enterpriseGlobalId: string): Promise<ReadonlyMap<string, ObservedAsset>> {
    return byNumber(await this.assetRows(enterpriseGlobalId));
  }

  /** M6, then E8 without the numbers that M6 shows. */
  assetRows(enterpriseGlobalId: string): Promise<ObservedAsset[]> {
    return this.#once(this.#assetRows, enterpriseGlobalId, async () => {
      const [assets, virtual] = await Promise.all([
        this.assets(enterpriseGlobalId),
        this.#deps.platform.orderService.listVirtualAssets(enterpriseGlobalId, this.#call),
      ]);
      const rows = [...assets];
      const inM6 = new Set(rows.map((asset) => asset.assetNum));
      for (const asset of virtual) {
        if (asset.assetNum === null || asset.assetNum === undefined || inM6.has(asset.assetNum)) continue;
        rows.push({
          assetNum: asset.assetNum,
          assetId: asset.id,
          holder: asset.assignStatus?.assignMemberId ?? null,
          borrowed: asset.borrowedUsbKey ?? false,
          online: false,
          from: "E8",
        });
      }
      return rows;
    });
  }

  async *contents(enterpriseGlobalId: string, numbers?: Iterable<string>): AsyncIterable<AssetReading> {
    const assets = await this.allAssets(enterpriseGlobalId);
    yield* this.#severalAtOnce(found(assets, numbers), async (asset) => ({
      asset,
      ...(await this.#contents(enterpriseGlobalId, asset.assetId)),
    }));
  }

  /** `contents`, but with `gone` for an asset that M7 does not know (60024). */
  async *contentsThere(
    enterpriseGlobalId: string,
    numbers?: Iterable<string>,
  ): AsyncGenerator<AssetReading | "gone", void, void> {
    const assets = await this.allAssets(enterpriseGlobalId);
    yield* this.#severalAtOnce(found(assets, numbers), async (asset) => {
      const contents = await this.contentsById(enterpriseGlobalId, asset.assetId);
      return contents === "gone" ? contents : { asset, ...contents };
    });
  }

  /** In the order of the items, at most `callsAtOnce` of the member-center at a time. */
  #severalAtOnce<Item, Value>(items: Iterable<Item>, read: (item: Item) => Promise<Value>): AsyncIterable<Value> {
    return inOrder(items, this.#deps.platform.state().memberCenter.callsAtOnce, read);
  }

  async #contents(enterpriseGlobalId: string, assetId: string): Promise<ObservedContents> {
    const call = { enterpriseGlobalId, ...this.#call };
    const { products, packages } = flatten(await this.#deps.platform.memberCenter.listAssetContents(assetId, call));
    const bare = this.#deps.settings.emptyAssets === "ambiguous" && products.length === 0 && packages.length === 0;
    return { products, packages, bare };
  }

  /** M7 by id, always read anew, even if M6 and E8 do not show the asset. `gone`: M7 does not know it (60024). */
  async contentsById(enterpriseGlobalId: string, assetId: string): Promise<ObservedContents | "gone"> {
    try {
      return await this.#contents(enterpriseGlobalId, assetId);
    } catch (error) {
      if (error instanceof ReadFailure && error.kind === "code" && error.serviceCode === noSuchAsset) return "gone";
      throw error;
    }
  }

  /** E3, M5, M6, E8 and M8 in parallel, and M7 of each asset. */
  async everything(of: { enterpriseGlobalId: string; channelCustomerId: string }): Promise<EnterpriseReading> {
    const { enterpriseGlobalId, channelCustomerId } = of;
    const [enterprises, members, rows, loans] = await Promise.all([
      this.enterprises(channelCustomerId),
      this.members(enterpriseGlobalId),
      this.assetRows(enterpriseGlobalId),
      this.loans(enterpriseGlobalId),
    ]);
    return { enterprises, members, rows, loans, contents: this.contents(enterpriseGlobalId) };
  }

  #once<Value>(kept: Map<string, Value>, key: string, read: () => Promise<Value>): Promise<Value> {
    const failure = this.#failure;
    this.#failure = undefined;
    if (failure !== undefined) return Promise.reject(failure.error);
    const before = kept.get(key);
    if (before !== undefined) return Promise.resolve(before);
    return read().then((value) => {
      kept.set(key, value);
      return value;
    });
  }

  /** The next reading throws this error without a call, because reading ahead failed with it. */
  failedAhead(error: unknown): void {
    this.#failure = { error };
  }

  forget(lists: ReadonlySet<SnapshotList>): void {
    if (lists.has("enterprises")) this.#enterprises.clear();
    if (lists.has("members")) this.#members.clear();
    if (lists.has("assets")) for (const kept of [this.#assets, this.#assetRows, this.#loans]) kept.clear();
  }
}

function* found(
  assets: ReadonlyMap<string, ObservedAsset>,
  numbers: Iterable<string> = assets.keys(),
): Generator<ObservedAsset, void, void> {
  for (const number of numbers) {
    const asset = assets.get(number);
    if (asset !== undefined) yield asset;
  }
}

/** If a number is shown twice, always picks the same row. */
function byNumber(rows: readonly ObservedAsset[]): Map<string, ObservedAsset> {
  const ordered = rows.toSorted((left, right) => (left.assetId < right.assetId ? 1 : -1));
  return new Map(ordered.map((asset) => [asset.assetNum, asset]));
}

function flatten(contents: AssetContents): { products: ProductInstance[]; packages: MerchandiseNode[] } {
  const packages: MerchandiseNode[] = [];
  const visit = (nodes: readonly MerchandiseNode[]): void => {
    for (const node of nodes) {
      packages.push(node);
      visit(node.children);
    }
  };
  visit(contents.children);
  return { products: allProducts(contents), packages };
}

/** Some snapshots are read ahead. The next caller of `of` gets such a snapshot, once. */
export class SnapshotsAhead implements Snapshots {
  readonly #snapshots: Snapshots;
  readonly #ahead = new Map<string, Snapshot>();

  constructor(snapshots: Snapshots) {
    this.#snapshots = snapshots;
  }

  of(customer: RecordKey, signal?: AbortSignal): Snapshot {
    const key = formatKey(customer);
    const ahead = this.#ahead.get(key);
    this.#ahead.delete(key);
    return ahead ?? this.#snapshots.of(customer, signal);
  }

  keep(customer: RecordKey, snapshot: Snapshot): void {
    this.#ahead.set(formatKey(customer), snapshot);
  }
}
