import { formatKey } from "../crm/keys.ts";
import type { Desired, DesiredStaff } from "../operation/desired.ts";
import type { MeantOperation } from "../operation/operation.ts";
import { staffReference } from "../operation/references.ts";
import type { Known, StateChange } from "../operation/state.ts";
import type { Assignment } from "../operation/state/assignments.ts";
import type { Block, BlockedRecord } from "./block.ts";
import { holdersNotRead } from "./holders.ts";
import type { Holders } from "./holders.ts";
import type { Observed } from "./input.ts";
import type { Policies } from "../operation/policy.ts";
import type { Prepared } from "./prepared.ts";
import type { Allocation, Claimed } from "./seat-allocation.ts";
import type { Membership } from "./staff-identity.ts";

/** What the grants stage looks at. */
type Given = Pick<Prepared, "customer" | "staff"> & {
  known: Pick<Known, "link" | "assignments" | "staffLinks">;
  observed: Pick<Observed, "members">;
};

export interface GrantStage {
  meant: MeantOperation<"grant-assets">[];
  changes: StateChange[];
  blocks: BlockedRecord[];
}

/**
 * Plans what is given: what each staff member should hold and M6 does not show with them (M9). What M6 shows there
 * already is adopted. `leaving` are the numbers that this plan frees: their holders lose them first (A33).
 */
export function planGrants(
  given: Given,
  claims: Allocation["claims"],
  memberships: ReadonlyMap<string, Membership>,
  shown: { holders: Holders; leaving: ReadonlySet<string>; policies: Pick<Policies, "drift"> },
): GrantStage {
  const { customer, known } = given;
  const stage: GrantStage = { meant: [], changes: [], blocks: [] };
  const assigned = new Map(known.assignments.map((item) => [item.assetNumber, item]));
  for (const staff of given.staff) {
    const key = formatKey(staff.key);
    const membership = memberships.get(key);
    if (staff.state !== "current" || membership === undefined || membership.kind === "blocked") continue;
    const memberGlobalId = membership.kind === "member" ? membership.memberGlobalId : undefined;
    // Until another account is made, the person's name leads to the one that is gone.
    if (memberGlobalId === undefined && given.known.staffLinks.has(key)) continue;
    const grants: Claimed[] = [];
    const again: Claimed[] = [];
    for (const claim of claims.get(key) ?? []) {
      const verdict = judge(known, claim, memberGlobalId, { ...shown, assigned });
      if (verdict === "grant" && !isOurs(assigned, claim, memberGlobalId)) grants.push(claim);
      else if (verdict === "grant") {
        const disagree = inM5(given.observed.members, claim.number ?? "");
        if (disagree === undefined) again.push(claim);
        else stage.blocks.push([key, disagree]);
      } else if (verdict === "adopt" && claim.number !== undefined && memberGlobalId !== undefined) {
        stage.changes.push({
          type: "asset-granted",
          assetNumber: claim.number,
          staff: staff.key,
          customer,
          memberGlobalId,
          origin: "adopted",
          operationId: null,
        });
      } else if (typeof verdict === "object") stage.blocks.push([key, verdict]);
    }
    if (shown.policies.drift.missing === "apply") grants.push(...again.splice(0));
    if (grants.length > 0) stage.meant.push(grant(given, staff, grants));
    if (again.length > 0)
      stage.meant.push({ ...grant(given, staff, again), reason: againText(again), policy: "drift.missing" });
  }
  return stage;
}

/** It was given to this very member by our doing, and nobody is shown to hold it. */
function isOurs(
  assigned: ReadonlyMap<string, Assignment>,
  { number }: Claimed,
  memberGlobalId: string | undefined,
): boolean {
  const known = number === undefined ? undefined : assigned.get(number);
  return known !== undefined && known.memberGlobalId === memberGlobalId;
}

/** M5 shows a holder of a number, and M6 shows none: nothing is done on that (A34). */
function inM5(members: Observed["members"], number: string): Block | undefined {
  const holder = members?.find((member) => !member.deleted && member.assetNums.includes(number));
  if (holder === undefined) return undefined;
  const reason = `M5 shows a holder of the asset number ${number}, and M6 shows none. crm-sync makes no assignment`;
  return { code: "asset.readings-disagree", reason, again: true };
}

function againText({ length }: readonly Claimed[]): string {
  return `M6 no longer shows ${length} asset${length === 1 ? "" : "s"} with this person; they are given again`;
}

/**
 * `after` names the number where it is known, else the unit; the payload names the unit of an instance in either case,
 * so that its hash is stable.
 */
function grant(
  { customer }: Given,
  staff: Desired<DesiredStaff>,
  grants: readonly Claimed[],
): MeantOperation<"grant-assets"> {
  return {
    kind: "grant-assets",
    customer,
    subject: `staff:${formatKey(staff.key)}`,
    records: [{ stream: "staff", ...staff.key }],
    target: { memberGlobalId: staffReference(staff.key) },
    payload: { deleteAssets: [], addAssets: grants.map((claim) => claim.payload) },
    reason: `the CRM gives this person ${grants.length} asset${grants.length === 1 ? "" : "s"} more`,
    before: null,
    after: grants.map((claim) => claim.number ?? claim.token),
  };
}

function judge(
  { link }: Pick<Known, "link">,
  claim: Claimed,
  memberGlobalId: string | undefined,
  shown: { holders: Holders; leaving: ReadonlySet<string>; assigned: ReadonlyMap<string, Assignment> },
): "grant" | "adopt" | "nothing" | Block {
  const { holders, leaving, assigned } = shown;
  if (claim.number === undefined) return "grant";
  if (holders === undefined) return link === undefined ? "grant" : holdersNotRead;
  if (!holders.has(claim.number)) {
    return {
      code: "asset.not-shown",
      reason: `the platform does not show the asset number ${claim.number} yet`,
      again: true,
    };
  }
  const holder = holders.get(claim.number) ?? null;
  const known = assigned.get(claim.number);
  if (holder === null) return "grant";
  if (holder === memberGlobalId) return known?.memberGlobalId === memberGlobalId ? "nothing" : "adopt";
  if (leaving.has(claim.number)) return "grant";
  return {
    code: "asset.held-by-another",
    reason:
      known === undefined || known.memberGlobalId !== holder
        ? `another staff member holds the asset number ${claim.number}, and crm-sync did not make that assignment`
        : `${formatKey(known.staff)} still holds the asset number ${claim.number}, and its removal is blocked`,
    again: true,
  };
}
