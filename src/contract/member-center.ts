import { z } from "zod";

import {
  holderIdSchema,
  idSchema,
  nullableIdentifierSchema,
  nullableTextSchema,
  nullableWireTimeSchema,
  wireIntegerSchema,
  or,
} from "./answer-fields.ts";
import { unchanged } from "./fits.ts";
import { limits } from "./limits.ts";

const text = z.string().min(1);

/** A department (Long): a number, or digits where a number would lose some. */
const departmentIdSchema = wireIntegerSchema.refine((id) => !isInteger(id) || isLong(BigInt(id)), {
  message: "is no Long",
});

/** Zod also asks this about texts that already failed. */
function isInteger(id: string | number): boolean {
  return typeof id === "number" ? Number.isInteger(id) : /^-?\d+$/.test(id);
}

function isLong(id: bigint): boolean {
  return id >= 0n && id < 2n ** 63n;
}

/** A number if it keeps every digit, else text. `wireText` sends a number in both cases. */
export function wireLong(digits: string): number | string {
  const value = Number(digits);
  return Number.isSafeInteger(value) ? value : digits;
}

/** `userName` is bare: the service appends the enterprise code. `passwordMobile`: a security mobile (M1). */
const newStaffSchema = z.strictObject({
  userName: z.string().regex(/^[A-Za-z0-9]+$/, "may contain only letters and digits"),
  password: text,
  departmentId: departmentIdSchema.optional(),
  name: text,
  remark: z.string().optional(),
  passwordMobile: text.optional(),
});

export const addStaffRequestSchema = z.strictObject({
  userList: z.array(newStaffSchema).min(1).max(limits.staffPerCall),
});
export type AddStaffRequest = z.infer<typeof addStaffRequestSchema>;

/** Body of M2. It requires `userName` and does not change it. All known fields are sent (A41). */
export const editStaffRequestSchema = z.strictObject({
  userName: z.string().regex(/^[A-Za-z0-9]+$/, "may contain only letters and digits"),
  departmentId: departmentIdSchema.optional(),
  name: text,
  remark: z.string().optional(),
  passwordMobile: z.string().optional(),
});
export type EditStaffRequest = z.infer<typeof editStaffRequestSchema>;

export const resetPasswordRequestSchema = z.strictObject({ password: text });
export type ResetPasswordRequest = z.infer<typeof resetPasswordRequestSchema>;

/** Body of M9: asset NUMBERS. Both arrays are required. No number may be in both (A33). */
export const configureAssetsRequestSchema = z
  .strictObject({ deleteAssets: z.array(text), addAssets: z.array(text) })
  .refine((request) => !request.addAssets.some((number) => request.deleteAssets.includes(number)), {
    path: ["addAssets"],
    message: "a number is in both lists",
  });
export type ConfigureAssetsRequest = z.infer<typeof configureAssetsRequestSchema>;

/** Body of M10: `borrowedUsbKey` is a lock NUMBER, `assetIDs` are asset ids. */
export const borrowRequestSchema = z.strictObject({ borrowedUsbKey: text, assetIDs: z.array(text).min(1) });
export type BorrowRequest = z.infer<typeof borrowRequestSchema>;

const person = {
  id: nullableIdentifierSchema,
  userId: nullableIdentifierSchema,
  globalId: idSchema,
  enterpriseId: nullableIdentifierSchema,
  departmentId: nullableIdentifierSchema,
  departmentName: nullableTextSchema,
  userName: z.string(),
};

/** A person added by M1. M9 takes the `globalId`. `userName` has the enterprise code appended. */
export const addedStaffSchema = z.looseObject({
  ...person,
  name: nullableTextSchema,
  remark: nullableTextSchema,
  deleted: z.boolean().nullish(),
  updateTime: nullableWireTimeSchema,
  createTime: nullableWireTimeSchema,
});
export type AddedStaff = z.infer<typeof addedStaffSchema>;

const refusedStaffSchema = z.looseObject({ userName: z.string(), message: nullableTextSchema });
export type RefusedStaff = z.infer<typeof refusedStaffSchema>;

export const staffAddedSchema = z.looseObject({
  succeeded: unchanged(
    z
      .array(addedStaffSchema)
      .nullable()
      .transform((rows) => rows ?? []),
    z.array(addedStaffSchema),
  ),
  failed: or(z.array(refusedStaffSchema), () => []),
});

/** A row of M5. `assetNums`: the person's assets. `borrowNum`: the borrowed lock. */
export const staffRowSchema = z.looseObject({
  ...person,
  passwordMobile: nullableTextSchema,
  name: nullableTextSchema,
  assetNums: or(z.array(idSchema), () => []),
  borrowNum: nullableIdentifierSchema,
  onlineFlag: z.boolean().nullish(),
  remark: nullableTextSchema,
  /** Deleted rows count as absent (A36). */
  deleted: or(z.boolean(), () => false),
  updateTime: nullableWireTimeSchema,
  createTime: nullableWireTimeSchema,
  /** The contract does not show its content (A38). */
  boundUserInfo: z.unknown().optional(),
});
export type StaffRow = z.infer<typeof staffRowSchema>;

const decorative = z.int().nullish();

export const staffPageSchema = z.looseObject({
  pageNum: z.int(),
  pageSize: z.int(),
  size: decorative,
  orderBy: z.unknown().optional(),
  startRow: decorative,
  endRow: decorative,
  total: z.int().min(0),
  pages: z.int().min(0),
  list: z.array(staffRowSchema),
  firstPage: decorative,
  prePage: decorative,
  nextPage: decorative,
  lastPage: decorative,
  isFirstPage: z.boolean().nullish(),
  isLastPage: z.boolean().nullish(),
  hasPreviousPage: z.boolean().nullish(),
  hasNextPage: z.boolean().nullish(),
  navigatePages: decorative,
  navigatepageNums: z.array(z.int()).nullish(),
});

const assetNumberRowSchema = z.looseObject({
  assetNum: idSchema,
  assetId: idSchema,
  cloudAccountGlobalId: holderIdSchema,
  borrowedFlag: or(z.boolean(), () => false),
  onlineFlag: or(z.boolean(), () => false),
});
export const assetNumberRowsSchema = z.array(assetNumberRowSchema);

const borrowedLockSchema = z.looseObject({
  assetId: idSchema,
  assetNum: idSchema,
  borrowedFlag: z.boolean(),
  cloudAccountGlobalId: holderIdSchema,
});
export const borrowedLocksSchema = z.array(borrowedLockSchema);
