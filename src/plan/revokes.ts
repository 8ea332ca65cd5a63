import { counted } from "../report/text.ts";
import { formatKey } from "../crm/keys.ts";
import type { RecordKey } from "../crm/model.ts";
import type { MeantOperation } from "../operation/operation.ts";
import type { Need } from "../operation/shape.ts";
import type { Known, StateChange } from "../operation/state.ts";
import type { Assignment } from "../operation/state/assignments.ts";
import type { Block, BlockedRecord } from "./block.ts";
import { holdersNotRead } from "./holders.ts";
import type { Holders } from "./holders.ts";
import type { Observed } from "./input.ts";
import type { Prepared } from "./prepared.ts";
import type { Allocation } from "./seat-allocation.ts";

/** What the revokes stage looks at. */
type Given = Pick<Prepared, "customer" | "staff" | "quarantinedInScope" | "sourceWithStrayRecord"> & {
  known: Pick<Known, "assignments">;
  observed: Pick<Observed, "members" | "unread">;
};

export interface RevokeStage {
  meant: MeantOperation<"revoke-assets">[];
  changes: StateChange[];
  blocks: BlockedRecord[];
}

/**
 * Plans what is taken away: what a person holds by our doing and should no longer hold (M9). Only what we granted or
 * adopted is ever revoked. `takingBlocked` says why nothing may be taken away now.
 */
export function planRevokes(
  given: Given,
  allocation: Pick<Allocation, "claims" | "waiting" | "staying">,
  holders: Holders,
  takingBlocked: Block | undefined,
): RevokeStage {
  const stage: RevokeStage = { meant: [], changes: [], blocks: [] };
  const states = new Map(given.staff.map((staff) => [formatKey(staff.key), staff.state]));
  const byMember = new Map<string, Leaving>();
  for (const item of given.known.assignments) {
    const key = formatKey(item.staff);
    if (states.get(key) === "quarantined" || allocation.waiting.has(key)) continue;
    if (allocation.staying.has(item.assetNumber)) continue;
    if ((allocation.claims.get(key) ?? []).some((claim) => claim.number === item.assetNumber)) continue;
    const sight = sightOf(given, holders, item);
    if (typeof sight === "object") stage.blocks.push([key, sight]);
    else if (sight === "gone") {
      stage.changes.push({ type: "asset-revoked", assetNumber: item.assetNumber, operationId: null });
    } else {
      const who = JSON.stringify([key, item.memberGlobalId]);
      const entry = byMember.get(who) ?? { staff: item.staff, memberGlobalId: item.memberGlobalId, numbers: [] };
      entry.numbers.push(item.assetNumber);
      byMember.set(who, entry);
    }
  }
  const stopped = takingBlocked ?? quarantineBlock(given);
  for (const entry of byMember.values()) {
    if (stopped === undefined) stage.meant.push(revoke(given.customer, entry, needsOf(entry, allocation)));
    else stage.blocks.push([formatKey(entry.staff), stopped]);
  }
  return stage;
}

/** Why nothing of a customer may be taken away while records that could want it kept wait in quarantine. */
export function quarantineBlock(
  given: Pick<Given, "customer" | "quarantinedInScope" | "sourceWithStrayRecord">,
): Block | undefined {
  const { quarantinedInScope: own, sourceWithStrayRecord: stray } = given;
  if (own > 0) {
    return {
      code: "revokes.blocked",
      reason:
        `${counted(own, "record")} of this customer ${own === 1 ? "waits" : "wait"} in quarantine, so nothing is ` +
        `removed: \`crm-sync explain customer ${formatKey(given.customer)}\` lists them`,
      again: true,
    };
  }
  if (stray === undefined) return undefined;
  return {
    code: "revokes.blocked",
    reason:
      `a person of the source ${stray.source} waits in quarantine, and the customer of that person is not known. So ` +
      `nothing is removed from people of ${stray.source}: \`crm-sync quarantine show ${stray.row}\` shows the person`,
    again: true,
  };
}

/** What one member loses, who is named as it was granted to, not by the person's link: that may lead elsewhere. */
interface Leaving {
  staff: RecordKey;
  memberGlobalId: string;
  numbers: string[];
}

/** Who is to have something that this plan buys keeps what they hold until that is bought. */
function needsOf({ staff }: Leaving, { claims }: Pick<Allocation, "claims">): Need[] {
  const purchases = (claims.get(formatKey(staff)) ?? []).flatMap(({ purchase }) => purchase ?? []);
  return [...new Set(purchases)].map((subject) => ({ stage: "orders", subject }));
}

function revoke(
  customer: RecordKey,
  { staff, memberGlobalId, numbers }: Leaving,
  needs: Need[],
): MeantOperation<"revoke-assets"> {
  return {
    needs,
    kind: "revoke-assets",
    customer,
    subject: `staff:${formatKey(staff)}`,
    records: [{ stream: "staff", ...staff }],
    target: { memberGlobalId },
    payload: { deleteAssets: numbers, addAssets: [] },
    reason: `the CRM no longer gives this person ${counted(numbers.length, "asset")}`,
    before: Object.fromEntries(numbers.map((number) => [number, memberGlobalId])),
    after: null,
  };
}

/** Whether an assignment of ours is still there. It counts as gone only where neither M6 nor M5 shows it (A34). */
function sightOf({ observed }: Given, holders: Holders, item: Assignment): "held" | "gone" | Block {
  const { members } = observed;
  if (holders === undefined || members === undefined) return holdersNotRead;
  if (holders.get(item.assetNumber) === item.memberGlobalId) return "held";
  if (!holders.has(item.assetNumber) && observed.unread?.seats !== undefined) return observed.unread.seats;
  const shown = members.some(
    (member) =>
      member.globalId === item.memberGlobalId && !member.deleted && member.assetNums.includes(item.assetNumber),
  );
  if (!shown) return "gone";
  return {
    code: "asset.readings-disagree",
    reason:
      `M5 shows this person as the holder of the asset number ${item.assetNumber}, and M6 does not. crm-sync removes ` +
      "nothing because of that",
    again: true,
  };
}
