export const takenThings = ["seats", "products", "accounts", "locks"] as const;
export type TakenThing = (typeof takenThings)[number];

export function noThings(): Record<TakenThing, number> {
  return { seats: 0, products: 0, accounts: 0, locks: 0 };
}

export type Weight = {
  readonly seats: number;
  readonly products: number;
  readonly accounts: number;
  readonly locks: number;
  readonly nodes: number;
  readonly lastAsset: number;
  /** People who lose something and were online at planning. */
  readonly online: number;
  readonly lent: number;
};

const weighed = [...takenThings, "nodes", "lastAsset", "online", "lent"] as const satisfies (keyof Weight)[];

export const noWeight: Weight = { ...noThings(), nodes: 0, lastAsset: 0, online: 0, lent: 0 };

export interface Removes {
  seats: readonly string[];
  products: number;
  accounts: number;
  locks: number;
  nodes: number;
}

interface Taker {
  hash: string;
  takesAway: number;
  weight: Weight;
}

export function removesOf(
  { hash, takesAway, weight }: Taker,
  takes: TakenThing | undefined,
  numbers: readonly string[],
): Removes {
  const count = (thing: TakenThing): number => (takes === thing ? takesAway : weight[thing]);
  const others = Array.from({ length: Math.max(0, count("seats") - numbers.length) }, (_, n) => `${hash} ${n}`);
  return {
    seats: [...numbers, ...others].slice(0, count("seats")).toSorted(),
    products: count("products"),
    accounts: count("accounts"),
    locks: count("locks"),
    nodes: weight.nodes,
  };
}

/** A seat that several operations remove counts once. */
export function countRemoved(all: readonly Removes[]): Record<TakenThing, number> {
  const sum = (thing: Exclude<TakenThing, "seats">): number => all.reduce((total, item) => total + item[thing], 0);
  return {
    seats: new Set(all.flatMap(({ seats }) => seats)).size,
    products: sum("products"),
    accounts: sum("accounts"),
    locks: sum("locks"),
  };
}

export function removesSomething(removes: Removes): boolean {
  const counts = countRemoved([removes]);
  return takenThings.some((thing) => counts[thing] > 0);
}

/** Whether it removes no more than a person was shown. It may remove less if a part is already done. */
export function removesNoMore(now: Removes, shown: Removes): boolean {
  const counts = ["products", "accounts", "locks", "nodes"] as const;
  return now.seats.every((seat) => shown.seats.includes(seat)) && counts.every((thing) => now[thing] <= shown[thing]);
}

export function isTaking({ takesAway, weight }: { takesAway: number; weight: Weight }): boolean {
  return takesAway > 0 || takenThings.some((thing) => weight[thing] > 0);
}

export function sumOf(weights: Iterable<Weight>): Weight {
  const sum = { ...noWeight };
  for (const weight of weights) for (const thing of weighed) sum[thing] += weight[thing];
  return sum;
}

export function grouped(count: number): string {
  return count.toLocaleString("en");
}

function some(count: number, one: string, many = `${one}s`): string {
  return `${grouped(count)} ${count === 1 ? one : many}`;
}

export function weightText(weight: Weight): string {
  const { seats, products, accounts, locks, nodes, lastAsset, online, lent } = weight;
  const things = [
    ...(seats > 0 ? [some(seats, "seat")] : []),
    ...(products > 0 ? [`${some(products, "product")}${nodes > 0 ? ` with ${some(nodes, "node")}` : ""}`] : []),
    ...(accounts > 0 ? [some(accounts, "account")] : []),
    ...(locks > 0 ? [some(locks, "lock")] : []),
  ];
  const people = [
    ...(lastAsset > 0 ? [some(lastAsset, "person loses their last asset", "people lose their last asset")] : []),
    ...(online > 0 ? [some(online, "person was online", "people were online")] : []),
    ...(lent > 0 ? [some(lent, "lock is lent", "locks are lent")] : []),
  ];
  return [things.join(", "), people.join(", ")].filter((part) => part !== "").join("; ");
}

/** What holds an operation. `operation`: its type. `flips`: a flapping value. `rebuilt`: a rebuilt ledger. */
export type HoldScope = "enterprise" | "run" | "day" | "week" | "policy" | "operation" | "flips" | "rebuilt";

export function isLimit(scope: HoldScope): boolean {
  return scope === "enterprise" || scope === "run" || scope === "day" || scope === "week";
}
