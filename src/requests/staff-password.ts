import { exitCodes, Problem } from "../base/errors.ts";
import { formatKey } from "../crm/keys.ts";
import type { RecordKey } from "../crm/model.ts";
import { initialPasswordRef, markerKey, type PrivateMarker } from "../engine/model/references.ts";
import type { NewRequest } from "../engine/model/requests.ts";
import { fits } from "../engine/model/resource.ts";
import type { LoadedCustomer } from "../engine/plan/input.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { Application } from "../operate/application.ts";
import { SnapshotReader } from "../platform/snapshot.ts";
import { explainCommand } from "../report/text.ts";
import { isAccountOf } from "../resources/staff/profile.ts";
import { types } from "../resources/staff/operations.ts";
import { passwordSubject } from "../resources/staff/request.ts";
import { refused, requireReachable, type Asking, type RequestDesk } from "./requests.ts";

export interface PasswordReset {
  staff: RecordKey;
  /** Sets the CRM's password instead of a generated one. */
  fromCrm: boolean;
  withdraw: boolean;
  reason: string;
  by: string;
}

export async function customerOfStaff(application: RequestDesk, staff: RecordKey): Promise<RecordKey> {
  const ledger = await application.ledger();
  const link = await ledger.state.read((rows) => rows.staff.accountOf(staff));
  if (link !== undefined) return link.customer;
  throw refused(
    "staff.not-linked",
    `crm-sync knows no account of ${formatKey(staff)}. No request was made`,
    `\`${explainCommand("staff", staff)}\` shows why`,
  );
}

export function askingForReset(application: RequestDesk, customer: RecordKey, reset: PasswordReset): Asking {
  const { staff, withdraw, by, reason } = reset;
  const requests = async (signal: AbortSignal): Promise<NewRequest[]> => [
    await requestFor(application, customer, reset, signal),
  ];
  const name = { of: "password", about: formatKey(staff), wanted: "reset" } as const;
  return { customer, names: [name], withdraw, requests, by, reason };
}

async function requestFor(
  application: RequestDesk,
  customer: RecordKey,
  { staff, fromCrm, by, reason }: PasswordReset,
  signal: AbortSignal,
): Promise<NewRequest> {
  const { ledger, platform, settings } = await application.runDependencies();
  await requireReachable(ledger, customer);
  if (!ledger.private.canSeal) {
    throw refused(
      "staff.no-sealing-key",
      "ledger.sealKey is not set, so crm-sync cannot store a new password. Nothing was requested",
      "set ledger.sealKey in the configuration, then try again",
    );
  }
  const loaded = ledger.state.load(customer);
  const memberGlobalId = await requireAccount(loaded, staff, new SnapshotReader(platform, settings), {
    signal,
    maxLength: settings.enterpriseCodeMaxLength,
  });
  const given = fromCrm ? givenPassword(loaded, staff, (marker) => ledger.private.valueOf(marker)) : null;
  const about = formatKey(staff);
  return { of: "password", about, wanted: "reset", details: { staff, memberGlobalId, given }, by, reason };
}

/** Throws unless M5 shows the account with the name of its creation. */
async function requireAccount(
  { customer, known, staff: people, privateValues }: LoadedCustomer,
  staff: RecordKey,
  reader: SnapshotReader,
  { signal, maxLength }: { signal: AbortSignal; maxLength: number },
): Promise<string> {
  const key = formatKey(staff);
  const link = known.staffLinks.get(key);
  const person = people.find((one) => formatKey(one.key) === key);
  if (known.link === undefined || link === undefined || person === undefined) {
    throw refused(
      "staff.not-linked",
      `crm-sync knows no account of ${key} at ${formatKey(customer)}. Nothing was requested`,
      `\`${explainCommand("staff", staff)}\` shows why`,
    );
  }
  const members = await reader.of(customer, signal).members(known.link.enterpriseGlobalId);
  const member = members.find((one) => one.globalId === link.memberGlobalId && !one.deleted);
  const login = privateValues.get(markerKey(link.login ?? person.body.userName));
  if (login === undefined) {
    throw refused(
      "staff.erased",
      `the account name of ${key} was erased, so crm-sync cannot recognise the account. Nothing was requested`,
      "set the password on the platform",
    );
  }
  const isTheirs = member !== undefined && isAccountOf(member, login, { known: known.enterpriseCode, maxLength });
  if (isTheirs) return link.memberGlobalId;
  throw refused(
    member === undefined ? "staff.not-shown" : "staff.other-account",
    member === undefined
      ? `the platform does not show the account of ${key} (${link.memberGlobalId}). Nothing was requested`
      : `on the platform (M5), the account name of ${key} (${link.memberGlobalId}) is not the one it was linked ` +
          "with. Nothing was requested",
    "find out on the platform whose account it is, or if somebody deleted it",
  );
}

/** Throws if it was set and wiped already. */
function givenPassword(
  { staff: people }: LoadedCustomer,
  staff: RecordKey,
  valueOf: (marker: PrivateMarker) => unknown,
): PrivateMarker {
  const password = people.find((one) => formatKey(one.key) === formatKey(staff))?.body.password;
  if (password !== undefined && valueOf(password) !== undefined) return password;
  throw refused(
    "staff.no-password",
    password === undefined
      ? `the CRM has no password for ${formatKey(staff)}. Nothing was requested`
      : `the password that the CRM gave for ${formatKey(staff)} was already set once, and crm-sync does not keep ` +
          "it. Nothing was requested",
    "enter a new password in the CRM and run the job, or run this command without --from-crm",
  );
}

interface Account {
  staff: RecordKey;
  customer: RecordKey;
}

interface Sealed {
  ref: string;
  version: number;
  password: string | undefined;
  kind: "initial" | "new";
}

/** Audited, shown, then wiped, one caller at a time: a broken pipe loses nothing, no password is shown unaudited. */
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

/** Undefined: M3 set none for this account. Throws if an outcome is unknown. */
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

async function initial(ledger: Ledger, account: Account): Promise<Sealed> {
  const ref = initialPasswordRef(account);
  const { version } = await ledger.private.latestSealed(ref);
  return { ref, version, password: await ledger.private.sealedPassword(ref, version), kind: "initial" };
}

function noPassword(message: string, cure: string): Problem {
  return new Problem({ code: "staff.no-password", message, cure, exitCode: exitCodes.usage });
}
