import { z } from "zod";
import type { CrmBooks, ToldRun } from "./crm-books.ts";

const product = z.looseObject({
  crmProductId: z.string(),
  limitConcurrent: z.int(),
  timeDurationExpression: z.string(),
  limitEndDate: z.int().optional(),
});
interface Merchandise {
  crmProductId: string;
  licenseOrderProductList: z.infer<typeof product>[] | null;
  children: Merchandise[] | null;
}
const merchandise: z.ZodType<Merchandise> = z.lazy(() =>
  z.looseObject({
    crmProductId: z.string(),
    licenseOrderProductList: z.array(product).nullable(),
    children: z.array(merchandise).nullable(),
  }),
);
const asset = z.looseObject({
  assetNos: z.array(z.string()),
  products: z.array(product),
  merchandises: z.array(merchandise).optional(),
});
const body = z.looseObject({
  orderList: z.array(z.looseObject({ orderType: z.string(), licenseType: z.string(), assets: z.array(asset) })),
});

/** A product under a number, as the sandbox was sent it. */
export interface SentProduct {
  number: string;
  order: string;
  channelOrder: string;
  licenceType: string;
  product: string;
  nodes: number;
  term: string;
  end: string | null;
  /** The run by which it was sent. */
  run: ToldRun;
}

/** A package under a number, as the sandbox was sent it. */
export type SentPackage = Pick<SentProduct, "number" | "order" | "channelOrder" | "licenceType" | "run"> & {
  item: string;
  /** What was bought in it, and in what stands in it. */
  inside: string[];
};

/** Everything that the sandbox was ever sent to buy, from the bodies that it kept, the oldest first. */
export function boughtOf(books: CrmBooks): { products: SentProduct[]; packages: SentPackage[] } {
  const products: SentProduct[] = [];
  const packages: SentPackage[] = [];
  // What a person adds on the platform stands under a number of its own.
  const numbers = Object.keys(books.sandbox.state().orders).filter((number) => number !== "by-hand");
  for (const channelOrder of numbers)
    for (const { at, body: text } of books.sandbox.batches(channelOrder)) {
      const run = books.told.find((one) => Date.parse(one.at) === at);
      if (run === undefined) throw new Error(`nothing ran when ${channelOrder} was sent`);
      const order = channelOrder.split("-")[0] ?? "";
      for (const { licenseType: licenceType, assets } of body.parse(JSON.parse(text)).orderList)
        for (const { assetNos, products: own, merchandises = [] } of assets)
          for (const number of assetNos) {
            const of = { number, order, channelOrder, licenceType, run };
            const inside = merchandises.flatMap(within);
            for (const one of [...own, ...inside.flatMap((item) => item.licenseOrderProductList ?? [])])
              products.push({
                ...of,
                product: one.crmProductId,
                nodes: one.limitConcurrent,
                term: one.timeDurationExpression,
                end: one.limitEndDate === undefined ? null : new Date(one.limitEndDate).toISOString(),
              });
            for (const item of inside) {
              const all = within(item).flatMap((one) => one.licenseOrderProductList ?? []);
              packages.push({ ...of, item: item.crmProductId, inside: all.map((one) => one.crmProductId) });
            }
          }
    }
  return { products, packages };
}

function within(item: Merchandise): Merchandise[] {
  return [item, ...(item.children ?? []).flatMap(within)];
}
