import { expect, it } from "vitest";
import { productInstanceSchema } from "../../../src/contract/asset-contents.ts";
import { isWhole, sightOrder } from "../../../src/resources/order/sight.ts";
import type { AssetReading } from "../../../src/platform/snapshot.ts";
import { shownAsset } from "../../support/world/records.ts";

/** How whole the platform shows an order of the products `p` and `q` under each of two numbers. */
async function isShownWhole(shown: Record<string, string[]>): Promise<boolean[]> {
  const snapshot = {
    async *contents(_enterprise: string, numbers: Iterable<string> = []): AsyncGenerator<AssetReading, void, void> {
      for (const number of numbers) {
        const products = (shown[number] ?? []).map((crmProductId) =>
          productInstanceSchema.parse({
            id: `${number} ${crmProductId}`,
            crmProductId,
            channelOrderId: "1",
            licenseOrderId: "L1",
          }),
        );
        yield { asset: shownAsset(number), products, packages: [], bare: false };
      }
    },
  };
  const record = { sequence: 1, licenseType: "softkey", customerId: "C", numbers: ["N1", "N2"], products: ["p", "q"] };
  const sight = await sightOrder(snapshot, {
    enterpriseGlobalId: "E",
    channelOrderId: "1",
    bodyHash: "h",
    version: 1,
    order: { namespace: "crm", id: "1" },
    secrets: false,
    records: [{ ...record, standing: 4 }],
  });
  return sight.records.map(isWhole);
}

it("an order is whole where each of its numbers shows all that was promised of it, and not where each shows a part", async () => {
  expect(await isShownWhole({ N1: ["p", "q"], N2: ["p", "q"] })).toEqual([true]);
  expect(await isShownWhole({ N1: ["p"], N2: ["q"] })).toEqual([false]);
  expect(await isShownWhole({ N1: ["p", "q"], N2: ["q"] })).toEqual([false]);
});
