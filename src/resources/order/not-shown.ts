import { formatKey } from "../../crm/keys.ts";
import type { RecordKey } from "../../crm/model.ts";
import type { OrderWithTree } from "../../engine/model/desired.ts";
import type { SettleFacts, WhenNotFound } from "../../engine/model/operation-type.ts";
import type { Block } from "../../engine/plan/blocks.ts";
import { placedBefore } from "./adoption.ts";
import { isWanted } from "./model.ts";
import type { OrderContext } from "./shapes.ts";

type IsShown = (licenseType: string) => Promise<boolean>;

interface NotThere {
  order: OrderWithTree;
  /** Why the reading proves nothing: something was not read, or is hidden. */
  waits: Block | undefined;
  wasPlaced: boolean;
}

/**
 * The platform does not show an order. What does that mean? Five callers ask. All read (M6 ∪ E8) → M7
 * (`Snapshot.contents`), and each needs its own answer: a wrong one buys an order twice, or loses it.
 * A licence type is hidden if the platform was never seen to show assets of it (A43).
 *
 * | caller | answer | except |
 * |---|---|---|
 * | `settle`: a purchase without an answer | A person decides. | `orders.unseen: resend`, no hidden type: it is sent again, or dropped if the CRM changed it. |
 * | `afterRefusal`: a rejected purchase | It did nothing and can be sent. | It has several records, one of a hidden type: a person decides. |
 * | `adopt`: an enterprise that crm-sync did not create | It does not exist and is bought. | Something was not read, a type is hidden, or a backup has it as placed: it waits. |
 * | `rebuild`: a new ledger | As `adopt`. If it was placed before, or the CRM does not want it and others created the enterprise, it counts as placed and empty. | The customer has no enterprise: as `adopt`. |
 * | `restore`: an older ledger | It is not brought back; the rebuild decides. | All its types are hidden, and it agrees with the CRM: it counts as the backup has it. |
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
    // This comes first: an order of a hidden type may exist, even if the CRM does not want it any more.
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

  /** What may exist of it, in words; undefined: nothing. */
  afterRefusal: async (context: OrderContext, isShown: IsShown): Promise<string | undefined> => {
    const hidden = context.records.length < 2 ? undefined : await hiddenTypeOf(typesOf(context), isShown);
    if (hidden === undefined) return undefined;
    return (
      "a part of it may be there: the platform was never seen to show assets of the licence type " +
      `${hidden} (A43: assumptions.visibleLicenseTypes)`
    );
  },

  adopt: ({ order, waits, wasPlaced }: NotThere): Block | undefined => {
    if (!isWanted(order)) return undefined;
    return waits ?? (wasPlaced ? placedBefore(order) : undefined);
  },

  rebuild: (of: NotThere & { enterprise: "ours" | "others" | "none" }): Block | "counts as placed" | undefined => {
    const { order, waits, wasPlaced, enterprise } = of;
    const counts = isWanted(order) ? wasPlaced && enterprise !== "none" : enterprise === "others";
    return waits === undefined && counts ? "counts as placed" : ifNotShown.adopt(of);
  },

  restore: async (licenseTypes: ReadonlySet<string>, isShown: IsShown): Promise<boolean> => {
    for (const type of licenseTypes) if (await isShown(type)) return false;
    return licenseTypes.size > 0;
  },
};

function typesOf({ records }: OrderContext): string[] {
  return records.map(({ licenseType }) => licenseType);
}

/** The first licence type that the platform is not known to show (A43). */
export async function hiddenTypeOf(licenseTypes: readonly string[], isShown: IsShown): Promise<string | undefined> {
  for (const type of licenseTypes) if (!(await isShown(type))) return type;
  return undefined;
}

/** An intent is sent again only if the CRM still wants the same order. Otherwise the current wish is planned anew. */
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
