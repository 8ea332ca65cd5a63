import { z } from "zod";
import { identifierOf, rowOf } from "./answers.ts";
import type { Platform } from "./endpoints.ts";
import { makeEnterprise } from "./enterprises.ts";
import { productSchema } from "./order-bodies.ts";
import { setHolder } from "./privileges.ts";
import { addStaff, changeStaff, removeStaff } from "./staff.ts";
import type { Given } from "./store.ts";

const id = z.string().min(1);
const asset = { assetNum: id };
const product = { ...asset, crmProductId: id };
const profile = {
  name: id.optional(),
  remark: z.string().nullable().optional(),
  mobile: z.string().optional(),
  departmentId: z.string().regex(/^\d+$/u).nullable().optional(),
};

/** Actions of a person on the platform's own pages. They are no calls and no effects. */
export const handEditSchema = z.discriminatedUnion("action", [
  z.strictObject({ action: z.literal("drop-product"), ...product }),
  z.strictObject({ action: z.literal("change-product"), ...product, fields: productSchema.partial() }),
  /** M7 shows these values instead; `{}` ends this. */
  z.strictObject({ action: z.literal("show-product"), ...product, fields: z.record(z.string(), z.json()) }),
  /** Copies a product into the asset, in its own licence order. */
  z.strictObject({
    action: z.literal("add-product"),
    ...asset,
    like: id,
    fields: productSchema.partial(),
    channelOrderId: id.default("by-hand"),
  }),
  z.strictObject({ action: z.literal("drop-asset"), ...asset }),
  /** Copies an asset in its own licence order, without a holder. */
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
    channelCode: id.optional(),
  }),
  /** Shows the enterprise also under another channel number or channel code. */
  z.strictObject({
    action: z.literal("copy-customer"),
    enterpriseGlobalId: id,
    channelCustomerId: id,
    channelCode: id.optional(),
  }),
]);
export type HandEdit = z.infer<typeof handEditSchema>;
export type HandEditInput = z.input<typeof handEditSchema>;

export type HandResult = Record<string, string>;

export class NotThere extends Error {
  override readonly name = "NotThere";
}

export type EditOf<Action extends HandEdit["action"]> = Extract<HandEdit, { action: Action }>;
export type Edits = { [Action in HandEdit["action"]]: (edit: EditOf<Action>) => HandResult | undefined };

function found<Row>(row: Row | undefined, what: string): Row {
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

export interface AssetRow {
  [column: string]: Given;
  id: number;
  enterprise_id: number;
  customer_id: number;
  license_order_id: number;
  license_type: string;
}

export function assetNamed({ store }: Platform, number: string): AssetRow {
  const row = store.get<AssetRow>(
    `SELECT id, enterprise_id, customer_id, license_order_id, license_type, extensions, limit_start, limit_end,
     borrowed_usb_key FROM assets WHERE asset_number = ? AND removed_by IS NULL`,
    number,
  );
  return found(row, `asset ${number}`);
}

export function staffOf({ store }: Platform, globalId: string): StaffRow {
  const row = store.get<StaffRow>(
    "SELECT id, name, department_id, remark, mobile FROM staff WHERE id = ? AND deleted = 0",
    rowOf("member", globalId) ?? -1,
  );
  return found(row, `member ${globalId}`);
}

export function peopleEdits(platform: Platform) {
  const { store, settings, now } = platform;
  return {
    "move-holder": ({ assetNum, memberGlobalId }) => {
      const holder = memberGlobalId === null ? null : staffOf(platform, memberGlobalId).id;
      setHolder(platform, assetNamed(platform, assetNum).id, holder);
      return undefined;
    },
    "rename-person": ({ memberGlobalId, ...changes }) => {
      const row = staffOf(platform, memberGlobalId);
      const departmentId = changes.departmentId === undefined ? row.department_id : changes.departmentId;
      const remark = changes.remark === undefined ? row.remark : changes.remark;
      const { name = row.name, mobile = row.mobile } = changes;
      changeStaff(store, row.id, { name, departmentId, remark, mobile }, now());
      return undefined;
    },
    "delete-person": ({ memberGlobalId }) => {
      removeStaff(store, staffOf(platform, memberGlobalId).id, now());
      return undefined;
    },
    "add-person": ({ enterpriseGlobalId, name, ...staff }) => {
      const row = rowOf("enterprise", enterpriseGlobalId) ?? -1;
      const { id: enterprise } = found(
        store.get<{ id: number }>("SELECT id FROM enterprises WHERE id = ?", row),
        "enterprise",
      );
      const made = { ...staff, name: name ?? staff.userName, enterprise, role: "by-hand" as const };
      return { memberGlobalId: identifierOf("member", addStaff(store, made, now())) };
    },
    "set-online": ({ memberGlobalId, online }) => {
      const { id: row } = staffOf(platform, memberGlobalId);
      store.run(online ? "INSERT OR REPLACE INTO online VALUES (?)" : "DELETE FROM online WHERE staff_id = ?", row);
      return undefined;
    },
    "make-enterprise": ({ channelCode = settings.channelCode, ...made }) => ({
      enterpriseGlobalId: makeEnterprise(platform, { ...made, channelCode }).enterpriseGlobalId,
    }),
    "copy-customer": ({ enterpriseGlobalId, channelCustomerId, channelCode = settings.channelCode }) => {
      const copied = store.run(
        `INSERT INTO customers (enterprise_id, channel_code, channel_customer_id, name, branch_name, address, kind,
         is_default, created_at, updated_at)
         SELECT enterprise_id, ?, ?, name, branch_name, address, kind, is_default, created_at, updated_at
         FROM customers WHERE enterprise_id = ? ORDER BY id LIMIT 2`,
        channelCode,
        channelCustomerId,
        rowOf("enterprise", enterpriseGlobalId) ?? -1,
      );
      if (copied === 0) throw new NotThere(`there is no enterprise ${enterpriseGlobalId}`);
      return undefined;
    },
  } satisfies Partial<Edits>;
}
