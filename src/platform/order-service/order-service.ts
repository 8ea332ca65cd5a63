import { assetDigitsProblem, lockProblem, type LockTarget } from "../../contract/limits.ts";
import { noDataSchema } from "../../contract/answer-fields.ts";
import type { BatchOrderRequest } from "../../contract/order-record.ts";
import {
  type BatchOrderResult,
  type BindEnterpriseRequest,
  type CreateEnterpriseRequest,
  type LockRequest,
  type LockResult,
  type UpdateEnterpriseRequest,
  assetDigitsSchema,
  batchOrderResultsSchema,
  takenLaterSchema,
  enterpriseCreatedSchema,
  lockResultsSchema,
  platformCustomerSchema,
  platformCustomersSchema,
  virtualAssetsSchema,
} from "../../contract/order-service.ts";
import type { ServiceClient } from "../../http/client.ts";
import { type ReadCall, type WriteCall, type WriteOutcome, sending } from "../call.ts";

export interface OrderServiceOptions {
  appKey: string;
  /** First digits that E9 may hand out. */
  assetFirstDigits: readonly string[];
}

/**
 * The order service over one client. Writes make one attempt and say what became of it; reads give data or reject with
 * ReadFailure. In one piece: a table of nine endpoints.
 */
export function createOrderService(client: ServiceClient, options: OrderServiceOptions) {
  async function switchLocks(
    endpoint: "E6" | "E7",
    locks: readonly LockTarget[],
    operatorIdentity: string,
    call: WriteCall,
  ): Promise<WriteOutcome<LockResult[]>> {
    const problems = locks.map(lockProblem).filter((problem) => problem !== undefined);
    if (problems.length > 0) return { kind: "not-sent", reason: problems.join("; ") };
    const body: LockRequest = { assetNums: locks.map((lock) => lock.assetNum), operatorIdentity };
    return await client.write({ endpoint, target: {}, schema: lockResultsSchema, ...sending(call, body) });
  }

  return {
    /** E1: binds a customer to an enterprise. Not idempotent: E3 first (A10). */
    bindEnterprise: (body: BindEnterpriseRequest, call: WriteCall) =>
      client.write({ endpoint: "E1", target: {}, schema: platformCustomerSchema, ...sending(call, body) }),
    /**
     * E2: creates an enterprise, its default and its industry customer, an administrator and a staff member. It gives no
     * customerId: E3 does.
     */
    createEnterprise: (body: CreateEnterpriseRequest, call: WriteCall) =>
      client.write({ endpoint: "E2", target: {}, schema: enterpriseCreatedSchema, ...sending(call, body) }),
    /**
     * E3: the customers of a channel customer number; `Y` shows the default ones only. [] means that there is none; what
     * null means is a setting (A13).
     */
    findCustomers: (channelCode: string, channelCustomerId: string, defaultCustomer: "Y" | "N", call: ReadCall) =>
      client.read({
        endpoint: "E3",
        target: {},
        query: { channelCode, channelCustomerId, defaultCustomer },
        schema: platformCustomersSchema,
        ...call,
      }),
    /** E4: sets name, branch and address. Nothing reads them back (A14). */
    updateEnterprise: (body: UpdateEnterpriseRequest, call: WriteCall) =>
      client.write({ endpoint: "E4", target: {}, schema: noDataSchema, ...sending(call, body) }),
    /**
     * E5: places the order records of one call. The results are tied to them by `matchBySequence`, which is the
     * caller's.
     */
    placeOrders: (body: BatchOrderRequest, call: WriteCall) =>
      client.write<BatchOrderResult[]>({
        endpoint: "E5",
        target: {},
        query: { appKey: options.appKey },
        schema: body.syncMode === "async" ? takenLaterSchema : batchOrderResultsSchema,
        ...sending(call, body),
      }),
    /**
     * E6: disables locks. `done` says that each lock has its own status, see `otherLocks`. Not sent where one of them
     * is not eligible.
     */
    lockAssets: (locks: readonly LockTarget[], operatorIdentity: string, call: WriteCall) =>
      switchLocks("E6", locks, operatorIdentity, call),
    /** E7: enables locks, as E6 disables them. */
    unlockAssets: (locks: readonly LockTarget[], operatorIdentity: string, call: WriteCall) =>
      switchLocks("E7", locks, operatorIdentity, call),
    /** E8: the virtual (cloud) assets of an enterprise; physical ones are not shown. */
    listVirtualAssets: (enterpriseGlobalId: string, call: ReadCall) =>
      client.read({ endpoint: "E8", target: { enterpriseGlobalId }, schema: virtualAssetsSchema, ...call }),
    /**
     * E9: takes asset numbers for good: as many as asked for, distinct, of 10 digits, or the outcome is unknown (A25).
     */
    takeAssetNumbers: (size: number, call: WriteCall) =>
      client.write({
        endpoint: "E9",
        target: {},
        schema: assetDigitsSchema,
        check: (digits) => assetDigitsProblem(digits, size, options.assetFirstDigits),
        ...sending(call, { size }),
      }),
  };
}
export type OrderService = ReturnType<typeof createOrderService>;
