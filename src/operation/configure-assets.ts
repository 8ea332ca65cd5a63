import { z } from "zod";
import { checked } from "../contract/fits.ts";
import { configureAssetsRequestSchema } from "../contract/member-center.ts";
import { formatKey } from "../crm/keys.ts";
import type { RecordKey } from "../crm/model.ts";
import type { Snapshot } from "../platform/snapshot.ts";
import type { AssumptionMet } from "./assumptions-met.ts";
import { notSendable, plainKind } from "./kind.ts";
import type { Effect, Evidence, JournalEntry, Kind } from "./kind.ts";
import { memberDesk, some, withinEnterprise } from "./look-for.ts";
import { references } from "./references.ts";
import type { Shapes, ShapesOf } from "./shape.ts";
import type { StateChange } from "./state.ts";

const assetsContext = z.object({
  enterpriseGlobalId: z.string(),
  memberGlobalId: z.string(),
  staff: z.object({ namespace: z.string(), id: z.string() }),
  deleteAssets: z.array(z.string()),
  addAssets: z.array(z.string()),
});
type AssetsContext = z.infer<typeof assetsContext>;

/** Either a number, or the slot of an asset instance that gets one. */
const assetNumber = z.union([z.string(), references.assetNumber]);
/** What the two directions have in common in a plan and in the journal. */
export const assetSchemas = {
  target: z.object({ memberGlobalId: z.union([z.string(), references.memberGlobalId]) }),
  payload: z.object({ deleteAssets: z.array(assetNumber), addAssets: z.array(assetNumber) }),
  context: assetsContext,
};
type AssetShapes = Shapes &
  Pick<ShapesOf<typeof assetSchemas & { before: z.ZodType; after: z.ZodType }>, "target" | "payload" | "context">;

/** M9 did what it was asked, or M6 shows that it is so. `numbers` limits it to those that were proven. */
function assetsSet(
  operationId: string,
  customer: RecordKey,
  context: AssetsContext,
  proven: { granted: readonly string[]; revoked: readonly string[] },
): Effect {
  return {
    changes: [
      ...proven.revoked.map((assetNumber): StateChange => ({ type: "asset-revoked", assetNumber, operationId })),
      ...proven.granted.map((assetNumber): StateChange => ({
        type: "asset-granted",
        assetNumber,
        staff: context.staff,
        customer,
        memberGlobalId: context.memberGlobalId,
        origin: "granted",
        operationId,
      })),
    ],
    audit: {
      staff: formatKey(context.staff),
      memberGlobalId: context.memberGlobalId,
      granted: [...proven.granted],
      revoked: [...proven.revoked],
    },
  };
}

/** M6 says who holds what; taken away is only what M5 does not show with the member either (A34). */
async function readAssets(entry: JournalEntry<AssetShapes>, snapshot: Snapshot): Promise<Evidence> {
  const { context } = entry;
  const { customer } = entry.operation;
  const members = await snapshot.members(context.enterpriseGlobalId);
  const assets = await snapshot.assets(context.enterpriseGlobalId);
  const holder = new Map(assets.map((asset) => [asset.assetNum, asset.holder]));
  const member = members.find((item) => item.globalId === context.memberGlobalId && !item.deleted);
  const granted = context.addAssets.filter((number) => holder.get(number) === context.memberGlobalId);
  const revoked = context.deleteAssets.filter(
    (number) =>
      holder.has(number) &&
      holder.get(number) !== context.memberGlobalId &&
      member?.assetNums.includes(number) !== true,
  );
  const detail = {
    call: "M6 and M5",
    member: member !== undefined,
    granted,
    revoked,
  };
  const effect = assetsSet(entry.id, customer, context, { granted, revoked });
  if (granted.length === context.addAssets.length && revoked.length === context.deleteAssets.length)
    return { kind: "confirmed", effect, detail };
  return { kind: "not-found", detail, partEffect: granted.length + revoked.length === 0 ? undefined : effect };
}

const inPartOnly: AssumptionMet = {
  row: "A33",

  evidence: "of the numbers of one M9 some were shown as meant over the settle time, and others never",
};

/**
 * What the two directions of M9 have in common: a call about one member of staff that gives and takes asset numbers.
 */
export const configureAssets = {
  ...plainKind,
  endpoint: "M9",
  outdates: ["assets"],
  metUnshown: ({ inPart }) => (inPart ? [inPartOnly] : []),
  cureOfPart: "look on the platform who holds the assets, then settle it as --applied",
  prepare({ operation, wire, target, facts }) {
    const { customer } = operation;
    const request = checked(configureAssetsRequestSchema, wire);
    if (!request.success) return notSendable(request.error.issues);
    const [staff] = operation.records;
    const context: AssetsContext = {
      enterpriseGlobalId: facts.link?.enterpriseGlobalId ?? "",
      memberGlobalId: z.string().parse(target["memberGlobalId"]),
      staff: { namespace: staff?.namespace ?? "", id: staff?.id ?? "" },
      ...request.data,
    };
    return {
      context,
      send: async ({ memberCenter }, call) => ({
        outcome: await memberCenter.configureAssets(context.memberGlobalId, request.data, {
          ...call,
          enterpriseGlobalId: context.enterpriseGlobalId,
        }),
        conclude: (id) => ({
          ...assetsSet(id, customer, context, { granted: context.addAssets, revoked: context.deleteAssets }),
          refused: [],
        }),
      }),
    };
  },
  read: (entry, snapshot) => readAssets(entry, snapshot),
  countAsApplied(entry) {
    const { context } = entry;
    const { addAssets: granted, deleteAssets: revoked } = context;
    return {
      effect: assetsSet(entry.id, entry.operation.customer, context, { granted, revoked }),
      summary: "The assets count as assigned and revoked as meant; the next run compares with M6.",
    };
  },
} as const satisfies Partial<Kind<AssetShapes>>;

/** Who was to hold what, for a person who looks. */
export function lookForHolder(meant: string): Kind<AssetShapes>["lookFor"] {
  return ({ context }) => {
    const numbers = [...(context?.addAssets ?? []), ...(context?.deleteAssets ?? [])];
    const member = context?.memberGlobalId ?? "(not known)";
    return {
      what: `who holds the asset numbers ${some(numbers)}; the call was about the member ${member}, who ${meant} them`,
      where: `back office of the member-center, assets of ${withinEnterprise(context)}; M6 shows who holds each`,
      whom: memberDesk,
    };
  };
}
