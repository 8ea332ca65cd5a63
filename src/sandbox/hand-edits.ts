import { z } from "zod";
import { identifierOf, rowOf } from "./answers.ts";
import type { IdentifierKind } from "./answers.ts";
import type { Platform } from "./endpoints.ts";
import { enterpriseByHand } from "./enterprises.ts";
import { productSchema } from "./order-bodies.ts";
import type { Store } from "./store.ts";

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

interface StaffRow {
  id: number;
  name: string;
  department_id: string | null;
  remark: string | null;
  mobile: string;
}

function statementsOf(store: Store) {
  return {
    setHolder: store.prepare<[number | null, number | null, number]>(
      "UPDATE assets SET holder_id = ?, held_since = ? WHERE id = ?",
    ),
    findStaff: store.prepare<[number], StaffRow>(
      "SELECT id, name, department_id, remark, mobile FROM staff WHERE id = ? AND deleted = 0",
    ),
    updateStaff: store.prepare<[string, string | null, string | null, string, number, number]>(
      "UPDATE staff SET name = ?, department_id = ?, remark = ?, mobile = ?, updated_at = ? WHERE id = ?",
    ),
    deleteStaff: store.prepare<[number, number]>("UPDATE staff SET deleted = 1, updated_at = ? WHERE id = ?"),
    freeAssets: store.prepare<[number]>("UPDATE assets SET holder_id = NULL, held_since = NULL WHERE holder_id = ?"),
    insertStaff: store.prepare<[number, string, string, string | null, string | null, string, number, number]>(
      `INSERT INTO staff (enterprise_id, role, user_name, name, department_id, remark, mobile, password_hash,
       created_at, updated_at) VALUES (?, 'by-hand', ?, ?, ?, ?, ?, '', ?, ?)`,
    ),
    goOnline: store.prepare<[number]>("INSERT INTO online (staff_id) VALUES (?) ON CONFLICT DO NOTHING"),
    goOffline: store.prepare<[number]>("DELETE FROM online WHERE staff_id = ?"),
    findEnterprise: store.prepare<[number], { id: number }>("SELECT id FROM enterprises WHERE id = ?"),
    copyCustomer: store.prepare<[string, string, number]>(
      `INSERT INTO customers (enterprise_id, channel_code, channel_customer_id, name, branch_name, address, kind,
       is_default, created_at, updated_at)
       SELECT enterprise_id, ?, ?, name, branch_name, address, kind, is_default, created_at, updated_at
       FROM customers WHERE enterprise_id = ? ORDER BY id LIMIT 2`,
    ),
    findAsset: store.prepare<[string], { id: number }>(
      "SELECT id FROM assets WHERE asset_number = ? AND removed_by IS NULL",
    ),
  };
}

type Context = Platform & ReturnType<typeof statementsOf>;

function rowNamed(kind: IdentifierKind, identifier: string): number {
  return rowOf(kind, identifier) ?? -1;
}

const staffOf = (context: Context, globalId: string): StaffRow =>
  found(context.findStaff.get(rowNamed("member", globalId)), `member ${globalId}`);

/** What a person does with staff, with who holds an asset, and with enterprises. */
export function peopleEdits(platform: Platform) {
  const context = { ...platform, ...statementsOf(platform.store) };
  const makeEnterprise = enterpriseByHand(platform);
  return {
    "move-holder": ({ assetNum, memberGlobalId }) => {
      const { id: row } = found(context.findAsset.get(assetNum), `asset ${assetNum}`);
      if (memberGlobalId === null) context.setHolder.run(null, null, row);
      else context.setHolder.run(staffOf(context, memberGlobalId).id, context.now(), row);
      return undefined;
    },
    "rename-person": ({ memberGlobalId, ...changes }) => {
      const row = staffOf(context, memberGlobalId);
      const department = changes.departmentId === undefined ? row.department_id : changes.departmentId;
      const remark = changes.remark === undefined ? row.remark : changes.remark;
      const { name = row.name, mobile = row.mobile } = changes;
      context.updateStaff.run(name, department, remark, mobile, context.now(), row.id);
      return undefined;
    },
    "delete-person": ({ memberGlobalId }) => {
      const { id: row } = staffOf(context, memberGlobalId);
      context.deleteStaff.run(context.now(), row);
      context.freeAssets.run(row);
      return undefined;
    },
    "add-person": ({
      enterpriseGlobalId,
      userName,
      name = userName,
      departmentId = null,
      remark = null,
      mobile = "",
    }) => {
      const { id: row } = found(context.findEnterprise.get(rowNamed("enterprise", enterpriseGlobalId)), "enterprise");
      const now = context.now();
      const made = context.insertStaff.run(row, userName, name, departmentId, remark, mobile, now, now);
      return { memberGlobalId: identifierOf("member", Number(made.lastInsertRowid)) };
    },
    "set-online": ({ memberGlobalId, online }) => {
      const { id: row } = staffOf(context, memberGlobalId);
      (online ? context.goOnline : context.goOffline).run(row);
      return undefined;
    },
    "make-enterprise": ({ channelCode = context.settings.channelCode, ...made }) => ({
      enterpriseGlobalId: makeEnterprise({ ...made, channelCode }),
    }),
    "copy-customer": ({ enterpriseGlobalId, channelCustomerId, channelCode = context.settings.channelCode }) => {
      const row = rowNamed("enterprise", enterpriseGlobalId);
      if (context.copyCustomer.run(channelCode, channelCustomerId, row).changes === 0)
        throw new NotThere(`there is no enterprise ${enterpriseGlobalId}`);
      return undefined;
    },
  } satisfies Partial<Edits>;
}
