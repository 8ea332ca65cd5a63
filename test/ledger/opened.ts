import { type JsonObject, sha256 } from "../../src/base/canonical-json.ts";
import type { Conclusion } from "../../src/ledger/journal/journal-tables.ts";
import type { Ledger } from "../../src/ledger/ledger.ts";
import { operation, type Operation } from "../../src/engine/model/operation.ts";
import type { OperationShapes, Draft } from "../../src/engine/model/resource.ts";
import { key } from "../support/world/records.ts";
import { rowsOf } from "../support/world/start.ts";

export function count(path: string, table: string): number {
  return rowsOf<{ count: number }>(path, `select count(*) as count from ${table}`)[0]?.count ?? 0;
}

/** An E4 for a customer: an operation that needs nothing else. */
export function update(
  customer: string,
  fields: Partial<Draft<OperationShapes["update-enterprise"]>> = {},
): Operation<"update-enterprise"> {
  return operation("update-enterprise", {
    customer: key(customer),
    subject: `customer:crm/${customer}`,
    records: [{ stream: "customers", ...key(customer) }],
    target: {},
    payload: { crmCustomerId: customer, branchName: "Branch" },
    reason: "changed in the CRM: branch",
    before: null,
    after: { name: "n", branchName: "Branch", address: null },
    ...fields,
  });
}

/** `id`: of the operation in the journal, where it was planned before. */
export async function intend(
  ledger: Ledger,
  planned: Operation,
  context: JsonObject = {},
  id?: string,
): Promise<string> {
  const hash = sha256(planned.hash);
  return await ledger.journal.intend({
    operation: planned,
    id,
    runId: null,
    wireHash: hash,
    nonce: hash.slice(0, 32),
    context,
  });
}

export const doneWith = (changes: Conclusion["changes"] = []) => ({
  state: "done" as const,
  attempt: { outcome: "done" as const, httpStatus: 200 },
  changes,
  audit: { kind: "update-enterprise", body: { note: "done" } },
});

/** The Problem that something throws. */
export async function problemOf(
  work: () => unknown,
): Promise<{ code: string; exitCode: number; message: string; cure: string }> {
  try {
    await work();
  } catch (error) {
    if (error instanceof Error && "code" in error && "cure" in error && "exitCode" in error) {
      return {
        code: String(error.code),
        exitCode: Number(error.exitCode),
        message: error.message,
        cure: String(error.cure),
      };
    }
    throw error;
  }
  throw new Error("nothing was thrown");
}
