import { z } from "zod";

import { type Result, failed, ok } from "../base/errors.ts";
import {
  holderIdSchema,
  identifierSchema,
  idSchema,
  nullableIdentifierSchema,
  nullableIdSchema,
  nullableTextSchema,
  nullableWireTimeSchema,
  wireTimeSchema,
  or,
  orNull,
} from "./answer-fields.ts";
import type { BatchOrderRequest } from "./order-record.ts";

const text = z.string().min(1);

/** Body of E1. `passwordMobile`: the security mobile. */
export const bindEnterpriseRequestSchema = z.strictObject({
  channelCode: text,
  channelCustomerId: text,
  customerName: text,
  branchName: text,
  enterpriseName: text,
  passwordMobile: text,
});
export type BindEnterpriseRequest = z.infer<typeof bindEnterpriseRequestSchema>;

/** Body of E2 and E4. No reading shows these fields (A14). */
export const createEnterpriseRequestSchema = z.strictObject({
  crmCustomerId: text,
  customerName: text,
  branchName: text,
  address: z.string().optional(),
});
export type CreateEnterpriseRequest = z.infer<typeof createEnterpriseRequestSchema>;

/** Body of E6 and E7. `operatorIdentity` is a role name, never a mobile number (A40). */
export const lockRequestSchema = z.strictObject({ assetNums: z.array(text).min(1), operatorIdentity: text });
export type LockRequest = z.infer<typeof lockRequestSchema>;

export const platformCustomerSchema = z.looseObject({
  customerId: idSchema,
  channelCode: z.string(),
  /** Our number: compared with the requested one, never used as an id of theirs. */
  channelCustomerId: identifierSchema,
  enterpriseGlobalId: idSchema,
  enterpriseName: nullableTextSchema,
  isDefault: z.boolean(),
});

/** Data of E3. Only `[]` means none. A setting says what null or missing data mean (A13). */
export const platformCustomersSchema = orNull(z.array(platformCustomerSchema));

/** Data of E2, without a customerId: E3 gives it. The members must be protected from clean-up. */
export const enterpriseCreatedSchema = z.looseObject({
  enterpriseGlobalId: idSchema,
  defaultType: z.boolean().nullish(),
  members: or(z.array(z.looseObject({ memberGlobalId: idSchema, memberIdentity: nullableTextSchema })), () => []),
});

/** One result of E5. That of a delete record may have no customerId. */
const batchOrderResultSchema = z.looseObject({
  sequence: z.int(),
  licenseOrderId: nullableIdSchema,
  customerId: nullableIdSchema,
});
export type BatchOrderResult = z.infer<typeof batchOrderResultSchema>;
export const batchOrderResultsSchema = z.array(batchOrderResultSchema);

/** Data of an asynchronous E5. Its content is unknown (A15), so anything fits and nothing counts. */
export const takenLaterSchema = z.union([
  batchOrderResultsSchema,
  z.unknown().transform((): z.infer<typeof batchOrderResultsSchema> => []),
]);

/** One result of E6 or E7. Each lock has its own status within an overall success. */
const lockResultSchema = z.looseObject({
  assetNum: idSchema,
  status: z.union([z.literal(1), z.literal(2), z.literal(3), z.literal(4)]),
});
export type LockResult = z.infer<typeof lockResultSchema>;
export const lockResultsSchema = z.array(lockResultSchema);

/** A virtual asset (E8). `borrowedUsbKey` is a Boolean here. */
const virtualAssetSchema = z.looseObject({
  id: idSchema,
  licenseType: z.string(),
  assetNum: holderIdSchema,
  grantable: z.boolean().nullish(),
  customerId: nullableIdentifierSchema,
  keyShellNumber: nullableIdentifierSchema,
  /** 1 = generation-4 lock, 2 = generation-5 lock. */
  keyChipType: z.int().nullish(),
  locked: z.boolean().nullish(),
  /** Only for certificate authorization. */
  freezing: z.boolean().nullish(),
  createTime: nullableWireTimeSchema,
  updateTime: nullableWireTimeSchema,
  limitStartTime: nullableWireTimeSchema,
  limitEndTime: nullableWireTimeSchema,
  assignStatus: z
    .looseObject({
      id: nullableIdentifierSchema,
      assignStatus: nullableTextSchema,
      assignMemberId: holderIdSchema,
      /** A text here, unlike all other times. */
      createTime: wireTimeSchema.nullish(),
      updateTime: z.unknown().optional(),
    })
    .nullish(),
  assetLimits: z.unknown().optional(),
  assetExtends: or(z.array(z.looseObject({ extendCode: z.string(), extendValue: nullableTextSchema })), () => []),
  borrowedUsbKey: z.boolean().nullish(),
});
export const virtualAssetsSchema = z.array(virtualAssetSchema);

/** Data of E9: strings of 10 digits, see `assetDigitsProblem`. Numbers do not fit the contract. */
export const assetDigitsSchema = z.array(z.string());

/** Matches results by `sequence`, never by position: each must come back once. Returns all problems. */
export function matchBySequence(
  request: BatchOrderRequest,
  results: readonly BatchOrderResult[],
): Result<Map<number, BatchOrderResult>, string[]> {
  const problems: string[] = [];
  const sent = new Map(request.orderList.map((order) => [order.sequence, order]));
  const matched = new Map<number, BatchOrderResult>();
  for (const result of results) {
    const { sequence, customerId } = result;
    const problem = (what: string): unknown => problems.push(`sequence ${sequence} came back ${what}`);
    const order = sent.get(sequence);
    if (order === undefined) problem("and was not sent");
    else if (matched.has(sequence)) problem("more than once");
    else {
      matched.set(sequence, result);
      const isPurchase = order.orderType === "new_buy";
      const isOther = order.customerId !== undefined && customerId !== order.customerId;
      if (isOther && (isPurchase || customerId !== null)) problem("for another customer");
      if (isPurchase && (result.licenseOrderId ?? "") === "") problem("without a licence order");
    }
  }
  for (const sequence of sent.keys())
    if (!matched.has(sequence)) problems.push(`sequence ${sequence} did not come back`);
  return problems.length === 0 ? ok(matched) : failed(problems);
}

/** Locks that did not come back, were not sent, or came back more than once. */
export function otherLocks(sent: readonly string[], results: readonly LockResult[]): string[] {
  const came = results.map(({ assetNum }) => assetNum);
  const missing = sent.filter((number) => !came.includes(number));
  const unexpected = came.filter((number) => !sent.includes(number));
  const repeated = came.filter((number, index) => came.indexOf(number) !== index);
  return [...new Set(missing), ...new Set(unexpected), ...new Set(repeated)];
}
