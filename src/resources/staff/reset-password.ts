import { changes } from "../../engine/operation-line.ts";
import { z } from "zod";
import { checked } from "../../contract/fits.ts";
import { resetPasswordRequestSchema } from "../../contract/member-center.ts";
import { formatKey } from "../../crm/keys.ts";
import type { RecordKey } from "../../crm/model.ts";
import { notSendable, plainKind, readBackByNothing } from "../../engine/kind.ts";
import type { Effect, Kind } from "../../engine/kind.ts";
import { memberDesk, withinEnterprise } from "../../engine/look-for.ts";
import { isPrivateMarker, newPassword, privateMarker, references } from "../../engine/references.ts";
import { initialPasswordRef } from "../../engine/sealed-passwords.ts";
import type { ShapesOf } from "../../engine/shape.ts";
import { everyVersion } from "../../engine/state/secrets.ts";

const sealed = z.object({ ref: z.string(), version: z.int() });

const schemas = {
  target: z.object({
    enterpriseGlobalId: z.union([z.string(), references.enterpriseGlobalId]),
    memberGlobalId: z.string(),
  }),
  payload: z.object({ password: z.union([privateMarker, newPassword]) }),
  /** When it was asked for: what is asked for again is another operation, with another password. */
  before: z.record(z.string(), z.string()),
  after: z.object({ staff: z.object({ namespace: z.string(), id: z.string() }) }),
  context: z.object({
    enterpriseGlobalId: z.string(),
    memberGlobalId: z.string(),
    staff: z.object({ namespace: z.string(), id: z.string() }),
    /** Where the password is sealed, until it is handed out or was the CRM's. */
    password: sealed,
    generated: z.boolean(),
  }),
};
type ResetPasswordShapes = ShapesOf<typeof schemas>;

/** M3 set the password: those before it are worth nothing any more. */
function passwordSet(operationId: string, customer: RecordKey, context: ResetPasswordShapes["context"]): Effect {
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

/**
 * M3 sets a new password. No call reads it back and it is never sent a second time by itself: one without an answer
 * waits for a person (A3). What was generated is sealed with the intent and handed out once.
 */
export const resetPassword: Kind<ResetPasswordShapes> = {
  ...plainKind,
  line: async ({ after }, called) => changes(`set a new password for ${await called.person(after.staff)}`),
  schemas,
  endpoint: "M3",
  stages: ["requests"],
  whenUnknown: "ask",
  isSentSparingly: true,
  cureOfPart: undefined,
  outdates: [],
  undone: { how: "impossible", why: "a password that was replaced is not kept" },
  prepare({ operation, wire, target, sealed: made }) {
    const request = checked(resetPasswordRequestSchema, wire);
    if (!request.success) return notSendable(request.error.issues);
    const { password } = operation.payload;
    const kept = isPrivateMarker(password) ? { ref: password.$private, version: password.version } : made[0];
    if (kept === undefined) return { code: "payload.incomplete", reason: "no new password was made for the account" };
    const context: ResetPasswordShapes["context"] = {
      enterpriseGlobalId: z.string().parse(target["enterpriseGlobalId"]),
      memberGlobalId: z.string().parse(target["memberGlobalId"]),
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
  requests: ({ before }) => Object.entries(before).map(([about, askedAt]) => ({ of: "password", about, askedAt })),
  newPasswords: ({ payload, after }) => (isPrivateMarker(payload.password) ? [] : [after.staff]),
  read: readBackByNothing,
  countAsApplied: ({ id, operation, context }) => ({
    effect: passwordSet(id, operation.customer, context),
    summary:
      "The new password counts as set; `crm-sync staff password --help` says how one that was generated is handed out.",
  }),
  // A person asks for it: nothing sets it again by itself.
  whenNotApplied: ({ operation: { customer }, context }) => [
    { type: "request-withdrawn", customer, of: "password", about: formatKey(context.staff) },
  ],
  lookFor: ({ context, target }) => ({
    what: `whether the password of the member ${context?.memberGlobalId ?? target.memberGlobalId} was set anew then`,
    where: `back office of the member-center, staff of ${withinEnterprise(context)}; no call shows it`,
    whom: memberDesk,
  }),
};
