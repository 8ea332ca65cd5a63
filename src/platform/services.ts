import { assetDigitsProblem, lockProblem, type LockTarget } from "../contract/limits.ts";
import { noDataSchema } from "../contract/answer-fields.ts";
import type { BatchOrderRequest } from "../contract/order-record.ts";
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
} from "../contract/order-service.ts";
import type { ServiceClient } from "../http/client.ts";
import { assetContentsSchema } from "../contract/asset-contents.ts";
import {
  type AddStaffRequest,
  type BorrowRequest,
  type ConfigureAssetsRequest,
  type EditStaffRequest,
  type ResetPasswordRequest,
  type StaffRow,
  assetNumberRowsSchema,
  borrowedLocksSchema,
  staffAddedSchema,
  staffPageSchema,
} from "../contract/member-center.ts";
import { Problem } from "../base/errors.ts";
import type { JsonObject } from "../base/canonical-json.ts";
import { ReadFailure, type Call, type WriteCall as Sent, type WriteOutcome } from "../http/call.ts";

export type ReadCall = Pick<Call<unknown>, "customer" | "signal">;

export interface WriteCall extends ReadCall, Pick<Sent<unknown>, "nonce" | "beforeSending" | "mayLeave" | "recorded"> {
  body?: string | undefined;
}

/** Its user token is used, for paths without an enterprise (M7, M9, M10). */
export interface OfEnterprise {
  enterpriseGlobalId: string;
}

/** The answer fits the contract but is not credible: it neither proves that something exists nor that it does not. */
export class AmbiguousReading extends Problem {}

/** E3 answered null or without data, and no setting says that this means none (A13). */
export function saysNothing(channelCustomerId: string): AmbiguousReading {
  return new AmbiguousReading({
    code: "platform.ambiguous",
    message:
      `the platform (E3) answered null for the channel customer number ${quoted(channelCustomerId)}, so it is not ` +
      "known if an enterprise exists",
    cure:
      "ask the provider of the order service what null means. If it means that no enterprise exists, set " +
      "assumptions.nullEnterprises: none (A13)",
  });
}

interface Channel {
  channelCode: string;
  channelCustomerId: string;
}

export function notAskedFor(asked: Channel, came: Channel): AmbiguousReading {
  const words = (channel: Channel): string =>
    `the channel customer number ${quoted(channel.channelCustomerId)} ` +
    `under the channel code ${quoted(channel.channelCode)}`;
  return new AmbiguousReading({
    code: "platform.ambiguous",
    message: `E3 was asked for ${words(asked)} and answered with ${words(came)}, so the answer proves nothing`,
    cure:
      "ask the provider of the order service why E3 answers with another customer. Until then crm-sync creates " +
      "nothing for this customer",
  });
}

function quoted(text: string): string {
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text).replaceAll(/[\p{C}]/gu, "?");
}

export function sending(call: WriteCall & Partial<OfEnterprise>, body: JsonObject) {
  const { body: bodyText, enterpriseGlobalId: enterprise, ...rest } = call;
  return { ...rest, enterprise, body, bodyText };
}

export interface OrderServiceOptions {
  appKey: string;
  assetFirstDigits: readonly string[];
}

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

export interface MemberCenterOptions {
  staffPage: { base: number; size: number };
}

/** Writes make one attempt and return its outcome. Reads throw ReadFailure, never return an empty list instead. */
export function createMemberCenter(client: ServiceClient, options: MemberCenterOptions) {
  return {
    /** Adds at most 100 people. `partial` (60027) says who was added. */
    addStaff: (enterpriseGlobalId: string, body: AddStaffRequest, call: WriteCall) =>
      client.write({
        endpoint: "M1",
        target: { enterpriseGlobalId },
        schema: staffAddedSchema,
        ...sending(call, body),
      }),
    /** Sets name, department, note and mobile number. All known fields must be sent (A41). */
    editStaff: (enterpriseGlobalId: string, memberGlobalId: string, body: EditStaffRequest, call: WriteCall) =>
      client.write({
        endpoint: "M2",
        target: { enterpriseGlobalId, memberGlobalId },
        schema: noDataSchema,
        ...sending(call, body),
      }),
    /** Sets a new password. Never sent again without a person (A3). */
    resetPassword: (enterpriseGlobalId: string, memberGlobalId: string, body: ResetPasswordRequest, call: WriteCall) =>
      client.write({
        endpoint: "M3",
        target: { enterpriseGlobalId, memberGlobalId },
        schema: noDataSchema,
        ...sending(call, body),
      }),
    /** Deletes a person. `already`: no such person (60002, A36). Sends neither body nor Content-Type. */
    deleteStaff(enterpriseGlobalId: string, memberGlobalId: string, call: WriteCall) {
      const { body: _body, ...bare } = call;
      const target = { enterpriseGlobalId, memberGlobalId };
      return client.write({ endpoint: "M4", target, schema: noDataSchema, ...bare });
    },
    /** All pages, proven complete (A27). Otherwise throws an `incomplete` ReadFailure. */
    listStaff: (enterpriseGlobalId: string, call: ReadCall) =>
      listStaff(client, options.staffPage, enterpriseGlobalId, call),
    listAssetNumbers: (enterpriseGlobalId: string, call: ReadCall) =>
      client.read({ endpoint: "M6", target: { enterpriseGlobalId }, schema: assetNumberRowsSchema, ...call }),
    /** Products and packages of an asset, by its id (not its number). */
    listAssetContents: (assetId: string, { enterpriseGlobalId, ...call }: ReadCall & OfEnterprise) =>
      client.read({
        endpoint: "M7",
        target: { assetId },
        enterprise: enterpriseGlobalId,
        schema: assetContentsSchema,
        ...call,
      }),
    /** The borrowed locks and their borrowers, but not the lent assets. */
    listBorrowedLocks: (enterpriseGlobalId: string, call: ReadCall) =>
      client.read({ endpoint: "M8", target: { enterpriseGlobalId }, schema: borrowedLocksSchema, ...call }),
    /** Revokes asset numbers and assigns others. Both lists are always sent. */
    configureAssets: (memberGlobalId: string, body: ConfigureAssetsRequest, call: WriteCall & OfEnterprise) =>
      client.write({ endpoint: "M9", target: { memberGlobalId }, schema: noDataSchema, ...sending(call, body) }),
    borrow: (memberGlobalId: string, body: BorrowRequest, call: WriteCall & OfEnterprise) =>
      client.write({ endpoint: "M10", target: { memberGlobalId }, schema: noDataSchema, ...sending(call, body) }),
  };
}
export type MemberCenter = ReturnType<typeof createMemberCenter>;

const mostPages = 10_000;

/** Throws an `incomplete` ReadFailure unless the list is complete (A27): people would seem to have left. */
export async function listStaff(
  client: ServiceClient,
  page: { base: number; size: number },
  enterpriseGlobalId: string,
  call: ReadCall,
): Promise<StaffRow[]> {
  const rows: StaffRow[] = [];
  const seen = new Set<string>();
  let total: number | undefined;
  for (let number = 0; number < mostPages; number += 1) {
    const answer = await client.read({
      endpoint: "M5",
      target: { enterpriseGlobalId },
      query: { pageNum: String(page.base + number), pageSize: String(page.size) },
      schema: staffPageSchema,
      ...call,
    });
    total ??= answer.total;
    if (answer.total !== total)
      throw incomplete(`the total changed from ${total} to ${answer.total} while it was read`);
    if (answer.pageNum !== page.base + number)
      throw incomplete(`page ${page.base + number} was asked for and page ${answer.pageNum} came`);
    for (const row of answer.list) {
      if (seen.has(row.globalId)) throw incomplete("the same staff member came twice");
      seen.add(row.globalId);
      rows.push(row);
    }
    if (rows.length > total) throw incomplete(`${rows.length} rows came of a total of ${total}`);
    if (rows.length === total) return rows;
    if (answer.list.length === 0) throw incomplete(`${rows.length} rows came of a total of ${total}`);
  }
  throw incomplete(`the list did not end after ${mostPages} pages`);
}

function incomplete(reason: string): ReadFailure {
  return new ReadFailure({ endpoint: "M5", kind: "incomplete", reason });
}
