import { explainCommand } from "../report/text.ts";
import { exitCodes, Problem } from "../base/errors.ts";
import { formatKey } from "../crm/keys.ts";
import type { RecordKey } from "../crm/model.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { passwordSubject } from "../resources/staff/request.ts";
import { types } from "../resources/staff/operations.ts";
import { initialPasswordRef } from "../engine/model/references.ts";
import { fits } from "../engine/model/shape.ts";
import type { Application } from "./application.ts";

/** The account of a person at one customer. */
interface Account {
  staff: RecordKey;
  customer: RecordKey;
}

/** A password that is sealed, and why it is there. Version 0: none ever was. */
interface Sealed {
  ref: string;
  version: number;
  password: string | undefined;
  kind: "initial" | "new";
}

/**
 * Hands the generated password of a member of staff out, once and to one who asks at a time: the one that was set last
 * for the account at their customer, else the initial one. Audited first, shown next, wiped last: a pipe that breaks
 * loses nothing, and no showing is without its entry.
 */
export async function handOutPassword(
  application: Application,
  staff: RecordKey,
  by: string,
  show: (password: string) => Promise<void>,
): Promise<Sealed["kind"]> {
  const ledger = await application.existingLedger();
  return await ledger.private.alone(async () => await handOut(ledger, staff, by, show));
}

async function handOut(
  ledger: Ledger,
  staff: RecordKey,
  by: string,
  show: (password: string) => Promise<void>,
): Promise<Sealed["kind"]> {
  const key = formatKey(staff);
  const link = await ledger.state.read((rows) => rows.staff.accountOf(staff));
  if (link === undefined) {
    throw noPassword(
      `staff member ${key} was not added by crm-sync yet, so there is no password to hand out`,
      `\`${explainCommand("staff", staff)}\` shows why it waits`,
    );
  }
  const account = { staff, customer: link.customer };
  const { ref, version, password, kind } =
    (await setAnew(ledger, account, link.memberGlobalId)) ?? (await initial(ledger, account));
  if (password === undefined) {
    throw noPassword(
      version > 0
        ? `the ${kind} password of staff member ${key} was ${
            ledger.private.isErased(ref, version)
              ? "erased with the person's data"
              : "handed out already and is not kept"
          }`
        : `there is no generated password for staff member ${key}`,
      `\`crm-sync staff reset-password ${key} --reason TEXT\` sets a new one`,
    );
  }
  await ledger.audit.append({ kind: "password-handed-out", subject: `staff:${key}`, body: { version, by } });
  await show(password);
  await ledger.private.wipeSealed(ref, version);
  return kind;
}

/** The password that the last M3 set for this account, where there was one. Throws where one is in doubt. */
async function setAnew(ledger: Ledger, { staff }: Account, memberGlobalId: string): Promise<Sealed | undefined> {
  const key = formatKey(staff);
  const subject = passwordSubject(key);
  const open = await ledger.journal.newestOn(subject, ["sending", "unknown", "parked"]);
  if (open !== undefined) {
    throw noPassword(
      `a new password was sent for staff member ${key}, and whether it was set is not known (${open.id})`,
      "decide that first: `crm-sync settle list`",
    );
  }
  const context = (await ledger.journal.newestOn(subject, ["done"]))?.context;
  if (context === undefined || !fits(types["reset-password"].schemas.context, context)) return undefined;
  if (context.memberGlobalId !== memberGlobalId) return undefined;
  const { ref, version } = context.password;
  if (!context.generated) {
    throw noPassword(
      `the password of staff member ${key} was set to the one that the CRM gave`,
      `ask there for it, or set a new one: \`crm-sync staff reset-password ${key} --reason TEXT\``,
    );
  }
  return { ref, version, password: await ledger.private.sealedPassword(ref, version), kind: "new" };
}

/** The password that the account was made with. */
async function initial(ledger: Ledger, account: Account): Promise<Sealed> {
  const ref = initialPasswordRef(account);
  const { version } = await ledger.private.latestSealed(ref);
  return { ref, version, password: await ledger.private.sealedPassword(ref, version), kind: "initial" };
}

function noPassword(message: string, cure: string): Problem {
  return new Problem({ code: "staff.no-password", message, cure, exitCode: exitCodes.usage });
}
