import { formatKey, subjectOf } from "../crm/keys.ts";
import { privateFields } from "../crm/model.ts";
import type { RecordKey, Stream } from "../crm/model.ts";
import type { PrivateValues } from "../inquiry/names.ts";
import type { Application } from "./application.ts";
import type { Dashboard } from "./dashboard.ts";

/**
 * The private values of a record for a person who asked for them on its page. The audit log names the person and the
 * fields before any value is read. If that entry cannot be written, this throws and reads nothing.
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
