import { usage } from "../base/errors.ts";
import { subjectOf } from "../crm/keys.ts";
import type { RecordKey } from "../crm/model.ts";
import type { SubjectFacts } from "../report/subject.ts";
import type { Application } from "./application.ts";

/**
 * Everything that is kept about a person, or about a customer and its administrator. Who asked for it stands in the
 * audit log before anything is shown. Throws a Problem where nothing is known under this key.
 */
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
