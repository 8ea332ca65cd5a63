/** Kinds of things that can be removed. Each is counted against the live things of its own kind. */
export const takenThings = ["seats", "products", "accounts", "locks"] as const;
export type TakenThing = (typeof takenThings)[number];

export function noThings(): Record<TakenThing, number> {
  return { seats: 0, products: 0, accounts: 0, locks: 0 };
}

/** What an operation removes, in units that business people know. It has numbers only and names nobody. */
export type Weight = {
  /** Asset numbers with a holder. */
  readonly seats: number;
  readonly products: number;
  readonly accounts: number;
  /** Physical locks that are disabled. */
  readonly locks: number;
  readonly nodes: number;
  /** People who hold nothing afterwards. */
  readonly lastAsset: number;
  /** People who lose something and whom the platform showed as online at planning. */
  readonly online: number;
  /** Removed locks that are lent. */
  readonly lent: number;
};

const weighed = [...takenThings, "nodes", "lastAsset", "online", "lent"] as const satisfies (keyof Weight)[];

export const noWeight: Weight = { ...noThings(), nodes: 0, lastAsset: 0, online: 0, lent: 0 };

/** What an operation removes, for limits. Seats have their asset numbers, so that each counts once. */
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

/** What its type counts (`takes`), and what is removed with it, such as the seats (`numbers`) of a deleted asset. */
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

/** How many things of each kind are removed together. A seat that several operations remove counts once. */
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

/** Whether an operation removes no more than a person was shown. It may remove less, if a part is already done. */
export function removesNoMore(now: Removes, shown: Removes): boolean {
  const counts = ["products", "accounts", "locks", "nodes"] as const;
  return now.seats.every((seat) => shown.seats.includes(seat)) && counts.every((thing) => now[thing] <= shown[thing]);
}

/** Whether an operation removes something that limits count, directly or along with another thing. */
export function isTaking({ takesAway, weight }: { takesAway: number; weight: Weight }): boolean {
  return takesAway > 0 || takenThings.some((thing) => weight[thing] > 0);
}

export function sumOf(weights: Iterable<Weight>): Weight {
  const sum = { ...noWeight };
  for (const weight of weights) for (const thing of weighed) sum[thing] += weight[thing];
  return sum;
}

/** A number for display: `2,011`. */
export function grouped(count: number): string {
  return count.toLocaleString("en");
}

function some(count: number, one: string, many = `${one}s`): string {
  return `${grouped(count)} ${count === 1 ? one : many}`;
}

/**
 * `12 seats, 3 products with 240 nodes; 4 people lose their last asset, 1 person was online, 1 lock is lent`; empty if
 * nothing is removed.
 */
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

/** What holds an operation: a limit, a policy, its type, a value that the CRM flaps, or a rebuilt ledger. */
export type HoldScope = "enterprise" | "run" | "day" | "week" | "policy" | "operation" | "flips" | "rebuilt";

/** Whether a limit holds it; otherwise the operation itself is the reason. */
export function isLimit(scope: HoldScope): boolean {
  return scope === "enterprise" || scope === "run" || scope === "day" || scope === "week";
}
