/** What a person fills in, for licence products that are sold by seats or by packs of them. */
export const tables = {
  products: {
    inline: {
      "LIC-CAD-10": {
        gmsPid: "P-1",
        licenseType: "cloud_account",
        type: "tool",
        timeUnit: "YEAR",
        timeUnitQuantity: 1,
        term: "1-0-0",
      },
      "LIC-COST": {
        gmsPid: "P-2",
        licenseType: "cloud_account",
        type: "tool",
        timeUnit: "MONTH",
        timeUnitQuantity: 6,
        term: "0-6-0",
      },
    },
  },
  packs: { inline: { "LIC-CAD-10": 10 } },
};

/** The two instances that a line becomes, as canonical records have them: an asset for each seat, with its product. */
export function instancesOf(
  line: string | number,
  product: keyof typeof tables.products.inline,
  quantity: number,
): unknown[] {
  const { gmsPid, licenseType, type, timeUnit, timeUnitQuantity, term } = tables.products.inline[product];
  return [
    assetOf(`A${line}`, licenseType, quantity),
    {
      kind: "product",
      id: `P${line}`,
      parentId: `A${line}`,
      name: product === "LIC-COST" ? "Costing" : "CAD",
      gmsPid,
      type,
      nodes: 1,
      trial: false,
      timeUnit,
      timeUnitQuantity,
      term,
      features: [],
    },
  ];
}

function assetOf(id: string, licenseType: string, quantity: number): unknown {
  return { kind: "asset", id, licenseType, assetNumbers: [], quantity, extensions: [] };
}

/** A value as a service compares it with a text. */
export function comparable(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value ?? null);
}
