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

/**
 * An answer that has the contract's form and cannot be believed: it proves neither that something is there nor that it
 * is not.
 */
export class AmbiguousReading extends Problem {}

/**
 * Readings of the platform for one customer. Every one of them rejects where the platform gave nothing: a failed read
 * is never "none".
 */
export class SnapshotReader {
  readonly #platform: Platform;
  readonly #settings: AssumptionSettings;

  constructor(platform: Platform, settings: AssumptionSettings) {
    this.#platform = platform;
    this.#settings = settings;
  }

  /**
   * E3 over all configured channel codes, and those that were configured when `alsoUnder` was written: the enterprises
   * under a channel customer number, each with its customers. Throws an AmbiguousReading where one row is not exactly
   * what was asked for, and where null or no data came and the settings do not say that this means none (A13).
   */
  async enterprises(
    customer: RecordKey,
    channelCustomerId: string,
    signal?: AbortSignal,
    alsoUnder: readonly string[] = [],
  ): Promise<ShownEnterprise[]> {
    const found = new Map<string, Map<string, PlatformCustomer>>();
    for (const channelCode of new Set([...channelCodesOf(this.#settings), ...alsoUnder])) {
      const rows = await this.#platform.orderService.findCustomers(channelCode, channelCustomerId, "N", {
        customer: formatKey(customer),
        signal,
      });
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
  async lookUp(
    customer: RecordKey,
    channelCustomerId: string,
    signal?: AbortSignal,
  ): Promise<{ enterprises: ShownEnterprise[] | undefined; ambiguous?: string }> {
    try {
      return { enterprises: await this.enterprises(customer, channelCustomerId, signal) };
    } catch (error) {
      if (!(error instanceof AmbiguousReading)) throw error;
      return { enterprises: undefined, ambiguous: `${error.message}; ${error.cure}` };
    }
  }

  /** M5, all pages. */
  async members(customer: RecordKey, enterpriseGlobalId: string, signal?: AbortSignal): Promise<ObservedMember[]> {
    const list = await this.#platform.memberCenter.listStaff(enterpriseGlobalId, {
      customer: formatKey(customer),
      signal,
    });
    return list.rows.map((row) => ({
      globalId: row.globalId,
      userName: row.userName,
      name: row.name ?? "",
      deleted: row.deleted,
      assetNums: row.assetNums,
    }));
  }

  /** M6. */
  async assets(customer: RecordKey, enterpriseGlobalId: string, signal?: AbortSignal): Promise<ObservedAsset[]> {
    const rows = await this.#platform.memberCenter.listAssetNumbers(enterpriseGlobalId, {
      customer: formatKey(customer),
      signal,
    });
    return rows.map((row) => ({
      assetNum: row.assetNum,
      assetId: row.assetId,
      holder: row.cloudAccountGlobalId,
      borrowed: row.borrowedFlag,
    }));
  }

  /** M6 ∪ E8: every asset that the platform can show, by number. */
  async allAssets(
    customer: RecordKey,
    enterpriseGlobalId: string,
    signal?: AbortSignal,
  ): Promise<Map<string, ObservedAsset>> {
    return byNumber(await this.assetRows(customer, enterpriseGlobalId, signal));
  }

  /** M6 ∪ E8 row by row: those of M6, then those of E8 whose number M6 does not show. */
  async assetRows(customer: RecordKey, enterpriseGlobalId: string, signal?: AbortSignal): Promise<ObservedAsset[]> {
    const rows = await this.assets(customer, enterpriseGlobalId, signal);
    const inM6 = new Set(rows.map((asset) => asset.assetNum));
    const virtual = await this.#platform.orderService.listVirtualAssets(enterpriseGlobalId, {
      customer: formatKey(customer),
      signal,
    });
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
  }

  /** M7 of one asset. */
  async contents(
    customer: RecordKey,
    enterpriseGlobalId: string,
    asset: ObservedAsset,
    signal?: AbortSignal,
  ): Promise<AssetReading> {
    const contents = await this.#platform.memberCenter.listAssetContents(asset.assetId, {
      enterpriseGlobalId,
      customer: formatKey(customer),
      signal,
    });
    const { products, packages } = flatten(contents);
    const bare = this.#settings.emptyAssets === "ambiguous" && products.length === 0 && packages.length === 0;
    return { asset, products, packages, bare };
  }
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
export function byNumber(rows: readonly ObservedAsset[]): Map<string, ObservedAsset> {
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
