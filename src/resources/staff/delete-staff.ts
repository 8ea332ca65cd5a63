import { removes } from "../../engine/operation-line.ts";
import { z } from "zod";
import { formatKey } from "../../crm/keys.ts";
import type { RecordKey } from "../../crm/model.ts";
import type { AssumptionMet } from "../../engine/assumptions-met.ts";
import { plainKind } from "../../engine/kind.ts";
import type { Effect, Kind } from "../../engine/kind.ts";
import { memberDesk, withinEnterprise } from "../../engine/look-for.ts";
import { references } from "../../engine/references.ts";
import { initialPasswordRef, newPasswordRef } from "../../engine/sealed-passwords.ts";
import type { ShapesOf } from "../../engine/shape.ts";
import { everyVersion } from "../../engine/state/secrets.ts";

const staffKey = z.object({ namespace: z.string(), id: z.string() });

const schemas = {
  target: z.object({
    enterpriseGlobalId: z.union([z.string(), references.enterpriseGlobalId]),
    memberGlobalId: z.string(),
  }),
  /** M4 has no body. */
  payload: z.object({}),
  before: z.object({ memberGlobalId: z.string() }),
  after: z.object({ staff: staffKey }),
  context: z.object({ enterpriseGlobalId: z.string(), memberGlobalId: z.string(), staff: staffKey }),
};
type DeleteStaffShapes = ShapesOf<typeof schemas>;

/** "The member does not exist." */
const noSuchMember = "60002";
const shownAllTheSame: AssumptionMet = {
  row: "A36",

  evidence: "M4 answered 60002 for a member whom M5 goes on showing",
};

/** The account is gone, and what was sealed for it is worth nothing; what is sealed for another one of theirs is. */
function deleted(operationId: string, customer: RecordKey, context: DeleteStaffShapes["context"]): Effect {
  const { staff, memberGlobalId } = context;
  const key = formatKey(staff);
  return {
    changes: [
      { type: "staff-unlinked", staff, customer, operationId },
      { type: "secrets-wiped", ref: initialPasswordRef({ staff, customer }), version: everyVersion },
      { type: "secrets-wiped", ref: newPasswordRef({ staff, customer }), version: everyVersion },
    ],
    audit: { staff: key, memberGlobalId },
  };
}

/**
 * M4 deletes the account of somebody who left. It is proven by M5 alone, whose list is whole: it shows the member no
 * more, or as deleted (A36). "Not found" (60002) is what it also says of a member that it does not know, so that is
 * looked for as well.
 */
export const deleteStaff: Kind<DeleteStaffShapes> = {
  ...plainKind,
  line: async ({ after }, called) => removes(`delete the account of ${await called.person(after.staff)}`),
  schemas,
  endpoint: "M4",
  stages: ["leavers"],
  policy: "staff.left",
  takes: "accounts",
  takesAway: () => 1,
  restsOn: ["A36"],
  rests: ({ customer }) => [{ row: "A27", about: formatKey(customer) }],
  metUnshown: ({ code }) => (code === noSuchMember ? [shownAllTheSame] : []),
  cureOfPart: undefined,
  outdates: ["members", "assets"],
  undone: { how: "approximate", by: "M1", difference: "the person comes back as another member, with nothing" },
  prepare({ operation, target }) {
    const context: DeleteStaffShapes["context"] = {
      enterpriseGlobalId: z.string().parse(target["enterpriseGlobalId"]),
      memberGlobalId: z.string().parse(target["memberGlobalId"]),
      staff: operation.after.staff,
    };
    const { enterpriseGlobalId, memberGlobalId } = context;
    return {
      context,
      send: async ({ memberCenter }, call) => {
        const outcome = await memberCenter.deleteStaff(enterpriseGlobalId, memberGlobalId, call);
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
  async read({ id, operation, context }, snapshot) {
    const members = await snapshot.members(context.enterpriseGlobalId);
    const isThere = members.some((member) => member.globalId === context.memberGlobalId && !member.deleted);
    const detail = { call: "M5", member: isThere };
    if (isThere) return { kind: "not-found", detail };
    return { kind: "confirmed", effect: deleted(id, operation.customer, context), detail };
  },
  countAsApplied: ({ context }) => ({
    code: "settle.still-shown",
    why: `the platform (M5) still shows the member ${context.memberGlobalId}`,
    cure: "delete the account on the platform first, or decide --not-applied: the next run plans the deletion again",
  }),
  planLines: () => ["deletes the account; nothing brings it back"],
  lookFor: ({ context, target }) => ({
    what: `whether the member ${context?.memberGlobalId ?? target.memberGlobalId} is deleted`,
    where: `back office of the member-center, staff of ${withinEnterprise(context)}; M5 shows them`,
    whom: memberDesk,
  }),
};
