import { z } from "zod";
import { checked } from "../../contract/fits.ts";
import { borrowRequestSchema } from "../../contract/member-center.ts";
import { formatKey } from "../../crm/keys.ts";
import {
  type OperationType,
  type Effect,
  type Evidence,
  type JournalEntry,
  notSendable,
} from "../../engine/model/operation-type.ts";
import { adds, assetsText } from "../../engine/model/operation-line.ts";
import type { Snapshot } from "../../platform/snapshot.ts";
import { loanSchema } from "./plan.ts";
import { memberDesk, some, withinEnterprise } from "../../engine/model/references.ts";
import type { ShapesOf } from "../../engine/model/resource.ts";

const schemas = {
  target: z.object({ memberGlobalId: z.string() }),
  payload: z.object({ borrowedUsbKey: z.string(), assetIDs: z.array(z.string()) }),
  /** Times of the requests: a new request is a new operation. */
  before: z.record(z.string(), z.string()),
  after: loanSchema,
  context: loanSchema.extend({ enterpriseGlobalId: z.string(), lock: z.string() }),
};
type BorrowShapes = ShapesOf<typeof schemas>;

declare module "../../engine/model/resource.ts" {
  interface OperationShapes {
    "borrow-assets": BorrowShapes;
  }
}

function lent(operationId: string, { lock, assets, staff, memberGlobalId }: BorrowShapes["context"]): Effect {
  const numbers = assets.map(({ number }) => number);
  return {
    changes: [
      { type: "request-answered", of: "loan", about: lock, wanted: "lent", answer: { lent: numbers }, operationId },
    ],
    audit: { staff: formatKey(staff), memberGlobalId, lock, assets: numbers },
  };
}

/**
 * M8 shows who has the lock, M6 whether an asset is lent, no call which assets are in a lock. Both together prove it.
 */
async function observe({ id, context }: JournalEntry<BorrowShapes>, snapshot: Snapshot): Promise<Evidence> {
  const { enterpriseGlobalId, memberGlobalId, lock, assets } = context;
  const loans = await snapshot.loans(enterpriseGlobalId);
  const rows = await snapshot.assets(enterpriseGlobalId);
  const shown = loans.find((loan) => loan.lock === lock);
  const away = new Map(rows.map((row) => [row.assetId, row.borrowed]));
  const into = assets.filter(({ assetId }) => away.get(assetId) === true).map(({ number }) => number);
  const unseen = assets.filter(({ assetId }) => !away.has(assetId)).map(({ number }) => number);
  const detail = {
    call: "M8 and M6",
    lock: shown === undefined ? "not shown" : shown.lent ? "lent" : "not lent",
    borrower: shown?.borrower ?? null,
    lent: into,
    notShown: unseen,
  };
  const effect = lent(id, context);
  const ours = shown?.lent === true && shown.borrower === memberGlobalId;
  if (ours && into.length === assets.length) return { kind: "confirmed", effect, detail };
  const another = shown?.lent === true && shown.borrower !== null && !ours;
  if (shown !== undefined && (another || !shown.lent) && into.length === 0 && unseen.length === 0)
    return { kind: "not-found", detail };
  const reason =
    `M8: the lock ${lock} is ${detail.lock}${ours ? " to this member" : ""}; M6: ${into.length} of ${assets.length} ` +
    `assets are lent, ${unseen.length} not shown; no call says which assets are in a lock`;
  return { kind: "ambiguous", reason, detail, effect };
}

/** M10 puts a member's assets into a lock for lending. No call returns it. */
const borrow: OperationType<BorrowShapes> = {
  endpoint: "M10",
  stages: ["requests"],
  schemas,
  invalidates: ["assets"],
  prepare({ operation, wire, facts }) {
    const request = checked(borrowRequestSchema, wire);
    if (!request.success) return notSendable(request.error.issues);
    const enterpriseGlobalId = facts.link?.enterpriseGlobalId ?? "";
    const context = { ...operation.after, enterpriseGlobalId, lock: request.data.borrowedUsbKey };
    const { memberGlobalId } = context;
    return {
      context,
      send: async ({ memberCenter }, call) => ({
        outcome: await memberCenter.borrow(memberGlobalId, request.data, { ...call, enterpriseGlobalId }),
        conclude: (id) => ({ ...lent(id, context), refused: [] }),
      }),
    };
  },
  onUnknown: { by: "observe", observe, nonRepeatable: true },
  decide: {
    applied: ({ id, context }) => ({
      effect: lent(id, context),
      summary: "The lock counts as lent with all of its assets.",
    }),
    partCure: "make sure on the platform that all of the assets are in the lock, then settle it as --applied",
  },
  reversal: { how: "impossible", why: "no operation returns a lent lock" },
  whereToLook: ({ payload, target, context }) => ({
    what:
      `whether the lock ${payload.borrowedUsbKey} is lent to the member ${target.memberGlobalId}, and whether the ` +
      `assets ${some(context?.assets.map(({ number }) => number) ?? payload.assetIDs)} are in it`,
    where:
      `back office of the member-center, borrowed locks of ${withinEnterprise(context)}; ` +
      "M8 shows the lock, M6 the assets",
    whom: memberDesk,
  }),
  can: {
    answers: ({ before }) => Object.entries(before).map(([about, askedAt]) => ({ of: "loan", about, askedAt })),
    prints: {
      line: async ({ payload, after: { staff, assets } }, called) => {
        const numbers = assets.map(({ number }) => number);
        const what = `the lock ${payload.borrowedUsbKey} to ${called.record(staff)}`;
        return adds(`lend ${what} with ${await assetsText(numbers, called)}`);
      },
    },
  },
};

export const types = { "borrow-assets": borrow };
