import { expect, it } from "vitest";
import { metByRefusal } from "../../src/engine/model/assumptions-met.ts";

const rests = [{ row: "A23", fields: ["products", "merchandises"] }] as const;

it("a refusal that names a field contradicts what rests on it, and one that names something inside it does not", () => {
  const of = (words: string) => metByRefusal(rests, { endpoint: "E5", code: "13004", words }).map(({ row }) => row);
  expect(of("orderList[0].assets[0].products: must repeat those of merchandises")).toEqual(["A23"]);
  expect(of("products must not be empty.")).toEqual(["A23"]);
  expect(of("the field products.")).toEqual(["A23"]);
  for (const words of ["orderList[0].assets[0].products[1].productType: unknown", "products.productType", "byproducts"])
    expect(of(words), words).toEqual([]);
});
