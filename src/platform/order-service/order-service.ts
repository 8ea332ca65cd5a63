import { assetDigitsProblem, lockProblem, type LockTarget } from "../../contract/limits.ts";
import { noDataSchema } from "../../contract/answer-fields.ts";
import type { BatchOrderRequest } from "../../contract/order-record.ts";
import {
  type BatchOrderResult,
  type BindEnterpriseRequest,
  type CreateEnterpriseRequest,
  type LockRequest,
  type LockResult,
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
  assetFirstDigits: readonly string[];
}

/** Writes make one attempt and return its outcome. Reads return data or throw ReadFailure. */
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
    /** Binds a customer to an enterprise. Non-repeatable: call E3 first (A10). */
    bindEnterprise: (body: BindEnterpriseRequest, call: WriteCall) =>
      client.write({ endpoint: "E1", target: {}, schema: platformCustomerSchema, ...sending(call, body) }),
    /** Also creates the default and industry customer, an administrator and a person. Only E3 gives the customerId. */
    createEnterprise: (body: CreateEnterpriseRequest, call: WriteCall) =>
      client.write({ endpoint: "E2", target: {}, schema: enterpriseCreatedSchema, ...sending(call, body) }),
    /** `Y`: only default customers. [] means none. A setting says what null means (A13). */
    findCustomers: (channelCode: string, channelCustomerId: string, defaultCustomer: "Y" | "N", call: ReadCall) =>
      client.read({
        endpoint: "E3",
        target: {},
        query: { channelCode, channelCustomerId, defaultCustomer },
        schema: platformCustomersSchema,
        ...call,
      }),
    /** Sets name, branch and address. No reading shows them (A14). */
    updateEnterprise: (body: CreateEnterpriseRequest, call: WriteCall) =>
      client.write({ endpoint: "E4", target: {}, schema: noDataSchema, ...sending(call, body) }),
    /** Places orders. The caller relates results to orders with `matchBySequence`. */
    placeOrders: (body: BatchOrderRequest, call: WriteCall) =>
      client.write<BatchOrderResult[]>({
        endpoint: "E5",
        target: {},
        query: { appKey: options.appKey },
        schema: body.syncMode === "async" ? takenLaterSchema : batchOrderResultsSchema,
        ...sending(call, body),
      }),
    /** Each lock has its own status within `done`, see `otherLocks`. Not sent if a lock is ineligible. */
    lockAssets: (locks: readonly LockTarget[], operatorIdentity: string, call: WriteCall) =>
      switchLocks("E6", locks, operatorIdentity, call),
    unlockAssets: (locks: readonly LockTarget[], operatorIdentity: string, call: WriteCall) =>
      switchLocks("E7", locks, operatorIdentity, call),
    /** The virtual (cloud) assets of an enterprise. Physical ones are left out. */
    listVirtualAssets: (enterpriseGlobalId: string, call: ReadCall) =>
      client.read({ endpoint: "E8", target: { enterpriseGlobalId }, schema: virtualAssetsSchema, ...call }),
    /** For good. Unless exactly `size` distinct numbers of 10 digits come, the outcome is unknown (A25). */
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
