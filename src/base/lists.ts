/** By name. Each group with its first item, in the order of first items. */
export function grouped<Item>(items: readonly Item[], nameOf: (item: Item) => unknown): [Item, Item[]][] {
  const groups = Map.groupBy(items, (item) => JSON.stringify(nameOf(item)));
  return [...groups.values()].flatMap((own) => own.slice(0, 1).map((first): [Item, Item[]] => [first, own]));
}

export function pairs<One, Other>(ones: readonly One[], others: readonly Other[]): [One, Other][] {
  return ones.flatMap((one, index) => others.slice(index, index + 1).map((other): [One, Other] => [one, other]));
}
