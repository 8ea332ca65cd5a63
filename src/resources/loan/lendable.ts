import { formatKey } from "../../crm/keys.ts";
import type { RecordKey } from "../../crm/model.ts";
import type { Loan } from "./request.ts";
import type { ObservedAsset, ObservedLoan, ObservedMember } from "../../platform/snapshot.ts";
import type { Block } from "../../engine/plan/records.ts";

/** What is to go into which lock, and with whom. */
export interface MeantLoan {
  staff: RecordKey;
  memberGlobalId: string;
  lock: string;
  numbers: readonly string[];
}

/** What M5, M6 and M8 showed. */
interface Shown {
  members: readonly ObservedMember[];
  assets: readonly ObservedAsset[];
  loans: readonly ObservedLoan[];
}

/**
 * The loan with the ids that M10 takes, or why it cannot be made: the lock is not shown by M8 or is lent already, an
 * asset is not held by that member or is lent already, or the member is gone.
 */
export function loanOf({ staff, memberGlobalId, lock, numbers }: MeantLoan, shown: Shown): Loan | Block {
  if (!shown.members.some((member) => member.globalId === memberGlobalId && !member.deleted))
    return no(
      "loan.no-member",
      `M5 does not show the member ${memberGlobalId} that ${formatKey(staff)} is linked with`,
    );
  const row = shown.loans.find((loan) => loan.lock === lock);
  if (row === undefined) return no("loan.lock-not-shown", `M8 does not show ${lock} as a lock for lending`);
  if (row.lent) {
    const whom = row.borrower === null ? "somebody" : `the member ${row.borrower}`;
    return no("loan.lock-lent", `the lock ${lock} is lent to ${whom} already (M8), and crm-sync cannot return a lock`);
  }
  const assets: Loan["assets"] = [];
  for (const number of new Set(numbers)) {
    const asset = shown.assets.find((item) => item.assetNum === number);
    if (asset?.holder !== memberGlobalId)
      return no("loan.not-held", `${formatKey(staff)} does not hold the asset number ${number} (M6)`);
    if (asset.borrowed) return no("loan.asset-lent", `the asset number ${number} is lent already (M6)`);
    assets.push({ number, assetId: asset.assetId });
  }
  return { staff, memberGlobalId, assets };
}

function no(code: string, reason: string): Block {
  return { code, reason, again: true };
}
