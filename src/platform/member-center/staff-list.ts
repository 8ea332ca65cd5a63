import type { StaffList, StaffRow } from "../../contract/member-center.ts";
import { staffPageSchema } from "../../contract/member-center.ts";
import type { ServiceClient } from "../../http/client.ts";
import type { ReadCall } from "../call.ts";
import { ReadFailure } from "../call.ts";

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
      enterprise: enterpriseGlobalId,
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
