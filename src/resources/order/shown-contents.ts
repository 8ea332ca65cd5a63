import type { ProductInstance } from "../../contract/asset-contents.ts";
import type { AssetReading } from "../../platform/snapshot.ts";
import type { PlannedProduct } from "./order-records.ts";

/** A product as M7 shows it, under its asset number. */
export interface ShownProduct extends ProductInstance {
  number: string;
}

/** Everything that M7 shows of an enterprise, and what it says nothing about. */
export class ShownContents {
  readonly #products: readonly ShownProduct[];
  readonly #bare: ReadonlySet<string>;
  readonly #listed: ReadonlySet<string>;
  readonly #hiddenTypes: ReadonlySet<string>;

  /** `hiddenTypes`: licence types that the platform is not known to show (A43). */
  constructor(readings: readonly AssetReading[], hiddenTypes: ReadonlySet<string>) {
    this.#products = readings.flatMap(({ asset, products }) =>
      products.map((product) => ({ ...product, number: asset.assetNum })),
    );
    this.#listed = new Set(readings.map(({ asset }) => asset.assetNum));
    this.#bare = new Set(readings.filter(({ bare }) => bare).map(({ asset }) => asset.assetNum));
    this.#hiddenTypes = hiddenTypes;
  }

  /** Rows of one product of the CRM, under one asset number where it is known. */
  of(crmProductId: string, number: string | undefined): ShownProduct[] {
    return this.#products.filter(
      (row) => row.crmProductId === crmProductId && (number === undefined || row.number === number),
    );
  }

  /** The one row that is this form of a product and names no product of the CRM; none where more than one is. */
  unnamed(product: PlannedProduct, number: string | undefined): ShownProduct[] {
    const rows = this.#products.filter(
      (row) =>
        (row.crmProductId ?? "") === "" && (number === undefined || row.number === number) && isForm(row, product),
    );
    return rows.length === 1 ? rows : [];
  }

  /** Whether not being shown proves that it is not there. */
  speaksOf(licenseType: string, number: string | undefined): boolean {
    if (this.#hiddenTypes.has(licenseType)) return false;
    if (number === undefined) return this.#bare.size === 0;
    return this.#listed.has(number) && !this.#bare.has(number);
  }
}

/** Whether a row of M7 is this form of a product, as far as M7 tells forms apart: by what it is, and its nodes. */
export function isForm(row: ShownProduct, product: PlannedProduct): boolean {
  const uri = product.gmsPid ?? product.appKey;
  return row.limitConcurrent === product.nodes && (uri === undefined || uriOf(row).includes(uri));
}

function uriOf({ productUri, gmsPid, appKey }: ShownProduct): (string | null | undefined)[] {
  return [productUri, gmsPid, appKey];
}
