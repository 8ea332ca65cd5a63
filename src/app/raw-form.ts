import { formatKey } from "../crm/keys.ts";
import { privateFields } from "../crm/model.ts";
import type { OperationFacts, QuarantineFacts } from "../report/facts.ts";
import type { Application } from "./application.ts";
import type { Dashboard } from "./dashboard.ts";

/**
 * The raw form of a row of the quarantine for a person who asked for it. Who asked stands in the audit log before it
 * is read; where that cannot be written, this throws and nothing is read. Undefined where it was erased.
 */
export async function askForRawForm(
  { application, read }: { application: Pick<Application, "existingLedger">; read: Dashboard["read"] },
  { id, stream, key }: QuarantineFacts,
  by: string,
): Promise<string | undefined> {
  const ledger = await application.existingLedger();
  const record = key === null ? null : formatKey(key);
  const fields = ["raw form", ...privateFields[stream]];
  await ledger.audit.append({
    kind: "private-shown",
    subject: `quarantine:${id}`,
    body: { by, stream, record, fields },
  });
  return await read(async (inquiry) => await inquiry.rawForm(id));
}

/**
 * What a service answered to an operation last, where it was kept, for a person who asked for it: it may name anybody.
 * Who asked stands in the audit log first. Undefined where none was kept or it was erased.
 */
export async function askForAnswer(
  { application, read }: { application: Pick<Application, "existingLedger">; read: Dashboard["read"] },
  { id: operation }: Pick<OperationFacts, "id">,
  by: string,
): Promise<string | undefined> {
  const ledger = await application.existingLedger();
  const subject = `operation:${operation}`;
  await ledger.audit.append({ kind: "private-shown", subject, body: { by, operation, fields: ["answer"] } });
  return await read(async (inquiry) => await inquiry.keptAnswer(operation));
}
