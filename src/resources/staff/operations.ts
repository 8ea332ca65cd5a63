import { z } from "zod";
import type { Json, JsonObject } from "../../base/canonical-json.ts";
import { checked } from "../../contract/fits.ts";
import { editStaffRequestSchema, resetPasswordRequestSchema } from "../../contract/member-center.ts";
import { formatKey } from "../../crm/keys.ts";
import type { RecordKey } from "../../crm/model.ts";
import type { AssumptionMet } from "../../engine/model/assumptions-met.ts";
import {
  notSendable,
  type Effect,
  type Evidence,
  type JournalEntry,
  type LookFor,
  type SettleFacts,
  type OperationType,
} from "../../engine/model/operation-type.ts";
import {
  memberDesk,
  withinEnterprise,
  isPrivateMarker,
  newPassword,
  privateMarker,
  references,
  initialPasswordRef,
  newPasswordRef,
} from "../../engine/model/references.ts";
import { changes, named, peopleOf, removes } from "../../engine/model/operation-line.ts";
import type { ShapesOf } from "../../engine/model/resource.ts";
import { everyVersion } from "../../engine/model/state.ts";
import type { Snapshot } from "../../platform/snapshot.ts";
import { addStaff, type AddShapes } from "./add-staff.ts";
import { commitments, shownOtherwise } from "./profile.ts";
import type { ShownField } from "./state.ts";

declare module "../../engine/model/resource.ts" {
  interface OperationShapes {
    "add-staff": AddShapes;
    "edit-staff": EditShapes;
    "delete-staff": DeleteShapes;
    "reset-password": ResetShapes;
  }
}

const staffKey = z.object({ namespace: z.string(), id: z.string() });
const target = z.object({
  enterpriseGlobalId: z.union([z.string(), references.enterpriseGlobalId]),
  memberGlobalId: z.string(),
});
const account = { enterpriseGlobalId: z.string(), memberGlobalId: z.string(), staff: staffKey };

function idsOf({ enterpriseGlobalId, memberGlobalId }: JsonObject) {
  return {
    enterpriseGlobalId: z.string().parse(enterpriseGlobalId),
    memberGlobalId: z.string().parse(memberGlobalId),
  };
}

function inStaffList(
  what: string,
  context: { enterpriseGlobalId: string } | undefined,
  shows = "M5 shows them",
): LookFor {
  const where = `back office of the member-center, staff of ${withinEnterprise(context)}; ${shows}`;
  return { what, where, whom: memberDesk };
}

const clearable = z.union([privateMarker, z.literal("")]).optional();
const editSchemas = {
  target,
  payload: z.object({
    userName: privateMarker,
    departmentId: z.union([z.string(), z.number()]).optional(),
    name: privateMarker,
    remark: clearable,
    passwordMobile: clearable,
  }),
  before: commitments,
  after: commitments,
  context: z.object({
    ...account,
    profile: commitments,
    sent: z.array(z.enum(["name", "remark", "mobile", "departmentId"])),
  }),
};
type EditShapes = ShapesOf<typeof editSchemas>;

/**
 * M2 sets name, note, mobile and department; it needs the account name and keeps it. It sends all known fields (A41).
 * The values count as agreed only after M5 shows them.
 */
const edit: OperationType<EditShapes> = {
  endpoint: "M2",
  stages: ["staff"],
  schemas: editSchemas,
  invalidates: ["members"],
  prepare({ operation, wire, target: bound }) {
    const request = checked(editStaffRequestSchema, wire);
    if (!request.success) return notSendable(request.error.issues);
    const [staff] = operation.records;
    const context: EditShapes["context"] = {
      ...idsOf(bound),
      staff: { namespace: staff?.namespace ?? "", id: staff?.id ?? "" },
      profile: operation.after,
      sent: sentIn(operation.payload),
    };
    const { enterpriseGlobalId, memberGlobalId } = context;
    return {
      context,
      send: async ({ memberCenter }, call) => ({
        outcome: await memberCenter.editStaff(enterpriseGlobalId, memberGlobalId, request.data, call),
        conclude: () => ({ ...edited(operation.customer, context), refused: [] }),
      }),
    };
  },
  onUnknown: { by: "resend", maxOddAnswers: 3, observe: observeEdit },
  decide: {
    applied: ({ operation, context }) => ({
      effect: edited(operation.customer, context),
      summary: "Name, note, mobile and department count as sent; the next run compares them with M5.",
    }),
  },
  reversal: { how: "exact", by: "M2" },
  whereToLook: ({ context, target: { memberGlobalId } }) =>
    inStaffList(
      `name, note, mobile and department of the member ${context?.memberGlobalId ?? memberGlobalId}, ` +
        "which should be as the CRM has them",
      context,
    ),
  can: {
    governed: { policy: "staff.edited" },
    assumes: { always: ["A3"], by: ({ customer }) => [{ row: "A41", about: formatKey(customer) }] },
    prints: {
      line: async ({ records, before, after }, called) => {
        const changed = (["userName", "name", "remark", "mobile", "departmentId"] as const).filter(
          (field) => before[field] !== after[field],
        );
        const what = changed.length === 0 ? "as the CRM has it" : changed.join(", ");
        return changes(`update staff ${named(peopleOf(records, called))}: ${what}`);
      },
    },
  },
};

function sentIn({ remark, passwordMobile, departmentId }: EditShapes["payload"]): ShownField[] {
  return [
    "name",
    ...(remark === undefined ? [] : (["remark"] as const)),
    ...(passwordMobile === undefined ? [] : (["mobile"] as const)),
    ...(departmentId === undefined ? [] : (["departmentId"] as const)),
  ];
}

function edited(customer: RecordKey, context: EditShapes["context"]): Effect {
  const { staff, memberGlobalId, profile: now, sent: unread } = context;
  return {
    changes: [{ type: "staff-edited", staff, customer, profile: { ...now, unread } }],
    audit: { staff: formatKey(staff), memberGlobalId },
  };
}

const erasedMeanwhile =
  "the sent values of the person were erased from the ledger since, so nobody can tell whether M5 shows them";

async function observeEdit(entry: JournalEntry<EditShapes>, snapshot: Snapshot, facts: SettleFacts): Promise<Evidence> {
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

const deleteSchemas = {
  target,
  payload: z.object({}),
  before: z.object({ memberGlobalId: z.string() }),
  after: z.object({ staff: staffKey }),
  context: z.object(account),
};
type DeleteShapes = ShapesOf<typeof deleteSchemas>;

const noSuchMember = "60002";
const shownAllTheSame: AssumptionMet = {
  row: "A36",
  evidence: "M4 answered 60002 for a member whom M5 goes on showing",
};

/**
 * M4 deletes an account. Only M5 proves it, because its list is complete (A36). M4 also answers 60002 for members that
 * it
 * does not know, so M5 is read then too.
 */
const remove: OperationType<DeleteShapes> = {
  endpoint: "M4",
  stages: ["leavers"],
  schemas: deleteSchemas,
  invalidates: ["members", "assets"],
  prepare({ operation, target: bound }) {
    const context: DeleteShapes["context"] = { ...idsOf(bound), staff: operation.after.staff };
    return {
      context,
      send: async ({ memberCenter }, call) => {
        const outcome = await memberCenter.deleteStaff(context.enterpriseGlobalId, context.memberGlobalId, call);
        return {
          outcome,
          conclude: (id) =>
            outcome.kind === "already"
              ? { doubt: "M4 says that there is no such member; M5 shows whether that is so (A36)" }
              : { ...deleted(id, operation.customer, context), refused: [] },
        };
      },
    };
  },
  onUnknown: {
    by: "observe",
    async observe({ id, operation, context }, snapshot) {
      const members = await snapshot.members(context.enterpriseGlobalId);
      const isThere = members.some((member) => member.globalId === context.memberGlobalId && !member.deleted);
      const detail = { call: "M5", member: isThere };
      if (isThere) return { kind: "not-found", detail };
      return { kind: "confirmed", effect: deleted(id, operation.customer, context), detail };
    },
  },
  decide: {
    applied: ({ context }) => ({
      code: "settle.still-shown",
      why: `the platform (M5) still shows the member ${context.memberGlobalId}`,
      cure: "delete the account on the platform first, or decide --not-applied: the next run plans the deletion again",
    }),
  },
  reversal: { how: "approximate", by: "M1", difference: "the person comes back as another member, with nothing" },
  whereToLook: ({ context, target: { memberGlobalId } }) =>
    inStaffList(`whether the member ${context?.memberGlobalId ?? memberGlobalId} is deleted`, context),
  can: {
    governed: { policy: "staff.left" },
    removes: { thing: "accounts", count: () => 1 },
    assumes: {
      always: ["A36"],
      by: ({ customer }) => [{ row: "A27", about: formatKey(customer) }],
      notShown: ({ code }) => (code === noSuchMember ? [shownAllTheSame] : []),
    },
    prints: {
      line: async ({ after }, called) => removes(`delete the account of ${called.record(after.staff)}`),
      payload: () => ["deletes the account; nothing brings it back"],
    },
  },
};

/** Wipes the passwords of this account. Those of the person's other accounts stay sealed. */
function deleted(operationId: string, customer: RecordKey, context: DeleteShapes["context"]): Effect {
  const { staff, memberGlobalId } = context;
  return {
    changes: [
      { type: "staff-unlinked", staff, customer, operationId },
      { type: "secrets-wiped", ref: initialPasswordRef({ staff, customer }), version: everyVersion },
      { type: "secrets-wiped", ref: newPasswordRef({ staff, customer }), version: everyVersion },
    ],
    audit: { staff: formatKey(staff), memberGlobalId },
  };
}

const resetSchemas = {
  target,
  payload: z.object({ password: z.union([privateMarker, newPassword]) }),
  /** Time of the request: a new request is a new operation with a new password. */
  before: z.record(z.string(), z.string()),
  after: z.object({ staff: staffKey }),
  context: z.object({
    ...account,
    /** Where the password is sealed until it is handed out. */
    password: z.object({ ref: z.string(), version: z.int() }),
    generated: z.boolean(),
  }),
};
type ResetShapes = ShapesOf<typeof resetSchemas>;

/**
 * M3 sets a new password. It is non-repeatable and unobservable: an unknown outcome waits for a person (A3).
 * A generated password is sealed with the intent and handed out once.
 */
const reset: OperationType<ResetShapes> = {
  endpoint: "M3",
  stages: ["requests"],
  schemas: resetSchemas,
  invalidates: [],
  prepare({ operation, wire, target: bound, sealed }) {
    const request = checked(resetPasswordRequestSchema, wire);
    if (!request.success) return notSendable(request.error.issues);
    const { password } = operation.payload;
    const kept = isPrivateMarker(password) ? { ref: password.$private, version: password.version } : sealed[0];
    if (kept === undefined) return { code: "payload.incomplete", reason: "no new password was made for the account" };
    const context: ResetShapes["context"] = {
      ...idsOf(bound),
      staff: operation.after.staff,
      password: { ref: kept.ref, version: kept.version },
      generated: !isPrivateMarker(password),
    };
    const { enterpriseGlobalId, memberGlobalId } = context;
    return {
      context,
      send: async ({ memberCenter }, call) => ({
        outcome: await memberCenter.resetPassword(enterpriseGlobalId, memberGlobalId, request.data, call),
        conclude: (id) => ({ ...passwordSet(id, operation.customer, context), refused: [] }),
      }),
    };
  },
  onUnknown: { by: "ask" },
  decide: {
    applied: ({ id, operation, context }) => ({
      effect: passwordSet(id, operation.customer, context),
      summary:
        "The new password counts as set; `crm-sync staff password --help` says how one that was generated is handed out.",
    }),
    // A person requested it, so no run sets it again.
    notApplied: ({ operation: { customer }, context }) => [
      { type: "request-withdrawn", customer, of: "password", about: formatKey(context.staff) },
    ],
  },
  reversal: { how: "impossible", why: "a password that was replaced is not kept" },
  whereToLook: ({ context, target: { memberGlobalId } }) =>
    inStaffList(
      `whether the password of the member ${context?.memberGlobalId ?? memberGlobalId} was set anew then`,
      context,
      "no call shows it",
    ),
  can: {
    answers: ({ before }) => Object.entries(before).map(([about, askedAt]) => ({ of: "password", about, askedAt })),
    credentials: { passwords: ({ payload, after }) => (isPrivateMarker(payload.password) ? [] : [after.staff]) },
    prints: {
      line: async ({ after }, called) => changes(`set a new password for ${called.record(after.staff)}`),
    },
  },
};

/** Wipes the earlier passwords. */
function passwordSet(operationId: string, customer: RecordKey, context: ResetShapes["context"]): Effect {
  const { staff, memberGlobalId, password, generated } = context;
  const about = formatKey(staff);
  return {
    changes: [
      { type: "request-answered", of: "password", about, wanted: "reset", answer: { generated }, operationId },
      { type: "secrets-wiped", ref: initialPasswordRef({ staff, customer }), version: everyVersion },
      { type: "secrets-wiped", ref: password.ref, version: generated ? password.version - 1 : password.version },
    ],
    audit: { staff: about, memberGlobalId, generated },
  };
}

export const types = { "add-staff": addStaff, "edit-staff": edit, "delete-staff": remove, "reset-password": reset };
