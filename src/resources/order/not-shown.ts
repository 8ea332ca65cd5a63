import { formatKey } from "../../crm/keys.ts";
import type { RecordKey } from "../../crm/model.ts";
import type { OrderWithTree } from "../../engine/model/desired.ts";
import type { SettleFacts, WhenNotFound } from "../../engine/model/operation-type.ts";
import type { Block } from "../../engine/plan/block.ts";
import { placedBefore } from "./adoption.ts";
import { isWanted } from "./model.ts";
import type { OrderContext } from "./payload.ts";

/** Whether the platform was ever seen to show assets of a licence type, or is said to (A43). */
type IsShown = (licenseType: string) => Promise<boolean>;

/** What is known of an order that no enterprise shows, beside the reading. */
interface NotThere {
  order: OrderWithTree;
  /** Why the reading proves nothing: something was not read, or cannot be seen. */
  waits: Block | undefined;
  /** A ledger that was lost or set back had it as placed. */
  wasPlaced: boolean;
}

/**
 * What each of them concludes from an order that the platform does not show. All five read the same, (M6 ∪ E8) → M7
 * (`Snapshot.contents`). They must not conclude the same: each knows something else, and has something else to lose.
 *
 * | who asks | not shown means | unless |
 * |---|---|---|
 * | `settle`: a purchase without an answer | a person decides | `orders.unseen: resend` and no hidden licence type: sent again, or dropped if the CRM wants something else |
 * | `afterRefusal`: a purchase that was refused | it did nothing, and may be sent | a part of it may be there, of a hidden licence type: a person looks |
 * | `adopt`: an enterprise that others made | it is not there, and is bought | it waits for what was not read or cannot be seen, and if it was placed before |
 * | `rebuild`: a ledger that is made anew | as `adopt`; what was placed before or is not wanted counts as placed, with nothing left of it | its customer has no enterprise: as `adopt` |
 * | `restore`: a backup that was put back | it is not brought back, and is read anew | all its licence types are hidden: it counts as the backup has it |
 */
export const ifNotShown = {
  settle: async (
    { context, customer }: { context: OrderContext; customer: RecordKey },
    facts: SettleFacts,
  ): Promise<WhenNotFound> => {
    if (facts.ordersUnseen !== "resend") {
      return {
        kind: "park",
        reason: "the platform does not show the order, which proves nothing; a person decides (orders.unseen: ask)",
      };
    }
    // Before what the CRM wants now: an order that may be there unseen is not taken for one that is not, whatever
    // became of its record.
    const hidden = await hiddenTypeOf(typesOf(context), async (type) => await facts.isShown(type));
    if (hidden !== undefined) {
      return {
        kind: "park",
        reason:
          `the platform was never seen to show assets of the licence type ${hidden} (A43: ` +
          "assumptions.visibleLicenseTypes), so not seeing the order says nothing",
      };
    }
    return await afterWish(context, customer, facts);
  },

  /** In words, what of it may be there; undefined: nothing. */
  afterRefusal: async (context: OrderContext, isShown: IsShown): Promise<string | undefined> => {
    const hidden = context.records.length < 2 ? undefined : await hiddenTypeOf(typesOf(context), isShown);
    if (hidden === undefined) return undefined;
    return (
      "a part of it may be there: the platform was never seen to show assets of the licence type " +
      `${hidden} (A43: assumptions.visibleLicenseTypes)`
    );
  },

  /** Why it waits; undefined: it is not there. */
  adopt: ({ order, waits, wasPlaced }: NotThere): Block | undefined => {
    if (!isWanted(order)) return undefined;
    return waits ?? (wasPlaced ? placedBefore(order) : undefined);
  },

  /** `enterprise`: whose doing the enterprise of its customer is. */
  rebuild: (of: NotThere & { enterprise: "ours" | "others" | "none" }): Block | "counts as placed" | undefined => {
    const { order, waits, wasPlaced, enterprise } = of;
    const counts = isWanted(order) ? wasPlaced && enterprise !== "none" : enterprise === "others";
    return waits === undefined && counts ? "counts as placed" : ifNotShown.adopt(of);
  },

  /** Whether it counts as the backup has it. */
  restore: async (licenseTypes: ReadonlySet<string>, isShown: IsShown): Promise<boolean> => {
    for (const type of licenseTypes) if (await isShown(type)) return false;
    return licenseTypes.size > 0;
  },
};

function typesOf({ records }: OrderContext): string[] {
  return records.map(({ licenseType }) => licenseType);
}

/** The first of these licence types that the platform was never seen to show (A43). */
export async function hiddenTypeOf(licenseTypes: readonly string[], isShown: IsShown): Promise<string | undefined> {
  for (const type of licenseTypes) if (!(await isShown(type))) return type;
  return undefined;
}

/**
 * Whether the CRM still wants the very order of an intent. If it was cancelled, changed or moved since, the intent is
 * not sent again: what the CRM wants now is planned anew.
 */
async function afterWish(context: OrderContext, customer: RecordKey, facts: SettleFacts): Promise<WhenNotFound> {
  const now = await facts.orderNow(context.order);
  if (now?.state === "quarantined") return { kind: "unreadable", reason: "the order's record waits in quarantine" };
  const isSame =
    now?.state === "current" &&
    !now.cancelled &&
    now.bodyHash === context.bodyHash &&
    formatKey(now.customer) === formatKey(customer);
  if (!isSame) return { kind: "drop" };
  const why = "not shown in complete readings over the settle time (orders.unseen: resend)";
  return { kind: "send-again", why };
}
