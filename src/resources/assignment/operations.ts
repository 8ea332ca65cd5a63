import { z } from "zod";
import { checked } from "../../contract/fits.ts";
import { configureAssetsRequestSchema } from "../../contract/member-center.ts";
import { formatKey } from "../../crm/keys.ts";
import {
  type OperationType,
  type Bound,
  type Effect,
  type Evidence,
  type JournalEntry,
  notSendable,
} from "../../engine/model/operation-type.ts";
import { memberDesk, some, withinEnterprise, isAssetUnit, references } from "../../engine/model/references.ts";
import { adds, assetsText, named, peopleOf, removes, fieldLines } from "../../engine/model/operation-line.ts";
import type { ShapesOf } from "../../engine/model/resource.ts";
import type { StateChange } from "../../engine/model/state.ts";
import type { WriteCall } from "../../platform/services.ts";
import type { Platform } from "../../platform/platform.ts";
import type { Snapshot } from "../../platform/snapshot.ts";

const context = z.object({
  enterpriseGlobalId: z.string(),
  memberGlobalId: z.string(),
  staff: z.object({ namespace: z.string(), id: z.string() }),
  deleteAssets: z.array(z.string()),
  addAssets: z.array(z.string()),
});
type Context = z.infer<typeof context>;

const asset = z.union([z.string(), references.assetNumber]);
const common = {
  target: z.object({ memberGlobalId: z.union([z.string(), references.memberGlobalId]) }),
  payload: z.object({ deleteAssets: z.array(asset), addAssets: z.array(asset) }),
  context,
};
/** `after`: numbers, or units whose number is not known yet. */
const grantSchemas = { ...common, before: z.null(), after: z.array(z.string()) };
const revokeSchemas = { ...common, before: z.record(z.string(), z.string()), after: z.null() };
type GrantShapes = ShapesOf<typeof grantSchemas>;
type RevokeShapes = ShapesOf<typeof revokeSchemas>;
type Shapes = Omit<GrantShapes, "before" | "after"> & {
  before: GrantShapes["before"] | RevokeShapes["before"];
  after: GrantShapes["after"] | RevokeShapes["after"];
};

declare module "../../engine/model/resource.ts" {
  interface OperationShapes {
    "grant-assets": GrantShapes;
    "revoke-assets": RevokeShapes;
  }
}

function recorded({ id, operation, context: ids }: JournalEntry<Shapes>, granted: string[], revoked: string[]): Effect {
  const { staff, memberGlobalId } = ids;
  const begins = { staff, customer: operation.customer, memberGlobalId, origin: "granted", operationId: id } as const;
  return {
    changes: [
      ...revoked.map((assetNumber): StateChange => ({ type: "asset-revoked", assetNumber, operationId: id })),
      ...granted.map((assetNumber): StateChange => ({ type: "asset-granted", assetNumber, ...begins })),
    ],
    audit: { staff: formatKey(staff), memberGlobalId, granted, revoked },
  };
}

function prepare({ operation, wire, target, facts }: Bound<Shapes>) {
  const request = checked(configureAssetsRequestSchema, wire);
  if (!request.success) return notSendable(request.error.issues);
  const [staff] = operation.records;
  const ids: Context = {
    enterpriseGlobalId: facts.link?.enterpriseGlobalId ?? "",
    memberGlobalId: z.string().parse(target["memberGlobalId"]),
    staff: { namespace: staff?.namespace ?? "", id: staff?.id ?? "" },
    ...request.data,
  };
  const { enterpriseGlobalId, memberGlobalId, addAssets, deleteAssets } = ids;
  return {
    context: ids,
    send: async ({ memberCenter }: Platform, call: WriteCall) => ({
      outcome: await memberCenter.configureAssets(memberGlobalId, request.data, { ...call, enterpriseGlobalId }),
      conclude: (id: string) => ({
        ...recorded({ id, operation, context: ids }, addAssets, deleteAssets),
        refused: [],
      }),
    }),
  };
}

/** A number counts as revoked only if M5 does not show it with the member either (A34). */
async function observe(entry: JournalEntry<Shapes>, snapshot: Snapshot): Promise<Evidence> {
  const { enterpriseGlobalId, memberGlobalId, addAssets, deleteAssets } = entry.context;
  const members = await snapshot.members(enterpriseGlobalId);
  const holders = new Map((await snapshot.assets(enterpriseGlobalId)).map((item) => [item.assetNum, item.holder]));
  const member = members.find((item) => item.globalId === memberGlobalId && !item.deleted);
  const granted = addAssets.filter((number) => holders.get(number) === memberGlobalId);
  const revoked = deleteAssets.filter(
    (number) =>
      holders.has(number) && holders.get(number) !== memberGlobalId && member?.assetNums.includes(number) !== true,
  );
  const detail = { call: "M6 and M5", member: member !== undefined, granted, revoked };
  const effect = recorded(entry, granted, revoked);
  if (granted.length === addAssets.length && revoked.length === deleteAssets.length)
    return { kind: "confirmed", effect, detail };
  return { kind: "not-found", detail, partEffect: granted.length + revoked.length === 0 ? undefined : effect };
}

const partly = {
  row: "A33",
  evidence: "of the numbers of one M9 some were shown as meant over the settle time, and others never",
} as const;

const m9 = {
  endpoint: "M9",
  invalidates: ["assets"],
  prepare,
  onUnknown: { by: "observe", observe },
  decide: {
    applied: (entry) => ({
      effect: recorded(entry, entry.context.addAssets, entry.context.deleteAssets),
      summary: "The assets count as assigned and revoked as meant; the next run compares with M6.",
    }),
    partCure: "make sure on the platform that the assets are held as planned, then settle it as --applied",
  },
  reversal: { how: "exact", by: "M9" },
} as const satisfies Partial<OperationType<Shapes>>;
const notShown = ({ inPart }: { inPart: boolean }) => (inPart ? [partly] : []);

function whereToLook(what: string): OperationType<Shapes>["whereToLook"] {
  return ({ context: ids }) => ({
    what:
      `who holds the asset numbers ${some([...(ids?.addAssets ?? []), ...(ids?.deleteAssets ?? [])])}; the call was ` +
      `about the member ${ids?.memberGlobalId ?? "(not known)"}, who ${what} them`,
    where: `back office of the member-center, assets of ${withinEnterprise(ids)}; M6 shows who holds each`,
    whom: memberDesk,
  });
}

const grant: OperationType<GrantShapes> = {
  ...m9,
  schemas: grantSchemas,
  stages: ["grants"],
  whereToLook: whereToLook("should have got"),
  can: {
    holders: { grants: ({ after }) => after },
    assumes: {
      by: ({ payload }) => [
        { row: "A33", isOnlyTold: true },
        ...payload.addAssets.flatMap((number) =>
          typeof number === "string" ? [{ row: "A35" as const, about: number }] : [],
        ),
      ],
      notShown,
    },
    prints: {
      line: async ({ records, after }, called) =>
        adds(`assign ${await assetsText(after, called)} to ${named(peopleOf(records, called))}`),
      payload: ({ payload: { addAssets, ...payload }, after }) =>
        fieldLines({ ...payload, addAssets: addAssets.map((item, index) => numberIn(after[index]) ?? item) }),
    },
  },
};

function numberIn(asset: string | undefined): string | undefined {
  return asset === undefined || isAssetUnit(asset) ? undefined : asset;
}

/** Revokes in a call of its own, because somebody else may wait for the number. */
const revoke: OperationType<RevokeShapes> = {
  ...m9,
  schemas: revokeSchemas,
  stages: ["revokes"],
  whereToLook: whereToLook("should have lost"),
  can: {
    governed: { policy: "assignments.revoked" },
    removes: { thing: "seats", count: ({ payload }) => payload.deleteAssets.length },
    holders: { frees: ({ payload }) => payload.deleteAssets.filter((number) => typeof number === "string") },
    assumes: {
      by: ({ customer }) => [
        { row: "A33", isOnlyTold: true },
        { row: "A27", about: formatKey(customer) },
      ],
      notShown,
    },
    prints: {
      line: async ({ records, payload }, called) => {
        const assets = payload.deleteAssets.map((item) => (typeof item === "string" ? item : item.of));
        return removes(`unassign ${await assetsText(assets, called)} from ${named(peopleOf(records, called))}`);
      },
    },
  },
};

export const types = { "grant-assets": grant, "revoke-assets": revoke };
