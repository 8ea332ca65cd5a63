import {
  isWanted,
  notRead,
  waitNote,
  whyNot,
  type Comparison,
  type CustomerCase,
  type Judgement,
  type ShownItem,
  type StaffCase,
} from "../../report/reconciliation/case.ts";

export function compare(item: CustomerCase): Comparison[] {
  return item.staff.flatMap((staff): Comparison[] => {
    const { key, crm, member } = staff;
    const base = { level: "staff" as const, staff: key, inCrm: isWanted(staff) };
    if (member === null)
      return base.inCrm ? [{ ...base, verdict: "missing", sent: false, shown: null, details: [whyNot(crm)] }] : [];
    const { memberGlobalId, at } = member;
    const seen = item.shown.members.get(memberGlobalId);
    const seenAt = seen?.seenAt ?? item.read?.seenAt ?? null;
    const judged = judge(item, staff, seen);
    return judged === undefined ? [] : [{ ...base, sent: true, memberGlobalId, at, seenAt, ...judged }];
  });
}

/** Undefined: gone, as the CRM wants. */
function judge(item: CustomerCase, staff: StaffCase, seen: ShownItem | undefined): Judgement | undefined {
  const notes = waitNote(staff.crm);
  if (seen === undefined && item.read?.complete !== true)
    return { verdict: "not-observable", shown: null, details: [notRead(item)] };
  if (seen === undefined || seen.body["deleted"] === true) {
    if (!isWanted(staff)) return undefined;
    const details = ["M5 does not show the member", ...notes];
    return { verdict: "missing", shown: false, details, finding: "not-shown" };
  }
  if (!isWanted(staff))
    return { verdict: "extra", shown: true, details: ["the CRM no longer has this person; the account stays"] };
  const otherwise = changedFields(seen);
  if (otherwise.length === 0) return { verdict: "matched", shown: true, details: notes };
  const details = [`M5 shows another ${otherwise.join(" and ")} than was sent`, ...notes];
  return { verdict: "different", shown: true, details, finding: "differs" };
}

function changedFields({ body: { otherwise } }: ShownItem): string[] {
  return Array.isArray(otherwise) ? otherwise.filter((field) => typeof field === "string") : [];
}
