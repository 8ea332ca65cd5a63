import type { RecordKey, Stream } from "../crm/model.ts";
import type { HoldFacts, QuarantineFacts } from "./facts.ts";
import { explainCommand, nounOf, resyncCommand, typedKey } from "./text.ts";

const itself = "nothing: the next run checks again";
const correctCrm = "correct the record in the CRM; the next run uses it";
const settled = "nothing: the next run settles the operation. If it needs a person, crm-sync settle list shows it";
export const olderCopyCure =
  "keep a copy of this file. If a newer one exists, put that back. If not: `crm-sync rebuild --dry-run` shows what the " +
  "platform gives back, and `crm-sync rebuild` keeps it";

export const whenDown = "nothing: the next run tries again. If the problem stays, crm-sync check tests the services";
export const whenSourceDown =
  "nothing: the next run reads again. If the problem stays, crm-sync check tests the source";
const keepOne =
  "if both records are the same person, keep only one of them in the CRM. If they are two people, give one of them " +
  "another account name";

/**
 * Next steps of waiting records by reason code. A key that ends in a dot applies to all codes with that beginning.
 * Placeholders: RESYNC (synchronise the customer), EXPLAIN (the record), DECIDE (the hold), WITHDRAW (its rejection);
 * CUSTOMER, RECORD and ROW are ids.
 */
const byCode: Record<string, string> = {
  "asset.claimed-twice": "give the licence to one person only in the CRM",
  "asset.ended":
    "end the assignment of the licence to this person in the CRM. To buy the licence again, add it to its order again",
  "asset.ending":
    "nothing: the next run removes the licence, unless a hold stops the removal (EXPLAIN). After the removal, end " +
    "the assignment in the CRM",
  "asset.lending-unknown":
    "have the lock returned on the platform. If the platform shows that the licence is not lent, you can remove that " +
    "licence there",
  "asset.lent": "have the lock returned on the platform: crm-sync cannot return it. The next run checks again",
  "asset.held-by-another":
    "if crm-sync did not make the assignment of the holder, end it on the platform, or correct the CRM. If its " +
    "removal is blocked, `crm-sync status` shows why",
  "asset.not-ordered": "check that the order with this licence is in the CRM, and that the order does not wait",
  "asset.not-shown": itself,
  "asset.number-taken": "correct the asset number in the CRM, or leave it empty: the number belongs to another licence",
  "asset.readings-disagree":
    "nothing: the next run reads both lists again. If they still disagree, ask the provider of the member-center who " +
    "has the licence",
  "asset.taken-away":
    "if the person must have the licence, assign it on the platform; if not, end the assignment in the CRM. Or end the " +
    "assignment in the CRM, run, and add it again: crm-sync then gives the licence",
  "assumption.contradicted":
    "ask the provider of the service what is true, and correct the setting of ROW (docs/reference/assumptions.md). Then " +
    "`crm-sync assumptions accept ROW --reason TEXT`",
  "asset.wrong-type":
    "correct the field `locked` of the licence in the CRM. For a lock of a large customer, `crm-sync lock --help` " +
    "and `crm-sync unlock --help` show the commands",
  "assumption.missing": "choose a value for the setting in the configuration: crm-sync check shows the choices",
  "customer.blocked": "solve the problem of the customer first: EXPLAIN",
  "customer.gone":
    "nothing: for a customer that was deleted in the CRM, no order is placed and no account is made. If the " +
    "customer must stay, restore it in the CRM",
  "customer.incomplete": "add the purchaser's mobile number in the CRM; the next run uses it",
  "customer.not-looked-up": itself,
  "customer.not-orderable": "fill in the named fields in the CRM, or in the mapping; the next run uses them",
  "customer.quarantined": "correct the record of the customer: crm-sync quarantine list shows its problem",
  "customer.restless": itself,
  "customer.stale": itself,
  defect:
    "send the makers of crm-sync the output of `crm-sync --version` and the lines of the log that contain " +
    '"defect". The record waits, and each run tries again',
  "plan.not-chosen": itself,
  "customer.unknown": "check that the customer is in the CRM and that a source reads it: crm-sync check",
  "enterprise.ambiguous":
    "choose one: crm-sync link CUSTOMER ENTERPRISE --reason TEXT; or give the customer a channel customer number of " +
    "its own in the CRM, or merge the enterprises on the platform",
  "enterprise.bound":
    "make the change on the platform. If E4 may also change a customer of E1, set assumptions.boundEnterpriseUpdate: " +
    "send (A11)",
  "enterprise.customers-not-shown": itself,
  "enterprise.no-single-customer":
    "set assumptions.customerSelection so that exactly one customer of the enterprise fits (A12)",
  "enterprise.renumbered":
    "if the new number is right, ask the provider to change it on the platform, then enter the command in the reason; " +
    "it reads E3 first. If the number is wrong, correct it in the CRM",
  "loan.": "correct the loan in the CRM, or have the lock returned on the platform; the next run checks again",
  "loan.not-read": itself,
  "hold.open": "DECIDE",
  "hold.rejected":
    "nothing: a person rejected this change. If the CRM is wrong, correct the CRM; if the rejection is wrong, WITHDRAW",
  "loan.returned":
    "end the loan of this person in the CRM. To lend the lock again, `crm-sync borrow CUSTOMER --help` shows the " +
    "command",
  "enterprise.unlinked":
    "find out which enterprise belongs to the customer, then crm-sync link CUSTOMER ENTERPRISE --reason TEXT",
  "operation.open": settled,
  "operation.waits":
    "nothing: crm-sync does this after the other change in the reason. If that change waits too, crm-sync status " +
    "shows why",
  "order.": "correct the order's lines in the CRM; the next run uses them",
  "order.absence-unsure": itself,
  "order.asset-changed":
    "give the licence another instance id or another asset number in the CRM: its old id and number stay together",
  "order.assets-ambiguous":
    "ask the provider of the member-center whether such licences are empty. If they are, set " +
    "assumptions.emptyAssets: empty (A43)",
  "order.changed-meanwhile": itself,
  "order.contents-not-read": itself,
  "order.earlier-continued":
    "let only one of the two continue the earlier asset. In the CRM, correct the field of the other that says which " +
    "asset it continues; if you clear that field, a new licence is ordered",
  "order.earlier-ended": "to order a new licence, clear the field in the CRM that says which asset this one continues",
  "order.earlier-locked":
    "have the lock enabled: in the CRM, or with the command that `crm-sync unlock CUSTOMER --help` shows; then run " +
    "again",
  "order.earlier-not-placed":
    "crm-sync explain order ID, with the earlier order in the reason, shows why that order waits. If it is the wrong " +
    "order, correct in the CRM which asset this one continues",
  "order.earlier-not-shown":
    "look on the platform for the asset (M6, E8). Only if it no longer exists, clear the field in the CRM that says " +
    "which asset this one continues; crm-sync then orders a new licence",
  "order.earlier-of-another":
    "correct in the CRM which asset this one continues: an order can only continue an asset of the same customer",
  "order.earlier-other-number":
    "correct the asset number in the CRM, or leave it empty: crm-sync then uses the number of the earlier asset",
  "order.earlier-other-type":
    "in the CRM, give the asset the licence type of the asset that it continues. To order a new licence, clear the " +
    "field in the CRM that says which asset this one continues",
  "order.earlier-too-few":
    "crm-sync explain order ID, with the earlier order in the reason, shows why that order waits",
  "order.earlier-unknown":
    "nothing: crm-sync places the order when M7 shows an asset number for each unit of the earlier licence. To order " +
    "a new licence instead, clear the field in the CRM that says which asset this one continues",
  "order.elsewhere":
    "make the change on the platform, in the enterprise that has the order. Or link the customer with that " +
    "enterprise again: crm-sync unlink CUSTOMER --reason TEXT, then crm-sync link CUSTOMER ENTERPRISE --reason TEXT",
  "order.in-doubt": settled,
  "order.maybe-moved":
    "solve the problem of the customer in the reason, then RESYNC. Or repeat crm-sync rebuild; if a run used this " +
    "ledger after the last rebuild, first set ledger.path to a file that does not exist yet",
  "order.moved-changed":
    "set policies.orders.moved to ask or apply. Or give the order in the CRM the form that it has at the earlier " +
    "customer",
  "order.move-stopped": "correct the cause in the CRM; the next run moves the order",
  "order.moving":
    "nothing: the order is placed here after the removal at its earlier customer. If that does not happen, EXPLAIN",
  "order.not-observable":
    "look on the platform for the order. If it is not there and M6 or E8 shows licences of this type, add the type to " +
    "assumptions.visibleLicenseTypes (A43): the next run then places the order",
  "order.not-shown":
    "look on the pages of the platform for the asset or product in the reason, and remove it there if it exists: " +
    "crm-sync deletes only what M6, E8 and M7 show. The next run checks again",
  "order.overlap": itself,
  "order.placed-already": "EXPLAIN shows for which customer the order was placed",
  "order.placed-before-restore":
    "find out on the platform what happened to the order. If it must exist, order it there, then crm-sync resolve RECORD " +
    "--done --reason TEXT",
  "order.shown-elsewhere":
    "if the reason names a difference, first do what the reason says. Then set ledger.path to a file that does not " +
    "exist yet and enter crm-sync rebuild: the new ledger records the order as moved",
  "order.shown-differently":
    "find out on the platform who changed it. Remove the product there, or restore its form; then run again",
  "order.shown-in-part":
    "complete the order on the platform, or remove the part that exists there; the next run checks again",
  "order.shown-otherwise":
    "if the CRM is right, change the platform to agree with it; if the platform is right, enter in the CRM what the " +
    "platform shows. The next run then adopts the order. If no run was made since a rebuild, enter crm-sync rebuild " +
    "again before that run: only a rebuild also adopts the asset numbers",
  "order.there-already":
    "if a person added it on the platform for this order: crm-sync resolve RECORD --done --reason TEXT. If not, have " +
    "the additional product removed on the platform; the next run then buys it",
  "order.twin-product":
    "do on the platform what the reason says, then run again: a deletion by crm-sync would also remove the other " +
    "product",
  "order.form-lost":
    "restore the ledger from a backup that has the order's earlier form, or change the order on the platform",
  "order.number-unknown":
    "look up the asset number on the platform (M6) and add it to the asset in the CRM. Or change the order on the " +
    "platform",
  "order.amended-elsewhere": "set ledger.path to a file that does not exist yet, then crm-sync rebuild",
  "order.same-channel-number": "give one of the two orders another channel order number",
  "order.unnamed":
    "report it to the makers of crm-sync with the output of `crm-sync --version`: every operation on an order names it",
  paused: "crm-sync resume --reason TEXT; the next run sends the change",
  "payload.": "check the mapping and the settings of this field, then RESYNC",
  "policy.reported":
    "if it must be done, do it on the platform. Or set the policy in the reason to ask or apply; the next run then " +
    "does it",
  "order.transfer-unknown":
    "check the order and the instance that the product is transferred from, or add srcLicenseOrderId in the CRM",
  "pool.":
    "nothing: the next run asks for numbers again. If it gets no numbers either, ask the provider of the order " +
    "service why E9 gives none",
  "rebuild.": itself,
  "rejected.":
    "solve the problem in the reason. crm-sync tries again when the record or a setting changes, or with RESYNC",
  "request.": itself,
  "request.refused":
    "withdraw the request: enter the same command (lock, unlock, borrow or staff password) with --withdraw. If it is " +
    "still wanted, correct the cause in the reason first, then enter the command again",
  "revokes.blocked": "solve the problem in the reason; the next run then decides about the removal",
  "revokes.rejected":
    "nothing: a person rejected this change. If the CRM is wrong, correct the CRM; if the rejection is wrong, WITHDRAW",
  "run.canary":
    "check the customer in the reason on the platform. If it is right, do nothing: the next run continues with the " +
    "other customers. If it is wrong, enter crm-sync pause --reason TEXT first, then correct the CRM or the mapping",
  "run.": "nothing: the next run takes up the record",
  "service.": whenDown,
  "service.refused":
    "ask the provider of the service why it refuses this application. When it accepts crm-sync again: RESYNC (or " +
    "crm-sync resync --source SOURCE for all records)",
  "service.unclear":
    "nothing: the next run tries again. If the problem stays, ask the provider of the service why its answers do not " +
    "say what a call did",
  "record.missing":
    "nothing: if the next reads lack the record too, it counts as deleted. If the record must exist, restore it in the " +
    "CRM",
  "settle-time": itself,
  "undo.taken-back":
    "correct the record in the CRM before the next run: if nothing changes there, the run repeats the change",
  "staff.ambiguous":
    "keep only one account with this account name on the platform, or correct the account name in the CRM",
  "staff.member-taken": keepOne,
  "staff.move-stopped":
    "correct the customer of the person in the CRM, or have its source read; the next run moves the person",
  "staff.not-read": itself,
  "staff.not-shown":
    "find out on the platform whether somebody deleted the account. If the person must have one, make it there as the " +
    "CRM has it, with its licences, then crm-sync resolve RECORD --done --reason TEXT",
  "staff.other-ending": "give the person in the CRM, or the account on the platform, another name",
  "staff.protected": "give the person another account name in the CRM or in the mapping",
  "staff.erased":
    "delete the record in the CRM if the person left. If not, change any field of it there: the next read then brings " +
    "back the values that were erased from the ledger",
  "staff.login-changed":
    "set the old account name in the CRM again. If the person needs the new name, delete this record in the CRM and " +
    "create a new record: the old account and its licences then count as those of a person who left",
  "staff.not-cleared":
    "clear the field on the platform, or set assumptions.clearedStaffFields: empty (A41), so that M2 clears it",
  "staff.no-password": "give the person a password in the CRM, or set assumptions.passwordSource: generate (A30)",
  "staff.no-sealing-key": "set ledger.sealKey",
  "staff.other-account":
    "find out on the platform whose account it is: somebody renamed the account, or made another account with this id",
  "staff.shown-otherwise":
    "correct the account on the platform, or change the record in the CRM; the next run compares again",
  "staff.still-borrows":
    "have the lock returned on the platform; the next run then deletes the account. To keep the account, set " +
    "policies.staff.left to report (policies.staff.moved for a person who moved)",
  "staff.still-holds":
    "if nobody must have these licences any more, end their assignments on the platform; the next run then deletes " +
    "the account",
  "staff.still-used": keepOne,
  "staff.would-set-back":
    "set the value of the CRM on the platform, or give the person in the CRM the value of the platform. Or ask the " +
    "provider of the service: if M2 keeps omitted fields, set assumptions.leftOutStaffFields: kept (A41)",
  "staff.would-clear":
    "give the person in the CRM the value of the platform, or clear it on the platform. Or ask the provider of the " +
    "service: if M2 keeps omitted fields, set assumptions.leftOutStaffFields: kept (A41)",
  "staff.refused":
    "correct in the CRM the field that the service names. crm-sync tries in three runs, and then when the record " +
    "changes, or with RESYNC",
  "staff.same-account": "give each person an account name of their own in the CRM",
  "staff.": correctCrm,
};

interface Waiting {
  customer?: RecordKey | undefined;
  record?: { stream: Stream; key: RecordKey } | undefined;
  reason?: string | undefined;
  holds?: readonly string[] | undefined;
}

/** The next step for a waiting record; never empty. */
export function nextForDeferral(code: string, { customer, record, reason = "", holds = [] }: Waiting = {}): string {
  const text = byCode[code] ?? byCode[`${code.split(".")[0] ?? ""}.`];
  const next = text ?? "solve the problem in the reason; the next run tries again";
  const words: Record<string, () => string> = {
    RESYNC: () => resyncCommand(customer),
    EXPLAIN: () => (record === undefined ? "crm-sync status" : explainCommand(record.stream, record.key)),
    DECIDE: () => forEach(holds, "decide what is held", decideCommands),
    WITHDRAW: () => forEach(holds, "take the rejection back", withdrawCommand),
    CUSTOMER: () => (customer === undefined ? "CUSTOMER" : typedKey(customer)),
    RECORD: () => (record === undefined ? "RECORD" : `${nounOf(record.stream)}:${typedKey(record.key)}`),
    ROW: () => /\bA\d{1,2}\b/.exec(reason)?.[0] ?? "ROW",
  };
  return next.replaceAll(/\b[A-Z]{3,}\b/gu, (word) => words[word]?.() ?? word);
}

function forEach(holds: readonly string[], what: string, commands: (hold: string) => string): string {
  return holds.length === 0 ? `${what}: crm-sync status --all lists it` : holds.map(commands).join("; ");
}

function decideCommands(hold: string): string {
  return `crm-sync approve ${hold} --reason TEXT, or crm-sync reject ${hold} --reason TEXT`;
}

function withdrawCommand(hold: string): string {
  return `take the rejection back: crm-sync reject ${hold} --withdraw --reason TEXT`;
}

/** The record, or a line of it, may be another one. Only a person accepts it unchanged. */
export const suspectCodes = [
  "id-names-another",
  "line-may-have-moved",
  "lines-renumbered",
  "looks-like-another",
  "parts-unclear",
  "twin-unclear",
] as const;
export type SuspectCode = (typeof suspectCodes)[number];

export function isSuspectCode(code: string): code is SuspectCode {
  return suspectCodes.some((one) => one === code);
}

export function nextForQuarantine(row?: Pick<QuarantineFacts, "id" | "state" | "code">): string {
  if (row === undefined) return "crm-sync quarantine list";
  if (row.state === "resolved") return "nothing: it is resolved";
  if (row.state === "retry") return "nothing: the next run maps the record again";
  if (row.code === "claimed-twice")
    return "let only one source give the record, or set another namespace for each source";
  if (row.code === "duplicate-id")
    return "correct the source so that it contains each id once; the next complete read uses the record";
  if (row.code === "parts-unclear" || row.code === "twin-unclear")
    return "nothing: the next run reads the whole source and judges the record";
  if (row.code === "line-may-have-moved")
    return (
      `correct in the CRM the row that crm-sync quarantine show ${row.id} names. If the order is right as it is now, ` +
      `crm-sync quarantine retry ${row.id} accepts it unchanged`
    );
  if (isSuspectCode(row.code))
    return (
      "if its id is wrong, correct the id in the CRM or in the mapping. If the record is right, " +
      `crm-sync quarantine retry ${row.id} accepts it unchanged`
    );
  if (row.code === "stored-form")
    return (
      "nothing, if the record was deleted in the CRM: the problem ends when the record counts as deleted. If the CRM " +
      "still has the record, find out why its source does not give it"
    );
  if (row.code === "no-sealing-key") return "set ledger.sealKey; the next run maps the record again";
  if (row.code === "unlisted-word")
    return (
      "correct the record in the CRM, or add its word to the setting in the message; the next run maps the record " +
      "again"
    );
  return "correct the field that the message names, in the CRM or in the mapping; the next run maps the record again";
}

/** `apply UNDO` means the file from `undo RUN --out FILE`. */
export function nextForHold({
  id,
  state,
  ofUndo,
  count,
  customer,
}: Pick<HoldFacts, "id" | "state" | "ofUndo" | "count" | "customer">): string {
  switch (state) {
    case "open": {
      const approve = `crm-sync approve ${id} --reason TEXT`;
      const approved = ofUndo ? `${approve}, then crm-sync apply UNDO (no other run carries it out)` : approve;
      const some =
        count > 1 ? `; to approve one of its ${count} operations: ${explainCommand("customers", customer)}` : "";
      return `${approved}, or crm-sync reject ${id} --reason TEXT${some}`;
    }
    case "approved":
      return ofUndo
        ? "crm-sync apply UNDO, with the file of the undo: no other run carries it out"
        : "nothing: the next run carries it out if the operations are still the same";
    case "rejected":
      return `nothing; or ${withdrawCommand(id)}`;
    case "used":
    case "moot":
      return "nothing";
  }
}
