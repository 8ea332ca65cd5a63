import { formatKey, subjectOf } from "../crm/keys.ts";
import { privateFields } from "../crm/model.ts";
import type { RecordKey, Stream } from "../crm/model.ts";
import type { PrivateValues } from "../inquiry/private-values.ts";
import type { Application } from "./application.ts";
import type { Dashboard } from "./dashboard.ts";

/**
 * The private values of a record for a person who asked for them on its page. Who asked, for which fields, stands in
 * the audit log before any of them is read; where that cannot be written, this throws and nothing is read.
 */
export async function askForPrivate(
  { application, read }: { application: Pick<Application, "existingLedger">; read: Dashboard["read"] },
  { stream, key }: { stream: Stream; key: RecordKey },
  by: string,
): Promise<PrivateValues | undefined> {
  const ledger = await application.existingLedger();
  await ledger.audit.append({
    kind: "private-shown",
    subject: subjectOf(stream, key),
    body: { by, stream, record: formatKey(key), fields: [...privateFields[stream]] },
  });
  return await read(async (inquiry) => await inquiry.privateValues(stream, key));
}
