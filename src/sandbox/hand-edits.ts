import { z } from "zod";
import { productSchema } from "./order-bodies.ts";

const id = z.string().min(1);
const asset = { assetNum: id };
const product = { ...asset, crmProductId: id };
const profile = {
  name: id.optional(),
  remark: z.string().nullable().optional(),
  mobile: z.string().optional(),
  departmentId: z.string().regex(/^\d+$/u).nullable().optional(),
};

/**
 * What a person may do on the platform's own pages, past both services. Nothing of it counts as a call or an effect.
 * Assets are named by their number, people and enterprises by their global id, customers by their channel number.
 */
export const handEditSchema = z.discriminatedUnion("action", [
  z.strictObject({ action: z.literal("drop-product"), ...product }),
  /** Fields of the product record of E5, nodes, limits and productUri among them. */
  z.strictObject({ action: z.literal("change-product"), ...product, fields: productSchema.partial() }),
  /** M7 shows these of its fields so, whatever stands there; `{}` ends it. */
  z.strictObject({ action: z.literal("show-product"), ...product, fields: z.record(z.string(), z.json()) }),
  /** Another product in the asset, made from one that is there, in a licence order of its own. */
  z.strictObject({
    action: z.literal("add-product"),
    ...asset,
    like: id,
    fields: productSchema.partial(),
    channelOrderId: id.default("by-hand"),
  }),
  z.strictObject({ action: z.literal("drop-asset"), ...asset }),
  /** Another asset with the same products, in a licence order of its own; nobody holds it. */
  z.strictObject({ action: z.literal("add-asset"), like: id, ...asset, channelOrderId: id.default("by-hand") }),
  z.strictObject({ action: z.literal("move-holder"), ...asset, memberGlobalId: id.nullable() }),
  z.strictObject({ action: z.literal("set-locked"), ...asset, locked: z.boolean() }),
  z.strictObject({ action: z.literal("rename-person"), memberGlobalId: id, ...profile }),
  z.strictObject({ action: z.literal("delete-person"), memberGlobalId: id }),
  z.strictObject({ action: z.literal("add-person"), enterpriseGlobalId: id, userName: id, ...profile }),
  z.strictObject({ action: z.literal("set-online"), memberGlobalId: id, online: z.boolean() }),
  z.strictObject({ action: z.literal("lend"), lock: id, memberGlobalId: id, assetNums: z.array(id).min(1) }),
  z.strictObject({ action: z.literal("return-loan"), lock: id }),
  z.strictObject({
    action: z.literal("make-enterprise"),
    channelCustomerId: id,
    customerName: id,
    branchName: id.default("Branch"),
    address: z.string().default(""),
    /** The channel code of the settings unless it is said. */
    channelCode: id.optional(),
  }),
  /** The enterprise is shown under another channel number, or another channel code, too. */
  z.strictObject({
    action: z.literal("copy-customer"),
    enterpriseGlobalId: id,
    channelCustomerId: id,
    channelCode: id.optional(),
  }),
]);
export type HandEdit = z.infer<typeof handEditSchema>;
export type HandEditInput = z.input<typeof handEditSchema>;

/** The identifiers of what an edit made; empty where it made nothing. */
export type HandResult = Record<string, string>;

/** What an edit names is not there. */
export class NotThere extends Error {
  override readonly name = "NotThere";
}

export type EditOf<Action extends HandEdit["action"]> = Extract<HandEdit, { action: Action }>;
export type Edits = { [Action in HandEdit["action"]]: (edit: EditOf<Action>) => HandResult | undefined };

/** What was looked for; throws NotThere without it. */
export function found<Row>(row: Row | undefined, what: string): Row {
  if (row === undefined) throw new NotThere(`there is no ${what}`);
  return row;
}
