import { noDataSchema } from "../../contract/answer-fields.ts";
import { assetContentsSchema } from "../../contract/asset-contents.ts";
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
} from "../../contract/member-center.ts";
import type { ServiceClient } from "../../http/client.ts";
import { type OfEnterprise, type ReadCall, type WriteCall, ReadFailure, sending } from "../call.ts";

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

/**
 * Throws an `incomplete` ReadFailure unless the list is complete: requested pages, one total, and as many distinct
 * people (A27). In a short list people would seem to have left.
 */
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
