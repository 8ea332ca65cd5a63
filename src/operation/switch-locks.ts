import { z } from "zod";
import { licenseTypes } from "../crm/model.ts";
import { checked } from "../contract/fits.ts";
import { compareLocks, lockRequestSchema } from "../contract/order-service.ts";
import type { LockResult } from "../contract/order-service.ts";
import { lockStatuses } from "../contract/vocabulary.ts";
import type { LockTarget } from "../contract/limits.ts";
import type { WriteCall, WriteOutcome } from "../platform/call.ts";
import type { Platform } from "../platform/platform.ts";
import type { AssumptionMet } from "./assumptions-met.ts";
import { notSendable, plainKind, readBackByNothing } from "./kind.ts";
import type { Kind } from "./kind.ts";
import { orderDesk, some } from "./look-for.ts";
import type { Meant, ShapesOf } from "./shape.ts";
import type { StateChange } from "./state.ts";
import type { LockRequestShapes } from "./lock-request.ts";

const schemas = {
  target: z.object({}),
  payload: z.object({ assetNums: z.array(z.string()), operatorIdentity: z.string() }),
  /** When each lock was asked for: what is asked for again is another operation. */
  before: z.record(z.string(), z.string()),
  after: z.array(z.object({ assetNum: z.string(), licenseType: z.enum(licenseTypes), largeCustomer: z.boolean() })),
  context: z.object({ assetNums: z.array(z.string()) }),
};
export type LockShapes = ShapesOf<typeof schemas>;

/** What a call shows that was sent again. A lock that is to be tried later (status 3) says nothing. */
function metByRepeated(results: readonly LockResult[]): AssumptionMet[] {
  const refused = results.filter(
    ({ status }) => status === lockStatuses.doesNotExist || status === lockStatuses.wrongType,
  );
  return refused.map(({ assetNum: about }) => ({
    row: "A26",

    about,
    evidence: "a lock that was switched again answered that it cannot be",
  }));
}

type Send = (
  platform: Platform,
  locks: readonly LockTarget[],
  operatorIdentity: string,
  call: WriteCall,
) => Promise<WriteOutcome<LockResult[]>>;

/**
 * What E6 and E7 have in common: they set the state of locks, each of which has its own status inside one success. No
 * call reads a physical lock, so one with an unknown outcome is sent again with the same locks. In one piece: one kind
 * but for its direction.
 */
export function switchLocks(
  wanted: LockRequestShapes["wanted"],
  send: Send,
): Omit<Kind<LockShapes>, "endpoint" | "undone"> {
  return {
    ...plainKind,
    schemas,
    stages: ["requests"],
    restsOn: ["A3"],
    rests: ({ payload }) =>
      payload.assetNums.map((about) => ({ row: "A26" as const, about, isOnlyTold: true as const })),
    whenUnknown: "send-again",
    mostOddAnswers: 3,
    cureOfPart: undefined,
    outdates: [],
    prepare({ operation, wire }) {
      const request = checked(lockRequestSchema, wire);
      if (!request.success) return notSendable(request.error.issues);
      const { assetNums, operatorIdentity } = request.data;
      return {
        context: { assetNums },
        send: async (platform, call) => {
          const outcome = await send(platform, operation.after, operatorIdentity, call);
          return {
            outcome,
            conclude: (operationId) => {
              if (outcome.kind !== "done") return { doubt: "no data" };
              const { same, missing, unexpected, repeated } = compareLocks(assetNums, outcome.data);
              if (!same)
                return {
                  doubt:
                    "the answer is not about the locks that were sent: " +
                    some([...missing, ...unexpected, ...repeated]),
                };
              return {
                changes: answered(
                  operation,
                  wanted,
                  outcome.data.map(({ assetNum: about, status }) => ({ about, status })),
                  operationId,
                ),
                audit: { locks: Object.fromEntries(outcome.data.map(({ assetNum, status }) => [assetNum, status])) },
                metIfRepeated: metByRepeated(outcome.data),
                refused: [],
              };
            },
          };
        },
      };
    },
    requests: ({ before }) => Object.entries(before).map(([about, askedAt]) => ({ of: "lock", about, askedAt })),
    settingsInPayload: ["operatorIdentity"],
    read: readBackByNothing,
    countAsApplied: ({ id: operationId, operation, context }) => ({
      effect: {
        changes: answered(
          operation,
          wanted,
          context.assetNums.map((about) => ({ about, status: lockStatuses.succeeded })),
          operationId,
        ),
        audit: { locks: context.assetNums },
      },
      summary: `The locks count as ${wanted}.`,
    }),
    lookFor: ({ payload }) => ({
      what: `whether the locks ${some(payload.assetNums)} are ${wanted === "locked" ? "disabled" : "enabled"}`,
      where: "back office of the order service, physical locks by number; no call shows them",
      whom: orderDesk,
    }),
  };
}

/** What was answered of each lock. One that nobody asked for counts as asked for: an earlier run is taken back. */
function answered(
  { customer, before, after, reason }: Meant<LockShapes>,
  wanted: LockRequestShapes["wanted"],
  locks: readonly { about: string; status: LockRequestShapes["answer"]["status"] }[],
  operationId: string,
): StateChange[] {
  const of = "lock" as const;
  const unasked = after.filter(({ assetNum }) => before[assetNum] === undefined);
  return [
    ...unasked.map(({ assetNum: about, licenseType, largeCustomer }): StateChange => ({
      type: "request-made",
      customer,
      request: { of, about, wanted, details: { licenseType, largeCustomer }, by: "an undo", reason },
    })),
    ...locks.map(({ about, status }): StateChange => ({
      type: "request-answered",
      of,
      about,
      wanted,
      answer: { status },
      operationId,
    })),
  ];
}
