import { z } from "zod";
import { checked } from "../../contract/fits.ts";
import type { LockTarget } from "../../contract/limits.ts";
import { lockRequestSchema, otherLocks, type LockResult } from "../../contract/order-service.ts";
import { lockStatuses } from "../../contract/vocabulary.ts";
import { licenseTypes } from "../../crm/model.ts";
import { type OperationType, type Bound, type Concluded, notSendable } from "../../engine/model/operation-type.ts";
import type { AssumptionMet } from "../../engine/model/assumptions-met.ts";
import { orderDesk, some } from "../../engine/model/references.ts";
import { changes as changed, numbered } from "../../engine/model/operation-line.ts";
import type { Draft, ShapesOf } from "../../engine/model/resource.ts";
import type { StateChange } from "../../engine/model/state.ts";
import type { WriteCall } from "../../platform/services.ts";
import type { WriteOutcome } from "../../http/call.ts";
import type { Platform } from "../../platform/platform.ts";
import type { LockRequestShapes } from "./request.ts";

type Wanted = LockRequestShapes["wanted"];

const schemas = {
  target: z.object({}),
  payload: z.object({ assetNums: z.array(z.string()), operatorIdentity: z.string() }),
  /** Times of the requests: a new request for a lock is a new operation. */
  before: z.record(z.string(), z.string()),
  after: z.array(z.object({ assetNum: z.string(), licenseType: z.enum(licenseTypes), largeCustomer: z.boolean() })),
  context: z.object({ assetNums: z.array(z.string()) }),
};
type LockShapes = ShapesOf<typeof schemas>;

declare module "../../engine/model/resource.ts" {
  interface OperationShapes {
    "lock-assets": LockShapes;
    "unlock-assets": LockShapes;
  }
}

type Send = (
  platform: Platform,
  locks: readonly LockTarget[],
  operatorIdentity: string,
  call: WriteCall,
) => Promise<WriteOutcome<LockResult[]>>;

/** Each lock has its own status inside one success. */
function concluded(
  id: string,
  operation: Bound<LockShapes>["operation"],
  wanted: Wanted,
  results: readonly LockResult[],
): Concluded {
  const asked = operation.payload.assetNums;
  const others = otherLocks(asked, results);
  if (others.length > 0) return { doubt: `the answer is not about the locks that were sent: ${some(others)}` };
  const answers = results.map(({ assetNum: about, status }) => ({ about, status }));
  return {
    changes: answered(operation, wanted, answers, id),
    audit: { locks: Object.fromEntries(results.map(({ assetNum, status }) => [assetNum, status])) },
    metIfRepeated: refusedAgain(results),
    refused: [],
  };
}

/** A lock that is refused after a repeated call contradicts A26. Status 3 (try later) proves nothing. */
function refusedAgain(results: readonly LockResult[]): AssumptionMet[] {
  const refused: readonly number[] = [lockStatuses.doesNotExist, lockStatuses.wrongType];
  return results
    .filter(({ status }) => refused.includes(status))
    .map(({ assetNum: about }) => ({
      row: "A26",
      about,
      evidence: "a lock that was switched again answered that it cannot be",
    }));
}

/** An undo without an earlier request is recorded as a request too. */
function answered(
  { customer, before, after, reason }: Draft<LockShapes>,
  wanted: Wanted,
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

/** E6 disables physical locks, E7 enables them. No call shows the state, so an unknown outcome is sent again. */
function switching(wanted: Wanted, send: Send): Omit<OperationType<LockShapes>, "endpoint" | "reversal"> {
  const word = wanted === "locked" ? "disable" : "enable";
  return {
    schemas,
    stages: ["requests"],
    invalidates: [],
    prepare({ operation, wire }) {
      const request = checked(lockRequestSchema, wire);
      if (!request.success) return notSendable(request.error.issues);
      const { assetNums, operatorIdentity } = request.data;
      return {
        context: { assetNums },
        send: async (platform, call) => {
          const outcome = await send(platform, operation.after, operatorIdentity, call);
          const conclude = (id: string): Concluded =>
            outcome.kind === "done" ? concluded(id, operation, wanted, outcome.data) : { doubt: "no data" };
          return { outcome, conclude };
        },
      };
    },
    onUnknown: { by: "resend", maxOddAnswers: 3 },
    decide: {
      applied({ id, operation, context: { assetNums } }) {
        const answers = assetNums.map((about) => ({ about, status: lockStatuses.succeeded }));
        return {
          effect: { changes: answered(operation, wanted, answers, id), audit: { locks: assetNums } },
          summary: `The locks count as ${wanted}.`,
        };
      },
    },
    whereToLook: ({ payload }) => ({
      what: `whether the locks ${some(payload.assetNums)} are ${word}d`,
      where: "back office of the order service, physical locks by number; no call shows them",
      whom: orderDesk,
    }),
    can: {
      answers: ({ before }) => Object.entries(before).map(([about, askedAt]) => ({ of: "lock", about, askedAt })),
      assumes: {
        always: ["A3"],
        by: ({ payload }) =>
          payload.assetNums.map((about) => ({ row: "A26" as const, about, isOnlyTold: true as const })),
      },
      prints: {
        line: async ({ payload }, called) => changed(`${word} the locks ${await numbered(payload.assetNums, called)}`),
      },
    },
  };
}

const disable = switching("locked", ({ orderService }, ...locks) => orderService.lockAssets(...locks));
const enable = switching("unlocked", ({ orderService }, ...locks) => orderService.unlockAssets(...locks));

export const types: { [K in "lock-assets" | "unlock-assets"]: OperationType<LockShapes> } = {
  "lock-assets": {
    ...disable,
    endpoint: "E6",
    reversal: { how: "exact", by: "E7" },
    can: {
      ...disable.can,
      // Limits do not count requests of people.
      removes: {
        thing: "locks",
        count: ({ policy, payload }) => (policy === undefined ? 0 : payload.assetNums.length),
      },
    },
  },
  "unlock-assets": { ...enable, endpoint: "E7", reversal: { how: "exact", by: "E6" } },
};
