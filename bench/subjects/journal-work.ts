import { createIds, systemRandomness } from "../../src/base/ids.ts";
import { sha256 } from "../../src/base/canonical-json.ts";
import { toInstant } from "../../src/base/clock.ts";
import { AuditLog } from "../../src/ledger/audit/audit-log.ts";
import type { Sqlite } from "../../src/ledger/database/database.ts";
import { JournalTables } from "../../src/ledger/journal/journal-tables.ts";
import { operation } from "../../src/engine/model/operation.ts";

/** What a writing call costs the ledger: the rows of its intent, and those of its outcome with an audit entry. */
export interface JournalWork {
  intend(index: number): string;
  conclude(id: string, index: number): void;
}

export function journalWork(database: Sqlite): JournalWork {
  const journal = new JournalTables(database);
  const audit = new AuditLog(database, systemRandomness);
  const ids = createIds(() => Date.now(), systemRandomness);
  const operationOf = (index: number) => {
    const customer = { namespace: "crm", id: `C${String(index).padStart(8, "0")}` };
    return operation("create-enterprise", {
      customer,
      subject: `customer:crm/${customer.id}`,
      records: [{ stream: "customers", ...customer }],
      target: { channelCustomerId: customer.id },
      payload: { crmCustomerId: customer.id, branchName: "Branch B1" },
      reason: "the platform does not know the customer yet",
      before: null,
      after: { name: sha256("name"), branchName: "Branch B1", address: sha256("address") },
    });
  };
  return {
    intend: (index) => {
      const at = toInstant(Date.now());
      const id = ids.next("op");
      const wireHash = sha256(id);
      journal.insert({ id, operation: operationOf(index), state: "sending", runId: null, wireHash, at });
      journal.attempts.start(id, { nonce: systemRandomness.hex(16), wireHash, at });
      return id;
    },
    conclude: (id, index) => {
      const at = toInstant(Date.now());
      journal.finish(id, { state: "done", attempt: { outcome: "done", httpStatus: 200 } }, at);
      audit.append(auditEntry(id, index, at));
    },
  };
}

/** An audit entry as a concluded E2 makes it. */
export function auditEntry(id: string, index: number, at: string): Parameters<AuditLog["append"]>[0] {
  const customer = `crm/C${String(index).padStart(8, "0")}`;
  return {
    at,
    kind: "create-enterprise",
    subject: `customer:${customer}`,
    body: {
      operation: id,
      endpoint: "E2",
      kind: "create-enterprise",
      customer,
      run: "run_0mb3k2x9v00007f3a9c",
      state: "done",
      intent: sha256(id),
      wire: sha256(customer),
      enterpriseGlobalId: `g${index}`,
      channelCustomerId: customer,
      origin: "created",
    },
  };
}
