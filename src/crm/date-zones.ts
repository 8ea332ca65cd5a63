/**
 * The zones in which a source gave dates of a record as local ones, by field: `placedAt` of an order,
 * `product.limitEnd` of its products. A field that is given as an instant, or not in one zone throughout the record, is
 * not among them. They stand beside the record: what it says is its instants.
 */
export type DateZones = Readonly<Record<string, string>>;
