import { exitCodes, Problem } from "../base/errors.ts";
import { formatKey } from "../crm/keys.ts";
import type { RecordKey } from "../crm/model.ts";
import type { Application } from "./application.ts";

/**
 * Hands the generated initial password of a staff member out, once: audited first, shown next, wiped last. A pipe that
 * breaks loses nothing, and no showing is without its entry.
 */
export async function handOutPassword(
  application: Application,
  staff: RecordKey,
  by: string,
  show: (password: string) => Promise<void>,
): Promise<void> {
  const key = formatKey(staff);
  const ledger = await application.existingLedger();
  const ref = `initial-password/${key}`;
  const sealed = await ledger.private.latestSealed(ref);
  const password = sealed.values?.["password"];
  if (!(await ledger.state.isStaffLinked(staff))) {
    throw noPassword(
      `staff member ${key} was not added by crm-sync yet, so there is no password to hand out`,
      "`crm-sync explain staff ID` says what it waits for",
    );
  }
  if (typeof password !== "string") {
    throw noPassword(
      sealed.version > 0
        ? `the initial password of staff member ${key} was handed out already and is not kept`
        : `there is no generated password for staff member ${key}`,
      "have the person reset the password on the platform",
    );
  }
  const body = { version: sealed.version, by };
  await ledger.audit.append({ kind: "password-handed-out", subject: `staff:${key}`, body });
  await show(password);
  await ledger.private.wipeSealed(ref, sealed.version);
}

function noPassword(message: string, cure: string): Problem {
  return new Problem({ code: "staff.no-password", message, cure, exitCode: exitCodes.usage });
}
