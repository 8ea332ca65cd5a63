import type { OrderHistory } from "./fold.ts";
import type { RecordKey } from "../../crm/model.ts";
import type { Desired, DesiredCustomer, OrderWithTree, RecordState } from "../../engine/desired.ts";
import type { OrderStanding } from "./order-standing.ts";

/** An asset that was taken away: nothing stands under its number. */
export interface EndedAsset {
  number: string;
  namespace: string;
  instanceId: string;
}

/** An order that moved away from the customer in the CRM, and of which something may stand here still. */
export interface AwayOrder {
  /** As the CRM says it now, for its owner. */
  order: OrderWithTree;
  owner: RecordKey;
  /** What stands of it here; `lost`: nobody knows that; undefined where it was never placed. */
  standing: OrderStanding | { lost: string } | undefined;
  /** Why nobody knows what of it its owner has already; undefined where that is known. */
  unclear: string | undefined;
  /** The record of its owner; undefined where the CRM gave none. */
  buyer: Desired<DesiredCustomer> | undefined;
  /** Numbers that the CRM gives to the order and that it cannot have, even after nothing of it is left here. */
  taken: readonly string[];
}

/** What exists of an order for a customer that it moved away from; `lost`: nobody knows that. */
export interface LeftBehind {
  customer: RecordKey;
  standing: OrderStanding | { lost: string };
}

/** An order of which a run did something. */
export interface UndoneOrder {
  /** Undefined: it does not stand placed for this customer. */
  history: OrderHistory | undefined;
  /** What the CRM says of it now, whether it waits to be planned or not. */
  now: { bodyHash: string; state: RecordState } | undefined;
}

declare module "../../engine/plan/input.ts" {
  interface CustomerInput {
    /**
     * Orders that wait for a change of their own, so that nothing of them is planned, and that take over something of
     * orders of which something may end.
     */
    takers?: readonly OrderWithTree[] | undefined;
    /** What stands of placed orders of which the CRM says something else now, by order; `lost`: why nobody knows that. */
    standings?: ReadonlyMap<string, OrderStanding | { lost: string }> | undefined;
    /** Another customer for whom something of a placed order exists, or may exist, and what, by order. */
    left?: ReadonlyMap<string, LeftBehind> | undefined;
    /** Orders that moved away from the customer in the CRM. */
    away?: readonly AwayOrder[] | undefined;
    /** Earlier orders that orders of this customer name, and that are another customer's: whose, by order. */
    earlierOwners?: ReadonlyMap<string, RecordKey> | undefined;
    /** Earlier orders of its own that are named so, do not stand as the CRM says, and are not looked at now. */
    earlier?: readonly OrderWithTree[] | undefined;
    /** Placed orders of which licence passwords are kept still, of whatever form. */
    sealed?: ReadonlySet<string> | undefined;
    /** Asset numbers fixed to units of placed orders whose purchase was never made, where there is any staff. */
    unbought?: ReadonlySet<string> | undefined;
    /** What ended of placed orders that stand as the CRM says, where there is any staff. */
    ended?: readonly EndedAsset[] | undefined;
    /** The customer's own orders that moved back to where nobody knows what they left. */
    unclear?: readonly OrderWithTree[] | undefined;
  }
  interface Observed {
    /** What is to go and enough readings of M7 left out over the settle time, by order: names of `absentName`. */
    gone?: ReadonlyMap<string, ReadonlySet<string>> | undefined;
    /** Orders that may be on the platform already, whole or in part, and why they wait; by order. */
    unclearOrders?: ReadonlyMap<string, { code: string; reason: string; again: boolean }> | undefined;
  }
}
declare module "../../engine/plan/undoing.ts" {
  interface UndoFacts {
    orders: ReadonlyMap<string, UndoneOrder>;
  }
}
