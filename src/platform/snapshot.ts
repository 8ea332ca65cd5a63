import { Problem } from "../base/errors.ts";
import type { AssetContents, MerchandiseNode, ProductInstance } from "../contract/asset-contents.ts";
import { allProducts } from "../contract/asset-contents.ts";
import type { AssumptionSettings } from "../contract/assumption-settings.ts";
import { channelCodesOf } from "../contract/assumption-settings.ts";
import { formatKey } from "../crm/keys.ts";
import type { RecordKey } from "../crm/model.ts";
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

/** A member of an enterprise, as M5 shows it. */
export interface ObservedMember {
  globalId: string;
  userName: string;
  name: string;
  deleted: boolean;
  assetNums: string[];
}

/** An asset of an enterprise, as M6 or E8 shows it; `holder` is nobody where it is null. */
export interface ObservedAsset {
  assetNum: string;
  assetId: string;
  holder: string | null;
  borrowed: boolean;
}

/** What one asset holds (M7), flat: every product with the package it stands in, and every package. */
export interface AssetReading {
  asset: ObservedAsset;
  products: ProductInstance[];
  packages: MerchandiseNode[];
  /**
   * Neither a product nor a package came, only empty lists or null, and the settings do not say that this means an
   * empty asset (A43).
   */
  bare: boolean;
}

/** The lists of a snapshot: what E3, M5, and M6 with E8 show. */
export type SnapshotList = "enterprises" | "members" | "assets";

/**
 * An answer that has the contract's form and cannot be believed: it proves neither that something is there nor that it
 * is not.
 */
export class AmbiguousReading extends Problem {}

/** Assets of one enterprise whose contents are asked for at once; no more of them are held in memory. */
const mostAtOnce = 8;

/** Makes snapshots. */
export class SnapshotReader {
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
  async enterprises(channelCustomerId: string, alsoUnder: readonly string[] = []): Promise<ShownEnterprise[]> {
    const channelCodes = alsoUnder.length === 0 ? this.#channelCodes : this.#channelCodes.union(new Set(alsoUnder));
    return await once(this.#enterprises, JSON.stringify([channelCustomerId, ...channelCodes]), () =>
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
  async members(enterpriseGlobalId: string): Promise<ObservedMember[]> {
    return await once(this.#members, enterpriseGlobalId, async () => {
      const list = await this.#platform.memberCenter.listStaff(enterpriseGlobalId, this.#call);
      return list.rows.map((row) => ({
        globalId: row.globalId,
        userName: row.userName,
        name: row.name ?? "",
        deleted: row.deleted,
        assetNums: row.assetNums,
      }));
    });
  }

  /** M6. */
  async assets(enterpriseGlobalId: string): Promise<ObservedAsset[]> {
    return await once(this.#assets, enterpriseGlobalId, async () => {
      const rows = await this.#platform.memberCenter.listAssetNumbers(enterpriseGlobalId, this.#call);
      return rows.map((row) => ({
        assetNum: row.assetNum,
        assetId: row.assetId,
        holder: row.cloudAccountGlobalId,
        borrowed: row.borrowedFlag,
      }));
    });
  }

  /** M6 ∪ E8: every asset that the platform can show, by number. */
  async allAssets(enterpriseGlobalId: string): Promise<ReadonlyMap<string, ObservedAsset>> {
    return byNumber(await this.assetRows(enterpriseGlobalId));
  }

  /** M6 ∪ E8 row by row: those of M6, then those of E8 whose number M6 does not show. */
  async assetRows(enterpriseGlobalId: string): Promise<ObservedAsset[]> {
    return await once(this.#assetRows, enterpriseGlobalId, async () => {
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
        });
      }
      return rows;
    });
  }

  /** M7 of each of these assets that the platform shows (M6 ∪ E8), one after the other; without numbers of all. */
  async *contents(enterpriseGlobalId: string, numbers?: Iterable<string>): AsyncGenerator<AssetReading, void, void> {
    const assets = await this.allAssets(enterpriseGlobalId);
    for (const number of numbers ?? assets.keys()) {
      const asset = assets.get(number);
      if (asset !== undefined) yield await this.#contentsOf(enterpriseGlobalId, asset);
    }
  }

  async #contentsOf(enterpriseGlobalId: string, asset: ObservedAsset): Promise<AssetReading> {
    const call = { enterpriseGlobalId, ...this.#call };
    const { products, packages } = flatten(await this.#platform.memberCenter.listAssetContents(asset.assetId, call));
    const bare = this.#settings.emptyAssets === "ambiguous" && products.length === 0 && packages.length === 0;
    return { asset, products, packages, bare };
  }

  /** M7 of every asset in the order of `contents`, several at a time: each call waits for its permit. */
  async *#allContents(enterpriseGlobalId: string): AsyncGenerator<AssetReading, void, void> {
    const asked: Promise<AssetReading>[] = [];
    for (const asset of (await this.allAssets(enterpriseGlobalId)).values()) {
      const reading = this.#contentsOf(enterpriseGlobalId, asset);
      // One that fails is told of when it is its turn, or not at all where an earlier one has failed.
      reading.catch(() => {});
      asked.push(reading);
      const first = asked.length < mostAtOnce ? undefined : asked.shift();
      if (first !== undefined) yield await first;
    }
    for (const reading of asked) yield await reading;
  }

  /** Everything of an enterprise: E3, M5 and M6 ∪ E8 side by side, and M7 of each asset. */
  async everything({
    enterpriseGlobalId,
    channelCustomerId,
  }: {
    enterpriseGlobalId: string;
    channelCustomerId: string;
  }): Promise<EnterpriseReading> {
    const [enterprises, members, rows] = await Promise.all([
      this.enterprises(channelCustomerId),
      this.members(enterpriseGlobalId),
      this.assetRows(enterpriseGlobalId),
    ]);
    return { enterprises, members, rows, contents: this.#allContents(enterpriseGlobalId) };
  }

  /** What a call has made old is read again when it is needed next. */
  forget(lists: ReadonlySet<SnapshotList>): void {
    if (lists.has("enterprises")) this.#enterprises.clear();
    if (lists.has("members")) this.#members.clear();
    if (lists.has("assets")) this.#assets.clear();
    if (lists.has("assets")) this.#assetRows.clear();
  }
}

async function once<Value>(kept: Map<string, Value>, key: string, read: () => Promise<Value>): Promise<Value> {
  const before = kept.get(key);
  if (before !== undefined) return before;
  const value = await read();
  kept.set(key, value);
  return value;
}

function saysNothing(channelCustomerId: string): AmbiguousReading {
  return new AmbiguousReading({
    code: "platform.ambiguous",
    message:
      `E3 answered null for the channel customer number ${quoted(channelCustomerId)}, which says ` +
      "neither that there is an enterprise nor that there is none",
    cure:
      "ask the operator of the service what null means; if it means that there is none, set " +
      "assumptions.nullEnterprises: none (A13)",
  });
}

type Channel = Pick<PlatformCustomer, "channelCode" | "channelCustomerId">;

function notAskedFor(asked: Channel, came: Channel): AmbiguousReading {
  const words = (channel: Channel): string =>
    `the channel customer number ${quoted(channel.channelCustomerId)} ` +
    `under the channel code ${quoted(channel.channelCode)}`;
  return new AmbiguousReading({
    code: "platform.ambiguous",
    message: `E3 was asked for ${words(asked)} and answered with ${words(came)}, so it proves nothing about either`,
    cure:
      "ask the operator of the service why E3 answers with another customer; until then nothing is " +
      "made for this one",
  });
}

/** A text that came from outside, for a message: short, and without what a terminal would obey. */
function quoted(text: string): string {
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text).replaceAll(/[\p{C}]/gu, "?");
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
