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
import { AmbiguousReading, notAskedFor, saysNothing } from "./call.ts";
import { inOrder } from "../base/lanes.ts";
import type { Platform } from "./platform.ts";

/** A customer of an enterprise, as E3 shows it. */
export interface PlatformCustomer {
  customerId: string;
  isDefault: boolean;
  channelCode: string;
  channelCustomerId: string;
}

/** An enterprise under a channel customer number, with its customers (E3). */
export interface ShownEnterprise {
  enterpriseGlobalId: string;
  customers: PlatformCustomer[];
}

/** A member of an enterprise, as M5 shows it; null is what it shows nothing of. */
export interface ObservedMember {
  globalId: string;
  /** With the enterprise code appended. */
  userName: string;
  name: string;
  remark: string | null;
  mobile: string | null;
  departmentId: string | null;
  /** Number of the lock that is lent to this member. */
  borrows: string | null;
  /** In online use now. */
  online: boolean;
  deleted: boolean;
  assetNums: string[];
}

/** An asset of an enterprise, as M6 or E8 shows it; `holder` is nobody where it is null. */
export interface ObservedAsset {
  assetNum: string;
  assetId: string;
  holder: string | null;
  /** Lent out (M6), or a lock for lending (E8), which may be lent: E8 does not say. */
  borrowed: boolean;
  /** In online use now; only M6 shows it. */
  online: boolean;
  from: "M6" | "E8";
}

/** A lock for lending and who has it (M8), not which assets went into it. */
export interface ObservedLoan {
  /** Number of the lock. */
  lock: string;
  assetId: string;
  lent: boolean;
  /** globalId of the member who borrowed it; null where nobody is shown. */
  borrower: string | null;
}

/** What one asset holds (M7), flat: every product with the package it stands in, and every package. */
export interface ObservedContents {
  products: ProductInstance[];
  packages: MerchandiseNode[];
  /**
   * Neither a product nor a package came, only empty lists or null, and the settings do not say that this means an
   * empty asset (A43).
   */
  bare: boolean;
}

/** What an asset holds that M6 or E8 shows. */
export interface AssetReading extends ObservedContents {
  asset: ObservedAsset;
}

/** The lists of a snapshot: what E3, M5, and M6 with E8 and M8 show. */
export type SnapshotList = "enterprises" | "members" | "assets";

/** M7's own answer that there is no such asset; every other refusal says nothing of it. */
const noSuchAsset = "60024";

/** Where what the platform shows to a customer is read. */
export interface Snapshots {
  /** A snapshot for one customer. */
  of(customer: RecordKey, signal?: AbortSignal): Snapshot;
}

/** Makes snapshots. */
export class SnapshotReader implements Snapshots {
  readonly #platform: Platform;
  readonly #settings: AssumptionSettings;
  readonly #channelCodes: ReadonlySet<string>;

  constructor(platform: Platform, settings: AssumptionSettings) {
    this.#platform = platform;
    this.#settings = settings;
    this.#channelCodes = new Set(channelCodesOf(settings));
  }

  /** A snapshot for one customer, of which nothing is read yet. */
  of(customer: RecordKey, signal?: AbortSignal): Snapshot {
    const call = { customer: formatKey(customer), signal };
    return new Snapshot(this.#platform, this.#settings, this.#channelCodes, call);
  }
}

/** Everything that the platform can show of an enterprise. `contents` are read as they are asked for. */
export interface EnterpriseReading {
  enterprises: ShownEnterprise[];
  members: ObservedMember[];
  /** M6 ∪ E8 row by row. */
  rows: ObservedAsset[];
  loans: ObservedLoan[];
  contents: AsyncIterable<AssetReading>;
}

/**
 * What the platform shows to one customer: each list is read when it is needed first, and once until it is forgotten.
 * Every reading rejects where the platform gave nothing: a failed one is never "none", and is made again when it is
 * needed again.
 */
export class Snapshot {
  readonly #platform: Platform;
  readonly #settings: AssumptionSettings;
  readonly #channelCodes: ReadonlySet<string>;
  readonly #call: { customer: string; signal: AbortSignal | undefined };
  readonly #enterprises = new Map<string, ShownEnterprise[]>();
  readonly #members = new Map<string, ObservedMember[]>();
  readonly #assets = new Map<string, ObservedAsset[]>();
  readonly #assetRows = new Map<string, ObservedAsset[]>();
  readonly #loans = new Map<string, ObservedLoan[]>();
  #failure: { error: unknown } | undefined;

  constructor(
    platform: Platform,
    settings: AssumptionSettings,
    channelCodes: ReadonlySet<string>,
    call: { customer: string; signal: AbortSignal | undefined },
  ) {
    this.#platform = platform;
    this.#settings = settings;
    this.#channelCodes = channelCodes;
    this.#call = call;
  }

  /**
   * E3 over all configured channel codes, and those that were configured when `alsoUnder` was written: the enterprises
   * under a channel customer number, each with its customers. Throws an AmbiguousReading where one row is not exactly
   * what was asked for, and where null or no data came and the settings do not say that this means none (A13).
   */
  enterprises(channelCustomerId: string, alsoUnder: readonly string[] = []): Promise<ShownEnterprise[]> {
    const channelCodes = alsoUnder.length === 0 ? this.#channelCodes : this.#channelCodes.union(new Set(alsoUnder));
    return this.#once(this.#enterprises, JSON.stringify([channelCustomerId, ...channelCodes]), () =>
      this.#findEnterprises(channelCustomerId, channelCodes),
    );
  }

  async #findEnterprises(channelCustomerId: string, channelCodes: ReadonlySet<string>): Promise<ShownEnterprise[]> {
    const found = new Map<string, Map<string, PlatformCustomer>>();
    for (const channelCode of channelCodes) {
      const { orderService } = this.#platform;
      const rows = await orderService.findCustomers(channelCode, channelCustomerId, "N", this.#call);
      if (rows === null && this.#settings.nullEnterprises === "ambiguous") throw saysNothing(channelCustomerId);
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

  /** E3 before an enterprise is planned: what it shows, or why its answer proves nothing. */
  async lookUp(channelCustomerId: string): Promise<{ enterprises: ShownEnterprise[] | undefined; ambiguous?: string }> {
    try {
      return { enterprises: await this.enterprises(channelCustomerId) };
    } catch (error) {
      if (!(error instanceof AmbiguousReading)) throw error;
      return { enterprises: undefined, ambiguous: `${error.message}; ${error.cure}` };
    }
  }

  /** M5, all pages. */
  members(enterpriseGlobalId: string): Promise<ObservedMember[]> {
    return this.#once(this.#members, enterpriseGlobalId, async () => {
      const list = await this.#platform.memberCenter.listStaff(enterpriseGlobalId, this.#call);
      return list.rows.map((row) => ({
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
      const rows = await this.#platform.memberCenter.listAssetNumbers(enterpriseGlobalId, this.#call);
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

  /** M8: every lock for lending, lent or not. */
  loans(enterpriseGlobalId: string): Promise<ObservedLoan[]> {
    return this.#once(this.#loans, enterpriseGlobalId, async () => {
      const rows = await this.#platform.memberCenter.listBorrowedLocks(enterpriseGlobalId, this.#call);
      return rows.map((row) => ({
        lock: row.assetNum,
        assetId: row.assetId,
        lent: row.borrowedFlag,
        borrower: row.cloudAccountGlobalId,
      }));
    });
  }

  /** M6 ∪ E8: every asset that the platform can show, by number. */
  async allAssets(enterpriseGlobalId: string): Promise<ReadonlyMap<string, ObservedAsset>> {
    return byNumber(await this.assetRows(enterpriseGlobalId));
  }

  /** M6 ∪ E8 row by row: those of M6, then those of E8 whose number M6 does not show. */
  assetRows(enterpriseGlobalId: string): Promise<ObservedAsset[]> {
    return this.#once(this.#assetRows, enterpriseGlobalId, async () => {
      const [assets, virtual] = await Promise.all([
        this.assets(enterpriseGlobalId),
        this.#platform.orderService.listVirtualAssets(enterpriseGlobalId, this.#call),
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

  /** M7 of each of these assets that the platform shows (M6 ∪ E8), in their order; without numbers of all. */
  async *contents(enterpriseGlobalId: string, numbers?: Iterable<string>): AsyncIterable<AssetReading> {
    const assets = await this.allAssets(enterpriseGlobalId);
    yield* this.#severalAtOnce(found(assets, numbers), async (asset) => ({
      asset,
      ...(await this.#contents(enterpriseGlobalId, asset.assetId)),
    }));
  }

  /**
   * The same where M7 may know no such asset (60024) though M6 or E8 shows it: of that one nothing is told, and `gone`
   * comes in its place.
   */
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

  /** What `read` gives of each of these, in their order, as many at once as the member-center takes calls. */
  #severalAtOnce<Item, Value>(items: Iterable<Item>, read: (item: Item) => Promise<Value>): AsyncIterable<Value> {
    return inOrder(items, this.#platform.state().memberCenter.callsAtOnce, read);
  }

  async #contents(enterpriseGlobalId: string, assetId: string): Promise<ObservedContents> {
    const call = { enterpriseGlobalId, ...this.#call };
    const { products, packages } = flatten(await this.#platform.memberCenter.listAssetContents(assetId, call));
    const bare = this.#settings.emptyAssets === "ambiguous" && products.length === 0 && packages.length === 0;
    return { products, packages, bare };
  }

  /**
   * M7 of one asset by its id, whatever M6 and E8 show: `gone` where M7 says that there is none (60024). Read anew each
   * time.
   */
  async contentsById(enterpriseGlobalId: string, assetId: string): Promise<ObservedContents | "gone"> {
    try {
      return await this.#contents(enterpriseGlobalId, assetId);
    } catch (error) {
      if (error instanceof ReadFailure && error.kind === "code" && error.serviceCode === noSuchAsset) return "gone";
      throw error;
    }
  }

  /** Everything of an enterprise: E3, M5, M6 ∪ E8 and M8 side by side, and M7 of each asset. */
  async everything({
    enterpriseGlobalId,
    channelCustomerId,
  }: {
    enterpriseGlobalId: string;
    channelCustomerId: string;
  }): Promise<EnterpriseReading> {
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

  /** What reading ahead came to: the next reading of a list ends so, and no call is made for it. */
  failedAhead(error: unknown): void {
    this.#failure = { error };
  }

  /** What a call has made old is read again when it is needed next. */
  forget(lists: ReadonlySet<SnapshotList>): void {
    if (lists.has("enterprises")) this.#enterprises.clear();
    if (lists.has("members")) this.#members.clear();
    if (lists.has("assets")) this.#assets.clear();
    if (lists.has("assets")) this.#assetRows.clear();
    if (lists.has("assets")) this.#loans.clear();
  }
}

/** Those of these assets that have one of the numbers, in the order of the numbers. */
function* found(
  assets: ReadonlyMap<string, ObservedAsset>,
  numbers: Iterable<string> = assets.keys(),
): Generator<ObservedAsset, void, void> {
  for (const number of numbers) {
    const asset = assets.get(number);
    if (asset !== undefined) yield asset;
  }
}

/** Assets by number; of a number that is shown twice the same row is taken in whatever order they come. */
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
