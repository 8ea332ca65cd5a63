import type { Block } from "../../engine/plan/block.ts";

/**
 * What of several purchases is bought now, where not all of it can be sent as it has to be, such as a package that
 * would go alone into an asset (A23): all that can be by itself. `rest`: why the others are not. Where nothing can be,
 * or something else keeps it, all of it goes as one.
 */
export function soldApart<Item>(
  purchases: readonly Item[],
  make: (some: readonly Item[]) => { payload: unknown } | Block,
): { now: readonly Item[]; rest?: Block } {
  const notSendable = (some: readonly Item[]): Block | undefined => {
    const made = make(some);
    return "code" in made && made.code === "order.not-sendable" ? made : undefined;
  };
  const rest = notSendable(purchases);
  if (rest === undefined) return { now: purchases };
  const now = purchases.filter((one) => notSendable([one]) === undefined);
  return now.length === 0 ? { now: purchases } : { now, rest };
}
