import { formatKey } from "../../crm/keys.ts";
import { orderRows, shownForms } from "./compare-orders.ts";
import { isSince, notRead, sentSince, waitNote, whyNot } from "./case.ts";
import type {
  AssignmentCase,
  Comparison,
  CustomerCase,
  Judgement,
  ReconciliationView,
  ShownItem,
  StaffCase,
} from "./case.ts";

/** Compares everything of one customer, in a fixed order. */
export function compareCustomer(item: CustomerCase, view: ReconciliationView): Comparison[] {
  return [
    ...enterpriseRows(item),
    ...orderRows(item, view),
    ...assignmentRows(item, view),
    ...deletedRows(item),
    ...disagreements(item),
    ...twiceRows(item),
    ...item.unusable.map((record): Comparison => ({
      level: record.level,
      verdict: "missing",
      order: record.level === "order" ? record.key : undefined,
      staff: record.level === "staff" ? record.key : undefined,
      inCrm: true,
      sent: false,
      shown: null,
      details: [`waits in quarantine: ${record.message}`],
    })),
  ];
}

/**
 * Assets and products that one reading showed more than once, whatever the order of its rows, but for what one call of
 * ours sent as often: a product that is in a package and repeated in the asset (A23).
 */
function twiceRows(item: CustomerCase): Comparison[] {
  return [...item.shown.twice.values()].flatMap(({ seenAt, body }): Comparison[] => {
    const text = (name: string): string | undefined => (typeof body[name] === "string" ? body[name] : undefined);
    const product = text("crmProductId");
    const what = product === undefined ? "the asset number" : "the product under this asset number";
    const row = {
      level: product === undefined ? ("assignment" as const) : ("product" as const),
      assetNumber: text("assetNum"),
      item: product,
      inCrm: false,
      sent: false,
      shown: true,
      seenAt,
    };
    const own = ownForms(item, text("assetNum"), product);
    if (own === "sent so") return [];
    if (own !== undefined) {
      const details = ["the old form stays beside the new one until it is removed"];
      return [{ ...row, verdict: "in-transit", details }];
    }
    const details = [`the platform shows ${what} ${Number(body["times"])} times; it may have been placed twice`];
    return [{ ...row, verdict: "extra", details, finding: "shown-twice" }];
  });
}

/**
 * Whether each time that a product is shown under a number it was sent by a purchase of ours that stands, and whether
 * one and the same sent it so often; undefined where it is shown more often.
 */
function ownForms(
  item: CustomerCase,
  number: string | undefined,
  product: string | undefined,
): "sent so" | "forms" | undefined {
  if (number === undefined || product === undefined) return undefined;
  const own = item.orders.flatMap(({ placed, products }) =>
    products.sent
      .filter(({ id, assetNumber }) => id === product && assetNumber === number)
      .map(({ purchase }) => purchase?.channelOrderId ?? placed?.channelOrderId),
  );
  const forms = shownForms(item.shown.products.get(`${number}/${product}`)?.body ?? {});
  const shown = forms.map((form) => form["channelOrderId"]);
  const isOwn = shown.every((id) => count(shown, id) <= count(own, id));
  return !isOwn ? undefined : new Set(shown).size === 1 ? "sent so" : "forms";
}

function count(list: readonly unknown[], item: unknown): number {
  return list.filter((one) => one === item).length;
}

/** What M5 and M6 say otherwise of who holds an asset: it is told, and nothing is done on it (A34). */
function disagreements(item: CustomerCase): Comparison[] {
  const inM5 = new Map<string, string>();
  for (const [member, { body }] of item.shown.members) {
    if (body["deleted"] === true || !Array.isArray(body["assetNums"])) continue;
    for (const number of body["assetNums"]) if (typeof number === "string") inM5.set(number, member);
  }
  return [...item.shown.assets].flatMap(([number, shown]): Comparison[] => {
    const [first, second] = [inM5.get(number) ?? null, holderOf(shown)];
    // M5 need not list everybody who holds something: only two different names contradict each other.
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

function enterpriseRows(item: CustomerCase): Comparison[] {
  const wanted = item.crm !== null && item.crm.state !== "absent";
  const rows: Comparison[] = [];
  const notes = ["name, branch and address: no endpoint reads them back"];
  if (item.link === null) {
    if (wanted) {
      rows.push({
        level: "enterprise",
        verdict: "missing",
        inCrm: true,
        sent: false,
        shown: null,
        details: [whyNot(item.crm)],
      });
    }
    return rows;
  }
  const seen = item.shown.enterprises.get(item.link.enterpriseGlobalId);
  const base = {
    level: "enterprise" as const,
    inCrm: wanted,
    sent: true,
    at: item.link.at,
    seenAt: seen?.seenAt ?? item.read?.seenAt,
  };
  if (seen === undefined) {
    const looked = item.read?.complete === true;
    const details = looked ? ["E3 does not show the enterprise"] : [notRead(item)];
    const finding = looked ? ("not-shown" as const) : undefined;
    rows.push({
      ...base,
      verdict: looked ? "missing" : "not-observable",
      shown: looked ? false : null,
      details,
      finding,
    });
  } else if (!wanted) {
    rows.push({
      ...base,
      verdict: "extra",
      shown: true,
      details: ["the CRM no longer has the customer; its enterprise stays", ...notes],
    });
  } else {
    rows.push({ ...base, verdict: "matched", shown: true, details: [...waitNote(item.crm), ...notes] });
  }
  for (const [enterprise, other] of item.shown.enterprises) {
    if (enterprise === item.link.enterpriseGlobalId) continue;
    rows.push({
      level: "enterprise",
      verdict: "extra",
      inCrm: false,
      sent: false,
      shown: true,
      details: [`E3 shows ${enterprise} too, which is not linked to this customer`],
      seenAt: other.seenAt,
    });
  }
  return rows;
}

/** Every staff member and every assignment of a customer, then the assets that somebody else holds. */
function assignmentRows(item: CustomerCase, view: ReconciliationView): Comparison[] {
  const rows = item.staff.flatMap((staff) => staffRow(item, staff));
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
      assignmentRow(
        item,
        assignment,
        people.get(formatKey(assignment.staff)),
        claimed.has(assignment.assetNumber),
        view,
      ),
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
  return rows;
}

/** Accounts that a call of ours deleted, with success as its answer, and that M5 shows all the same. */
function deletedRows(item: CustomerCase): Comparison[] {
  return item.deleted.flatMap(({ staff, memberGlobalId, at }): Comparison[] => {
    const shown = item.shown.members.get(memberGlobalId);
    if (shown === undefined || shown.body["deleted"] === true || at >= shown.seenAt) return [];
    return [{ ...stillShown(shown, "as an account that can be used"), level: "staff", staff, memberGlobalId }];
  });
}

/** What a call of ours removed, and the platform shows all the same. */
function stillShown({ seenAt }: ShownItem, how: string): Omit<Comparison, "level"> {
  const details = [`a call removed it, and the platform still shows it ${how}`];
  return { verdict: "extra", inCrm: false, sent: false, shown: true, details, seenAt, finding: "shown-still" };
}

function isWanted(staff: StaffCase): boolean {
  return staff.crm !== null && staff.crm.state !== "absent";
}

function staffRow(item: CustomerCase, staff: StaffCase): Comparison[] {
  const wanted = isWanted(staff);
  const base = { level: "staff" as const, staff: staff.key, inCrm: wanted };
  if (staff.member === null) {
    return wanted ? [{ ...base, verdict: "missing", sent: false, shown: null, details: [whyNot(staff.crm)] }] : [];
  }
  const seen = item.shown.members.get(staff.member.memberGlobalId);
  const shared = {
    ...base,
    sent: true,
    memberGlobalId: staff.member.memberGlobalId,
    at: staff.member.at,
    seenAt: seen?.seenAt ?? item.read?.seenAt ?? null,
  };
  if (seen === undefined || seen.body["deleted"] === true) {
    if (seen === undefined && item.read?.complete !== true)
      return [{ ...shared, verdict: "not-observable", shown: null, details: [notRead(item)] }];
    if (!wanted) return [];
    return [
      {
        ...shared,
        verdict: "missing",
        shown: false,
        details: ["M5 does not show the member", ...waitNote(staff.crm)],
        finding: "not-shown",
      },
    ];
  }
  if (!wanted)
    return [
      { ...shared, verdict: "extra", shown: true, details: ["the CRM no longer has this person; the account stays"] },
    ];
  const otherwise = shownOtherwise(seen);
  if (otherwise.length > 0) {
    const details = [`M5 shows another ${otherwise.join(" and ")} than was sent`, ...waitNote(staff.crm)];
    return [{ ...shared, verdict: "different", shown: true, details, finding: "differs" }];
  }
  return [{ ...shared, verdict: "matched", shown: true, details: waitNote(staff.crm) }];
}

/** The fields of a member that a reading showed otherwise than they were left. */
function shownOtherwise({ body: { otherwise } }: ShownItem): string[] {
  return Array.isArray(otherwise) ? otherwise.filter((field) => typeof field === "string") : [];
}

function assignmentRow(
  item: CustomerCase,
  assignment: AssignmentCase,
  staff: StaffCase | undefined,
  wanted: boolean,
  view: ReconciliationView,
): Comparison {
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
    ...judgeAssignment(item, assignment, shown, wanted, view, waitNote(staff?.crm ?? null)),
  };
}

function judgeAssignment(
  item: CustomerCase,
  assignment: AssignmentCase,
  shown: ShownItem | undefined,
  wanted: boolean,
  view: ReconciliationView,
  notes: readonly string[],
): Judgement {
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

/** The member that holds an asset, as M6 or E8 showed it. */
function holderOf(shown: ShownItem): string | null {
  const { holder } = shown.body;
  return typeof holder === "string" && holder !== "" ? holder : null;
}
