import { noDataSchema } from "../../contract/answer-fields.ts";
import { assetContentsSchema } from "../../contract/asset-contents.ts";
import {
  type AddStaffRequest,
  type BorrowRequest,
  type ConfigureAssetsRequest,
  type EditStaffRequest,
  type ResetPasswordRequest,
  type StaffList,
  type StaffRow,
  assetNumberRowsSchema,
  borrowedLocksSchema,
  staffAddedSchema,
  staffPageSchema,
} from "../../contract/member-center.ts";
import type { ServiceClient } from "../../http/client.ts";
import { type OfEnterprise, type ReadCall, type WriteCall, ReadFailure, sending } from "../call.ts";

export interface MemberCenterOptions {
  /** Number of the first page of M5 and rows per page. */
  staffPage: { base: number; size: number };
}

/**
 * The member-center over one client. Writes make one attempt and say what became of it; reads give data or reject with
 * ReadFailure, never an empty list. In one piece: a table of ten endpoints.
 */
export function createMemberCenter(client: ServiceClient, options: MemberCenterOptions) {
  return {
    /** M1: adds at most 100 staff. `partial` (60027) says who was added and who was not. */
    addStaff: (enterpriseGlobalId: string, body: AddStaffRequest, call: WriteCall) =>
      client.write({
        endpoint: "M1",
        target: { enterpriseGlobalId },
        schema: staffAddedSchema,
        ...sending(call, body),
      }),
    /** M2: sets name, department, note and mobile of a staff member; all known fields have to be sent (A41). */
    editStaff: (enterpriseGlobalId: string, memberGlobalId: string, body: EditStaffRequest, call: WriteCall) =>
      client.write({
        endpoint: "M2",
        target: { enterpriseGlobalId, memberGlobalId },
        schema: noDataSchema,
        ...sending(call, body),
      }),
    /** M3: sets a new password. Never sent again by itself (A3). */
    resetPassword: (enterpriseGlobalId: string, memberGlobalId: string, body: ResetPasswordRequest, call: WriteCall) =>
      client.write({
        endpoint: "M3",
        target: { enterpriseGlobalId, memberGlobalId },
        schema: noDataSchema,
        ...sending(call, body),
      }),
    /** M4: deletes a staff member; `already` where there is none (60002, A36). It has neither body nor Content-Type. */
    deleteStaff(enterpriseGlobalId: string, memberGlobalId: string, call: WriteCall) {
      const { body: _body, ...bare } = call;
      const target = { enterpriseGlobalId, memberGlobalId };
      return client.write({ endpoint: "M4", target, schema: noDataSchema, ...bare });
    },
    /** M5: all pages of the staff list, proven complete (A27); else it rejects with an `incomplete` ReadFailure. */
    listStaff: (enterpriseGlobalId: string, call: ReadCall) =>
      listStaff(client, options.staffPage, enterpriseGlobalId, call),
    /** M6: all asset numbers of an enterprise and who holds them. */
    listAssetNumbers: (enterpriseGlobalId: string, call: ReadCall) =>
      client.read({ endpoint: "M6", target: { enterpriseGlobalId }, schema: assetNumberRowsSchema, ...call }),
    /** M7: products and packages of an asset, by its id (not its number). */
    listAssetContents: (assetId: string, { enterpriseGlobalId, ...call }: ReadCall & OfEnterprise) =>
      client.read({
        endpoint: "M7",
        target: { assetId },
        enterprise: enterpriseGlobalId,
        schema: assetContentsSchema,
        ...call,
      }),
    /** M8: the borrowed locks of an enterprise and who borrowed them, not which assets went into them. */
    listBorrowedLocks: (enterpriseGlobalId: string, call: ReadCall) =>
      client.read({ endpoint: "M8", target: { enterpriseGlobalId }, schema: borrowedLocksSchema, ...call }),
    /** M9: takes asset numbers from a staff member and gives others; both lists are sent, [] for none. */
    configureAssets: (
      memberGlobalId: string,
      body: ConfigureAssetsRequest,
      { enterpriseGlobalId, ...call }: WriteCall & OfEnterprise,
    ) =>
      client.write({
        endpoint: "M9",
        target: { memberGlobalId },
        enterprise: enterpriseGlobalId,
        schema: noDataSchema,
        ...sending(call, body),
      }),
    /** M10: lends assets (by id) into a borrowed lock (by number). */
    borrow: (memberGlobalId: string, body: BorrowRequest, { enterpriseGlobalId, ...call }: WriteCall & OfEnterprise) =>
      client.write({
        endpoint: "M10",
        target: { memberGlobalId },
        enterprise: enterpriseGlobalId,
        schema: noDataSchema,
        ...sending(call, body),
      }),
  };
}
export type MemberCenter = ReturnType<typeof createMemberCenter>;

/** A list that goes on for longer than this is no staff list. */
const mostPages = 10_000;

/**
 * Reads every page of M5 and proves that they are the whole list: each page is the one asked for, the total stays the
 * same, and the rows are as many as the total and as many as the distinct globalIds (A27). Anything else rejects with
 * an `incomplete` ReadFailure: a short list would look like staff that left.
 */
export async function listStaff(
  client: ServiceClient,
  page: { base: number; size: number },
  enterpriseGlobalId: string,
  call: ReadCall,
): Promise<StaffList> {
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
    if (rows.length === total) return { rows, total, pages: number + 1 };
    if (answer.list.length === 0) throw incomplete(`${rows.length} rows came of a total of ${total}`);
  }
  throw incomplete(`the list did not end after ${mostPages} pages`);
}

function incomplete(reason: string): ReadFailure {
  return new ReadFailure({ endpoint: "M5", kind: "incomplete", reason });
}
