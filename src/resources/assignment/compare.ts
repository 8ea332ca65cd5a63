import { formatKey } from "../../crm/keys.ts";
import {
  isSince,
  isWanted,
  notRead,
  sentSince,
  stillShown,
  waitNote,
  whyNot,
  type AssignmentCase,
  type Comparison,
  type CustomerCase,
  type Judgement,
  type ReconciliationView,
  type ShownItem,
  type StaffCase,
} from "../../report/reconciliation/case.ts";

export function compare(item: CustomerCase, view: ReconciliationView): Comparison[] {
  const rows: Comparison[] = [];
  const live = new Map(item.assignments.map((assignment) => [assignment.assetNumber, assignment]));
  const claimed = new Set<string>();
  const unmet: Comparison[] = [];
  for (const staff of item.staff) {
    for (const claim of isWanted(staff) ? staff.claims : []) {
      const held = claim.numbers.find(
        (number) =>
          !claimed.has(number) &&
          formatKey(live.get(number)?.staff ?? { namespace: "", id: "" }) === formatKey(staff.key),
      );
      if (held === undefined) unmet.push(unmetRow(item, staff, claim));
      else claimed.add(held);
    }
  }
  const people = new Map(item.staff.map((staff) => [formatKey(staff.key), staff]));
  for (const assignment of item.assignments) {
    rows.push(
      assignmentRow(item, view, {
        assignment,
        staff: people.get(formatKey(assignment.staff)),
        wanted: claimed.has(assignment.assetNumber),
      }),
    );
  }
  rows.push(...unmet);
  for (const [number, shown] of item.shown.assets) {
    const holder = holderOf(shown);
    if (holder === null || live.has(number)) continue;
    const freed = item.freed.get(number);
    if (freed?.memberGlobalId === holder && freed.at < shown.seenAt) {
      rows.push({ ...stillShown(shown, "with the same person"), level: "assignment", assetNumber: number });
      continue;
    }
    rows.push({
      level: "assignment",
      verdict: "extra",
      assetNumber: number,
      memberGlobalId: holder,
      inCrm: false,
      sent: false,
      shown: true,
      details: ["held by a member that crm-sync did not assign it to"],
      seenAt: shown.seenAt,
    });
  }
  return [...rows, ...disagreements(item)];
}

/** Assets with different holders in M5 and M6. crm-sync only reports them (A34). */
function disagreements(item: CustomerCase): Comparison[] {
  const inM5 = new Map<string, string>();
  for (const [member, { body }] of item.shown.members) {
    if (body["deleted"] === true || !Array.isArray(body["assetNums"])) continue;
    for (const number of body["assetNums"]) if (typeof number === "string") inM5.set(number, member);
  }
  return [...item.shown.assets].flatMap(([number, shown]): Comparison[] => {
    const [first, second] = [inM5.get(number) ?? null, holderOf(shown)];
    // M5 may leave out holders, so only two different names contradict each other.
    if (first === null || first === second) return [];
    const other = second === null ? "with nobody" : `with the member ${second}`;
    return [
      {
        level: "assignment",
        verdict: "different",
        assetNumber: number,
        item: "by M5",
        memberGlobalId: first,
        inCrm: false,
        sent: false,
        shown: true,
        details: [`M5 shows it with the member ${first}, and M6 ${other}; nothing is done on it (A34)`],
        seenAt: shown.seenAt,
        finding: "differs",
      },
    ];
  });
}

interface AssignmentOf {
  assignment: AssignmentCase;
  staff: StaffCase | undefined;
  wanted: boolean;
}

function assignmentRow(item: CustomerCase, view: ReconciliationView, of: AssignmentOf): Comparison {
  const { assignment, wanted } = of;
  const shown = item.shown.assets.get(assignment.assetNumber);
  return {
    level: "assignment",
    order: assignment.order ?? undefined,
    licenseType: assignment.licenseType ?? undefined,
    assetNumber: assignment.assetNumber,
    staff: assignment.staff,
    memberGlobalId: assignment.memberGlobalId,
    inCrm: wanted,
    sent: true,
    operationId: assignment.operationId,
    at: assignment.at,
    seenAt: shown?.seenAt ?? item.read?.seenAt ?? null,
    ...judgeAssignment(item, view, of, shown),
  };
}

function judgeAssignment(
  item: CustomerCase,
  view: ReconciliationView,
  { assignment, staff, wanted }: AssignmentOf,
  shown: ShownItem | undefined,
): Judgement {
  const notes = waitNote(staff?.crm ?? null);
  const missing = (detail: string): Judgement =>
    isSince(item, assignment.at)
      ? { verdict: "not-observable", shown: null, details: [sentSince, ...notes] }
      : { verdict: "missing", shown: false, details: [detail, ...notes], finding: "not-shown" };
  if (shown === undefined) {
    const { licenseType } = assignment;
    if (item.read?.complete !== true) return { verdict: "not-observable", shown: null, details: [notRead(item)] };
    if (licenseType === null || view.visibleTypes.has(licenseType))
      return missing("neither M6 nor E8 shows the asset number");
    return { verdict: "not-observable", shown: null, details: [`the platform has shown no ${licenseType} yet (A43)`] };
  }
  const holder = holderOf(shown);
  if (holder === null) return missing("nobody holds the asset number");
  if (holder !== assignment.memberGlobalId) {
    const details = [`held by the member ${holder}`, ...notes];
    return { verdict: "different", shown: true, details, finding: "differs" };
  }
  if (!wanted)
    return { verdict: "extra", shown: true, details: ["the CRM no longer gives it to this person", ...notes] };
  return { verdict: "matched", shown: true, details: notes };
}

function unmetRow(item: CustomerCase, staff: StaffCase, claim: StaffCase["claims"][number]): Comparison {
  const isFreed = claim.numbers.some((number) => item.freed.has(number));
  return {
    level: "assignment",
    verdict: isFreed ? "in-transit" : "missing",
    assetNumber: claim.numbers.length === 1 ? claim.numbers[0] : null,
    staff: staff.key,
    memberGlobalId: staff.member?.memberGlobalId,
    inCrm: true,
    sent: false,
    shown: null,
    endedAt: claim.endedAt?.(),
    details: [`${claim.claim}: ${isFreed ? "taken from somebody for this person, and " : ""}${whyNot(staff.crm)}`],
  };
}

function holderOf(shown: ShownItem): string | null {
  const { holder } = shown.body;
  return typeof holder === "string" && holder !== "" ? holder : null;
}
