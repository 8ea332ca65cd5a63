import { changes, named, peopleOf } from "../../engine/operation-line.ts";
import { z } from "zod";
import type { Json } from "../../base/canonical-json.ts";
import { checked } from "../../contract/fits.ts";
import { editStaffRequestSchema } from "../../contract/member-center.ts";
import { formatKey } from "../../crm/keys.ts";
import type { RecordKey } from "../../crm/model.ts";
import type { Snapshot } from "../../platform/snapshot.ts";
import { notSendable, plainKind } from "../../engine/kind.ts";
import type { Effect, Evidence, JournalEntry, Kind, SettleFacts } from "../../engine/kind.ts";
import { memberDesk, withinEnterprise } from "../../engine/look-for.ts";
import { isPrivateMarker, privateMarker, references } from "../../engine/references.ts";
import type { ShapesOf } from "../../engine/shape.ts";
import { shownOtherwise } from "./shown-profile.ts";
import { staffCommitments } from "./staff-commitments.ts";
import type { ShownField } from "./state.ts";

const clearable = z.union([privateMarker, z.literal("")]).optional();

const schemas = {
  target: z.object({
    enterpriseGlobalId: z.union([z.string(), references.enterpriseGlobalId]),
    memberGlobalId: z.string(),
  }),
  payload: z.object({
    userName: privateMarker,
    departmentId: z.union([z.string(), z.number()]).optional(),
    name: privateMarker,
    remark: clearable,
    passwordMobile: clearable,
  }),
  before: staffCommitments,
  after: staffCommitments,
  context: z.object({
    enterpriseGlobalId: z.string(),
    memberGlobalId: z.string(),
    staff: z.object({ namespace: z.string(), id: z.string() }),
    profile: staffCommitments,
    /** What of it the call says. */
    sent: z.array(z.enum(["name", "remark", "mobile", "departmentId"])),
  }),
};
type EditStaffShapes = ShapesOf<typeof schemas>;

/**
 * M2 sets name, note, mobile and department of a member of staff; it needs the account name and leaves it. All that is
 * known is sent (A41). Whose outcome is unknown is sent again with the same values; what M5 shows of it is looked at
 * before it counts as agreed.
 */
export const editStaff: Kind<EditStaffShapes> = {
  ...plainKind,
  line: async ({ records, before, after }, called) => {
    const changed = (["userName", "name", "remark", "mobile", "departmentId"] as const).filter(
      (field) => before[field] !== after[field],
    );
    const what = changed.length === 0 ? "as the CRM has it" : changed.join(", ");
    return changes(`update staff ${named(await peopleOf(records, called))}: ${what}`);
  },
  schemas,
  endpoint: "M2",
  stages: ["staff"],
  policy: "staff.edited",
  restsOn: ["A3"],
  rests: ({ customer }) => [{ row: "A41", about: formatKey(customer) }],
  whenUnknown: "send-again",
  mostOddAnswers: 3,
  cureOfPart: undefined,
  outdates: ["members"],
  undone: { how: "exact", by: "M2" },
  prepare({ operation, wire, target }) {
    const request = checked(editStaffRequestSchema, wire);
    if (!request.success) return notSendable(request.error.issues);
    const [staff] = operation.records;
    const context: EditStaffShapes["context"] = {
      enterpriseGlobalId: z.string().parse(target["enterpriseGlobalId"]),
      memberGlobalId: z.string().parse(target["memberGlobalId"]),
      staff: { namespace: staff?.namespace ?? "", id: staff?.id ?? "" },
      profile: operation.after,
      sent: sentIn(operation.payload),
    };
    return {
      context,
      send: async ({ memberCenter }, call) => ({
        outcome: await memberCenter.editStaff(context.enterpriseGlobalId, context.memberGlobalId, request.data, call),
        conclude: () => ({ ...edited(operation.customer, context), refused: [] }),
      }),
    };
  },
  read: readProfile,
  countAsApplied: ({ operation, context }) => ({
    effect: edited(operation.customer, context),
    summary: "Name, note, mobile and department count as sent; the next run compares them with M5.",
  }),
  lookFor: ({ context, target }) => ({
    what:
      `name, note, mobile and department of the member ${context?.memberGlobalId ?? target.memberGlobalId}, ` +
      "which should be as the CRM has them",
    where: `back office of the member-center, staff of ${withinEnterprise(context)}; M5 shows them`,
    whom: memberDesk,
  }),
};

function sentIn({ remark, passwordMobile, departmentId }: EditStaffShapes["payload"]): ShownField[] {
  return [
    "name",
    ...(remark === undefined ? [] : (["remark"] as const)),
    ...(passwordMobile === undefined ? [] : (["mobile"] as const)),
    ...(departmentId === undefined ? [] : (["departmentId"] as const)),
  ];
}

function edited(customer: RecordKey, context: EditStaffShapes["context"]): Effect {
  const { staff, memberGlobalId, profile: now, sent: unread } = context;
  return {
    changes: [{ type: "staff-edited", staff, customer, profile: { ...now, unread } }],
    audit: { staff: formatKey(staff), memberGlobalId },
  };
}

const erasedMeanwhile =
  "the sent values of the person were erased from the ledger since, so nobody can tell whether M5 shows them";

/** M5 shows the member with everything that was sent. */
async function readProfile(
  entry: JournalEntry<EditStaffShapes>,
  snapshot: Snapshot,
  facts: SettleFacts,
): Promise<Evidence> {
  const { operation, context } = entry;
  const { name, remark, passwordMobile, departmentId } = operation.payload;
  const clear = (value: Json | undefined): string | null | undefined => {
    const text = isPrivateMarker(value) ? facts.privateValue(value) : value;
    return typeof text === "string" ? text : undefined;
  };
  const members = await snapshot.members(context.enterpriseGlobalId);
  const member = members.find((item) => item.globalId === context.memberGlobalId && !item.deleted);
  if (member === undefined) return { kind: "not-found", detail: { call: "M5", member: false } };
  const otherwise = shownOtherwise(member, {
    name: clear(name),
    remark: clear(remark),
    mobile: clear(passwordMobile),
    departmentId: departmentId === undefined ? undefined : String(departmentId),
  });
  const erased = [name, remark, passwordMobile].some((value) => value !== undefined && clear(value) === undefined);
  const detail = { call: "M5", member: true, otherwise };
  if (otherwise.length > 0) return { kind: "not-found", detail };
  if (erased) return { kind: "ambiguous", reason: erasedMeanwhile, detail };
  return { kind: "confirmed", effect: edited(operation.customer, context), detail };
}
