import { Problem } from "../base/errors.ts";
import type { Application } from "./application.ts";
import type { Finding } from "./check.ts";
import { isThere } from "./ledger-folder.ts";

/** What keeps a run from the ledger; one that does not exist yet is made by the first run. */
export async function ledgerFindings(application: Application): Promise<Finding[]> {
  if (!isThere(application.ledgerPath)) return [];
  const refused = await refusalOf(application);
  if (refused === undefined) return [];
  const { message, cure } = refused;
  return [{ what: "ledger", good: false, kind: "ledger", detail: message, cure }];
}

async function refusalOf(application: Application): Promise<Problem | undefined> {
  try {
    await application.inquiry();
    return application.refusal;
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
}
