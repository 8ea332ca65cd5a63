import type { AssetReading } from "../../platform/snapshot.ts";
import type { ShownForm } from "../../ledger/state/observations.ts";
import { canonicalJson, toJson } from "../../base/canonical-json.ts";
import type { ProductInstance } from "../../contract/asset-contents.ts";
import {
  productsUnder,
  uriOf,
  termsOf as assetTermsOf,
  type AssetTerms,
  type FormPackage,
  type FormProduct,
  type StandingProduct,
} from "./model.ts";
import type { AssumptionSettings, PayloadUse } from "../../contract/assumption-settings.ts";
import { decodeTime, encodeTime } from "../../contract/time-codec.ts";

export function termsOf({ name: _name, amount: _amount, passwords, features, ...terms }: FormProduct): object {
  return {
    ...terms,
    // The version of the record that holds the passwords is not a term.
    passwords: passwords?.commitment,
    features: features.map(({ name: _called, ...feature }) => feature),
  };
}

/** Product ids that end in a package; undefined if it differs in anything else. Products can only be removed (A42). */
export function endedIn(
  { name: _name, products, children, ...terms }: FormPackage,
  wanted: FormPackage,
  stands: ReadonlySet<string>,
): string[] | undefined {
  const { name: _called, products: wantedProducts, children: wantedChildren, ...wantedTerms } = wanted;
  if (!isSame(terms, wantedTerms)) return undefined;
  const isHere = (product: FormProduct): boolean =>
    stands.has(product.id) && products.some((one) => one.id === product.id && changedTerms(one, product).length === 0);
  if (!wantedProducts.every(isHere)) return undefined;
  const inChildren = wantedChildren.map((child) => {
    const stood = children.find(({ id }) => id === child.id);
    return stood === undefined ? undefined : endedIn(stood, child, stands);
  });
  if (inChildren.includes(undefined)) return undefined;
  const gone = children.filter(({ id }) => !wantedChildren.some((child) => child.id === id));
  const ended = [...products, ...gone.flatMap(productsUnder)].filter(
    ({ id }) => stands.has(id) && !wantedProducts.some((product) => product.id === id),
  );
  return [...ended.map(({ id }) => id), ...inChildren.flatMap((ids) => ids ?? [])];
}

export function changedTerms(before: FormProduct, after: FormProduct): string[] {
  return changedFields(termsOf(before), termsOf(after));
}

export function changedAssetTerms(before: AssetTerms, after: AssetTerms): string[] {
  return changedFields(assetTermsOf(before), assetTermsOf(after));
}

export function isRowOf(row: ProductInstance, { product, channelOrderId }: StandingProduct): boolean {
  return row.crmProductId === product.id && row.channelOrderId === channelOrderId;
}

/** A limit for a delete order, or why it cannot be read. `lacks`: a setting is missing. */
type WireLimit = { wire: string | number | undefined } | { fault: string; lacks?: true };

/** Converts limits that M7 shows, and bought limits, to the form that E5 takes (A20, A21). */
export class Limits {
  readonly #settings: AssumptionSettings;
  readonly uses = new Set<PayloadUse>();

  constructor(settings: AssumptionSettings) {
    this.#settings = settings;
  }

  shown(value: ProductInstance["limitEndTime"]): WireLimit {
    const { timeCodecs, sentinels, dateZone } = this.#settings;
    if (value === null || value === undefined || sentinels.shownNoLimit.includes(value)) return { wire: undefined };
    this.uses.add("delete-limit").add("product-limit");
    if (timeCodecs.readLimit === undefined) return { fault: "the unit of what M7 shows is not known", lacks: true };
    const read = decodeTime(timeCodecs.readLimit, value, dateZone);
    return read.ok ? this.bought(read.value) : { fault: read.error };
  }

  bought(instant: string | undefined): WireLimit {
    if (instant === undefined) return { wire: undefined };
    const { timeCodecs, dateZone } = this.#settings;
    this.uses.add("product-limit");
    if (timeCodecs.productLimit === undefined) return { fault: "the unit of limits is not known", lacks: true };
    const written = encodeTime(timeCodecs.productLimit, instant, "long", dateZone);
    return written.ok ? { wire: written.value } : { fault: written.error };
  }

  /** Compares the limit that M7 shows with the bought one. `fault`: why the shown limit cannot be read. */
  compared(value: ProductInstance["limitEndTime"], instant: string | undefined) {
    const shown = this.shown(value);
    const bought = this.bought(instant);
    // A missing setting is reported by name before anything is sent.
    if ("fault" in bought || ("fault" in shown && shown.lacks)) return { is: "silent" } as const;
    if ("fault" in shown) return { is: "unreadable", fault: shown.fault, bought: bought.wire } as const;
    const is: "same" | "other" = shown.wire === bought.wire ? "same" : "other";
    return { is, shown: shown.wire, bought: bought.wire };
  }

  /** Whether an asset may repeat the products of its packages (A23), so that M7 shows them twice. */
  get repeats(): boolean {
    const { packageProducts, packageOnly } = this.#settings;
    return packageProducts === "repeat" || packageOnly === "repeat";
  }

  /** The values that a strict deletion compares (D: contract E5). */
  matched({ productUri, limitConcurrent, limitStartTime, limitEndTime }: ProductInstance): string {
    const limit = (value: ProductInstance["limitEndTime"]): unknown => {
      const read = this.shown(value);
      return "fault" in read ? { unread: value } : (read.wire ?? null);
    };
    return JSON.stringify([productUri, limitConcurrent, limit(limitStartTime), limit(limitEndTime)]);
  }
}

type ObservedForm = Pick<ProductInstance, keyof ShownForm>;

/** `silent`: M7 shows no value, or no setting says how to read it (A20). `unreadable`: not a time in that unit. */
type Observed = "same" | "other" | "silent" | "unreadable";

/**
 * Callers judge `silent` and `other` differently: an adopted order may have empty terms, a form that is read back may
 * not, and a deletion has its own rules (R4).
 */
export function observedTerms(row: ObservedForm, product: FormProduct, limits: Limits) {
  const { trial } = row;
  const term = row.timeDurationExpression ?? "";
  return {
    uri: observedUri(row, product),
    nodes: observedNodes(row, product),
    limitStart: limits.compared(row.limitStartTime, product.limitStart).is,
    limitEnd: limits.compared(row.limitEndTime, product.limitEnd).is,
    trial: trial === null || trial === undefined ? "silent" : sameOrOther((trial === 1) === product.trial),
    term: term === "" ? "silent" : sameOrOther(term === product.term),
  } satisfies Record<string, Observed>;
}

/** Whether a row shows this form, by the two terms that M7 always shows: product and nodes. */
export function isForm(row: ObservedForm, product: FormProduct): boolean {
  return observedUri(row, product) === "same" && observedNodes(row, product) === "same";
}

function observedUri({ productUri, gmsPid, appKey }: ObservedForm, product: FormProduct): Observed {
  const uri = uriOf(product);
  const shown = [productUri, gmsPid, appKey].filter((text) => (text ?? "") !== "");
  if (uri === undefined) return "same";
  return shown.length === 0 ? "silent" : sameOrOther(shown.includes(uri));
}

function observedNodes({ limitConcurrent }: ObservedForm, { nodes }: FormProduct): Observed {
  return limitConcurrent === null || limitConcurrent === undefined ? "silent" : sameOrOther(limitConcurrent === nodes);
}

function sameOrOther(isSame: boolean): Observed {
  return isSame ? "same" : "other";
}

function changedFields(before: object, after: object): string[] {
  const one = new Map(Object.entries(before));
  const other = new Map(Object.entries(after));
  return [...new Set([...one.keys(), ...other.keys()])].filter((name) => !isSame(one.get(name), other.get(name)));
}

export function isSame(one: unknown, other: unknown): boolean {
  return one === undefined || other === undefined
    ? one === other
    : canonicalJson(toJson(one)) === canonicalJson(toJson(other));
}

/** Whether a strict deletion of one product also removes another one under the same asset number (R4). */
export function isTwin(row: ProductInstance, other: ProductInstance, limits: Limits): boolean {
  const isElsewhere = (other.licenseOrderId ?? "") !== "" && other.licenseOrderId !== row.licenseOrderId;
  return other !== row && !isElsewhere && limits.matched(other) === limits.matched(row);
}

export function twinOf(
  row: ProductInstance,
  { products }: Pick<AssetReading, "products">,
  going: ReadonlySet<ProductInstance>,
  limits: Limits,
): ProductInstance | undefined {
  return products.find((other) => !going.has(other) && isTwin(row, other, limits));
}
