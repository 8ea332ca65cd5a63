import type { FoundRecord } from "../inquiry/find.ts";
import type { Inquiry } from "../inquiry/inquiry.ts";
import type { Application } from "./application.ts";

/**
 * Looks for people by name or login, for somebody who may see names. Who looked and how many were found is in the audit
 * record before anything is shown, never the text; where that cannot be written, this throws.
 */
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
