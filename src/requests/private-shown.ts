import { usage } from "../base/errors.ts";
import { formatKey, subjectOf } from "../crm/keys.ts";
import { privateFields, type RecordKey, type Stream } from "../crm/model.ts";
import type { FoundRecord } from "../inquiry/find.ts";
import type { Inquiry } from "../inquiry/inquiry.ts";
import type { PrivateValues } from "../inquiry/names.ts";
import type { Application } from "../operate/application.ts";
import type { Dashboard } from "../operate/dashboard.ts";
import type { OperationFacts, QuarantineFacts } from "../report/facts.ts";
import type { SubjectFacts } from "../report/subject.ts";

/** The audit entry comes first. Throws a Problem for an unknown key. */
export async function subjectFacts(
  application: Application,
  whose: { customer: RecordKey } | { person: RecordKey },
  by: string,
): Promise<SubjectFacts> {
  const [stream, key] =
    "customer" in whose ? (["customers", whose.customer] as const) : (["staff", whose.person] as const);
  const inquiry = await application.inquiry();
  const { record, quarantine } = await inquiry.subject(stream, key);
  const subject = subjectOf(stream, key);
  if (record === null && quarantine.length === 0)
    throw usage(`no source has given ${subject}`, "check the id and the namespace");
  const ledger = await application.existingLedger();
  await ledger.audit.append({ kind: "private-shown", subject, body: { by, scope: subject } });
  return await inquiry.subject(stream, key);
}

/** Private values of a record. The audit entry comes first; if it fails, this throws and reads nothing. */
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

/** The raw row in quarantine. The audit entry comes first; if it fails, this throws. Undefined: erased. */
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

/** A service's last answer, which may name people. The audit entry comes first. Undefined: not kept or erased. */
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

/** The audit entry (who, how many, never the text) comes before the result. If it fails, this throws. */
export async function searchPeople(
  application: Pick<Application, "existingLedger">,
  read: (question: (inquiry: Inquiry) => Promise<FoundRecord[]>) => Promise<FoundRecord[]>,
  { text, by }: { text: string; by: string },
): Promise<FoundRecord[]> {
  const ledger = await application.existingLedger();
  const found = await read(async (inquiry) => await inquiry.findPeople(text));
  await ledger.audit.append({ kind: "people-searched", subject: "people", body: { by, found: found.length } });
  return found;
}
