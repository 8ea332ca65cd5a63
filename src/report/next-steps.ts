import type { RecordKey, Stream } from "../crm/model.ts";
import type { HoldFacts, OperationFacts, QuarantineFacts } from "./facts.ts";
import { explainCommand, nounOf, resyncCommand, typedKey } from "./text.ts";

const itself = "nothing: the next run looks at it again by itself";
const correctCrm = "correct the record in the CRM; the next run takes it up";

/**
 * The next step for a waiting record, by the code of its reason. A code that ends in a dot is for all codes that begin
 * with it. Placeholders: RESYNC synchronises the customer, EXPLAIN explains the record, DECIDE decides the hold, WITHDRAW
 * takes its rejection back; CUSTOMER, RECORD and ROW are ids.
 */
const byCode: Record<string, string> = {
  "amendment.not-enabled":
    "nothing can be done here yet: amendments are not enabled; change it on the platform if it is urgent",
  "asset.claimed-twice": "give the asset to one person only in the CRM",
  "asset.ended": "take the asset from the person in the CRM, or restore it in its order: the order no longer has it",
  "asset.ending":
    "nothing, unless its removal is held (EXPLAIN): the next run removes it; once it did, take the asset from the " +
    "person in the CRM",
  "asset.lending-unknown":
    "have the lock returned on the platform, or check there that the asset is not lent and remove it",
  "asset.lent":
    "have the lock returned on the platform: no operation of the services does it; the next run looks again",
  "asset.held-by-another": "take the asset away from its holder on the platform, or correct the CRM",
  "asset.not-ordered": "check that the order that brings the asset is in the CRM and not deferred itself",
  "asset.not-shown": itself,
  "asset.number-taken": "correct the asset number in the CRM, or leave it out: it belongs to another asset",
  "assumption.contradicted":
    "ask the operator of the service what holds, correct the setting of that row (docs/reference/assumptions.md), then " +
    "`crm-sync assumptions accept ROW --reason TEXT`",
  "asset.wrong-type": "take the flag back in the CRM; a person can also request it (crm-sync --help)",
  "assumption.missing": "crm-sync check names the setting and its choices; set it, then run again",
  "customer.blocked": "solve the customer's problem first",
  "customer.gone": "nothing: the CRM no longer has the customer and nothing was made for it",
  "customer.incomplete": correctCrm,
  "customer.not-looked-up": itself,
  "customer.not-orderable": "fill in the fields named in the CRM (or in the mapping); the next run takes the order up",
  "customer.quarantined": "solve the customer's quarantine entry: crm-sync quarantine list",
  "customer.restless": itself,
  "customer.stale": itself,
  defect:
    'report it to the makers of crm-sync: `crm-sync --version`, and the lines of the log that say "defect"; what it ' +
    "was about waits, and each run tries again",
  "plan.not-chosen": itself,
  "customer.unknown": "check that the source of the customers has this customer: crm-sync check",
  "enterprise.ambiguous":
    "choose one: crm-sync link CUSTOMER ENTERPRISE --reason TEXT; or give the customer a channel customer number of " +
    "its own in the CRM, or merge the enterprises on the platform",
  "enterprise.no-single-customer":
    "set assumptions.customerSelection so that exactly one customer of the enterprise fits (A12)",
  "loan.": "correct the loan in the CRM, or have the lock returned on the platform; the next run looks again",
  "loan.not-read": itself,
  "hold.open": "DECIDE",
  "hold.rejected": "nothing: a person decided that it stays; change the CRM where that is wrong, or WITHDRAW",
  "loan.returned":
    "take the loan from the person in the CRM; if the loan is still wanted, `crm-sync borrow CUSTOMER " +
    "--help` says how it " +
    "is lent again",
  "enterprise.unlinked":
    "crm-sync link CUSTOMER ENTERPRISE --reason TEXT, once it is known which enterprise the customer is",
  "operation.open": "first settle the operation: crm-sync settle list shows it",
  "operation.waits":
    "see to the order that the reason names: EXPLAIN says why it is not bought yet; the old form is removed after that",
  "order.": "correct the order's lines in the CRM; the next run takes it up",
  "order.absence-unsure": itself,
  "order.asset-changed":
    "give the asset another instance id or another number in the CRM: its old id and number stay together",
  "order.changed-meanwhile": itself,
  "order.contents-not-read": itself,
  "order.earlier-continued": "let one of the two continue another asset in the CRM, or none: a unit is renewed once",
  "order.earlier-ended":
    "clear the field in the CRM that says which asset this one continues: then it is ordered as a new asset",
  "order.earlier-locked":
    "let the CRM enable the lock, or `crm-sync unlock CUSTOMER --help` shows the command for it; then run again",
  "order.earlier-not-placed":
    "see to the earlier order that the reason names: EXPLAIN; if it is not the right one, correct in the " +
    "CRM which asset this one continues",
  "order.earlier-not-shown":
    "look on the platform whether the asset is there (M6, E8); if it is gone, clear the field in the CRM that says " +
    "which asset this one continues",
  "order.earlier-of-another":
    "correct in the CRM which asset this one continues: an asset of the customer's own orders",
  "order.earlier-other-number": "correct the asset number in the CRM, or leave it out: the earlier asset's is taken",
  "order.earlier-other-type":
    "give the asset the licence type of the one that it continues, or clear the field in the CRM that says which asset " +
    "this one continues",
  "order.earlier-too-few": "see to the earlier order that the reason names: EXPLAIN",
  "order.earlier-unknown":
    "it goes on once M7 shows each unit of the earlier asset whole under one asset number; or clear the field in the " +
    "CRM that says which asset this one continues: then it is ordered as a new asset",
  "order.elsewhere":
    "change it on the platform in the enterprise that holds it, or link the customer with that one again: " +
    "crm-sync unlink CUSTOMER --reason TEXT, then crm-sync link CUSTOMER ENTERPRISE --reason TEXT",
  "order.maybe-moved":
    "see to the customer that the reason names, then RESYNC; or crm-sync rebuild again, where nothing was run since, " +
    "else with ledger.path at a file that is not there yet",
  "order.moved-changed":
    "set policies.orders.moved to hold or apply, or give the order in the CRM the form that stayed; the next run looks " +
    "at it again",
  "order.move-stopped": "correct the cause of the reason in the CRM; the next run moves the order",
  "order.moving":
    "nothing: the run that removes the rest of it at its old customer buys it here; if none does, EXPLAIN",
  "order.not-shown":
    "look on the platform whether it is there, and remove it if it is; crm-sync deletes only what M6, E8 and M7 show",
  "order.not-repaired":
    "find out on the platform who removed it, and put it back or order it there; then crm-sync resolve RECORD " +
    "--done --reason TEXT",
  "order.overlap": itself,
  "order.shown-elsewhere":
    "crm-sync rebuild, with ledger.path at a file that is not there yet, takes it over as an order that moved; where " +
    "a person did and the platform shows a difference, first follow the reason",
  "order.shown-differently":
    "find out on the platform who changed it; remove it there, or restore its form; then run again",
  "order.shown-otherwise":
    "make the platform as the CRM says, or give the order its earlier form in the CRM until it is taken over; right " +
    "after a rebuild crm-sync rebuild takes it over with its asset numbers, a run without",
  "order.there-already":
    "if a person did it on the platform: crm-sync resolve order:ID --done --reason TEXT; " +
    "otherwise have it removed on the platform, and the next run buys it",
  "order.twin-product":
    "remove the product on the platform: a deletion by crm-sync would remove the other one too; then run again",
  "order.form-lost":
    "restore the ledger from a backup that holds the order's earlier form, or change the order on the platform",
  "order.number-unknown":
    "look up the asset number on the platform (M6) and give it with the asset in the CRM, or change the " +
    "order on the platform",
  "order.amended-elsewhere": "crm-sync rebuild, with ledger.path at a file that is not there yet",
  "order.same-channel-number": "give one of the two orders another channel order number",
  paused: "crm-sync resume --reason TEXT; the next run sends it then",
  "payload.": "check the mapping and the settings of this field, then RESYNC",
  "policy.reported":
    "do it on the platform if it is wanted, or set the policy that the reason names; then the next run does it",
  "order.transfer-unknown":
    "check the order and the instance that the product is transferred from, or give srcLicenseOrderId in the CRM",
  "pool.": "nothing, unless it persists: then ask the operator of the order service why E9 hands out no numbers",
  "rejected.":
    "solve the problem that the reason names; crm-sync tries again when the record or a setting changes, " +
    "or with RESYNC",
  "request.": itself,
  "request.refused": "ask for the right one, and take back this one: the command that asked for it, with --withdraw",
  "revokes.blocked": "solve the named problem; the next run tries again",
  "revokes.rejected": "nothing: a person decided that it stays; change the CRM where that is wrong, or WITHDRAW",
  "run.canary":
    "look at the customer that the reason names; where it is as it should be, the next run goes on with the others",
  "run.": "nothing: the next run takes it up",
  "service.": "nothing, unless it persists: crm-sync check tries the services",
  "service.refused":
    "ask the operator of the service why it refuses this application; " +
    "once it does not any more, RESYNC (or crm-sync resync --source SOURCE for all)",
  "service.unclear":
    "nothing, unless it persists: then ask the operator of the service why its answers do not say what became of calls",
  "settle-time": itself,
  "undo.taken-back": itself,
  "staff.ambiguous": "leave one of the accounts on the platform, or correct the account name in the CRM",
  "staff.protected": "give the person another account name in the CRM or in the mapping",
  "staff.erased": "the person's values were erased from the ledger; let the CRM send the record anew",
  "staff.login-changed":
    "give the person the old account name back in the CRM; where the new one is wanted, let the record leave and the " +
    "person come as another record",
  "staff.not-cleared":
    "clear it on the platform, or set assumptions.clearedStaffFields: empty (A41), so that M2 clears it",
  "staff.no-password": "give a password in the CRM, or set assumptions.passwordSource to generate (A30)",
  "staff.no-sealing-key": "set ledger.sealKey",
  "staff.other-account":
    "look whose account it is on the platform: somebody renamed it there, or made another one under this id",
  "staff.shown-otherwise":
    "correct the account on the platform, or change the record in the CRM; the next run compares again",
  "staff.still-borrows":
    "have the lock returned on the platform; the next run deletes the account then, or set the policy to report",
  "staff.still-holds":
    "take the assets away on the platform where nobody should have them; the next run deletes the account then",
  "staff.still-used":
    "where it is the same person, leave one record in the CRM; where they are two, give one another account name",
  "staff.would-set-back":
    "set policies.drift.different to apply or hold, or give the person in the CRM the value of the platform; or set " +
    "assumptions.leftOutStaffFields: kept, once the operator of the service has said that M2 keeps " +
    "omitted fields (A41)",
  "staff.would-clear":
    "give the person in the CRM the value of the platform, or remove it on the platform; or set " +
    "assumptions.leftOutStaffFields: " +
    "kept, once the operator of the service has said that M2 keeps omitted fields (A41)",
  "staff.refused":
    "correct in the CRM the field that the service names; crm-sync sends the person in three runs, then " +
    "again when the record changes, or with RESYNC",
  "staff.same-account": "give each person an account name of their own in the CRM",
  "staff.": correctCrm,
};

/** What is known of what waits: one record, whose it is, why it waits, and the holds that keep it. */
interface Waiting {
  customer?: RecordKey | undefined;
  record?: { stream: Stream; key: RecordKey } | undefined;
  reason?: string | undefined;
  holds?: readonly string[] | undefined;
}

/** What a person does about a deferred record, as far as is known of it. Never empty. */
export function nextForDeferral(code: string, { customer, record, reason = "", holds = [] }: Waiting = {}): string {
  const text = byCode[code] ?? byCode[`${code.split(".")[0] ?? ""}.`];
  const next = text ?? "solve the problem that the reason names; the next run tries again";
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

/** The commands for these holds; where none is known, `status` lists what can be done. */
function forEach(holds: readonly string[], what: string, commands: (hold: string) => string): string {
  return holds.length === 0 ? `${what}: crm-sync status --all lists it` : holds.map(commands).join("; ");
}

function decideCommands(hold: string): string {
  return `crm-sync approve ${hold} --reason TEXT, or crm-sync reject ${hold} --reason TEXT`;
}

function withdrawCommand(hold: string): string {
  return `crm-sync reject ${hold} --withdraw --reason TEXT to take the rejection back`;
}

/** A record that looks like another one: each read judges it anew. */
const suspectCodes = new Set(["id-names-another", "looks-like-another", "lines-renumbered"]);

export function nextForQuarantine(row?: Pick<QuarantineFacts, "id" | "state" | "code">): string {
  if (row === undefined) return "crm-sync quarantine list";
  if (row.state === "resolved") return "nothing: it is resolved";
  if (row.state === "retry") return "nothing: the next run maps it anew";
  if (row.code === "claimed-twice")
    return "let one source alone claim the record, or give each source a namespace of its own";
  if (row.code === "duplicate-id") return "let the source give each id once; the next complete read takes it up";
  if (row.code === "line-may-have-moved")
    return (
      `correct in the CRM the row that crm-sync quarantine show ${row.id} names; where the order is right, ` +
      `crm-sync quarantine retry ${row.id} takes it unchanged`
    );
  if (suspectCodes.has(row.code))
    return `correct its id in the CRM or the mapping; where the record is right, crm-sync quarantine retry ${row.id} takes it unchanged`;
  if (row.code === "stored-form")
    return (
      "nothing in the CRM, which no longer has the record: this ends when it counts as deleted, or is read again; if " +
      "it should be there, correct its source"
    );
  if (row.code === "no-sealing-key") return "set ledger.sealKey; the next run maps it anew";
  if (row.code === "unlisted-word")
    return "correct the record in the CRM, or list its word in the setting that the message names; the next run maps it anew";
  return `correct the record in the CRM; or correct the mapping, then crm-sync quarantine retry ${row.id}`;
}

/** What a run does about an operation whose outcome is unknown. */
const whenUnknown: Record<OperationFacts["whenUnknown"], string> = {
  read: "settles it by reading the platform",
  "send-again": "sends it again with the same values",
  lost: "records that its effect is lost",
  ask: "asks a person, since nothing reads it and it is not sent twice",
};

/** How a person says what became of an operation that reading cannot settle. */
export function settleCommands(operation: string): string {
  return (
    `look on the platform, then crm-sync settle ${operation} --applied --reason TEXT if it was done, else ` +
    `crm-sync settle ${operation} --not-applied --reason TEXT`
  );
}

export function nextForOperation(
  row: Pick<OperationFacts, "id" | "state" | "settleAfter" | "questionId" | "whenUnknown" | "customer">,
): string {
  switch (row.state) {
    case "parked":
      return settleCommands(row.id);
    case "sending":
    case "unknown":
      return row.settleAfter === null
        ? `nothing: the next run ${whenUnknown[row.whenUnknown]}`
        : `nothing: a run ${whenUnknown[row.whenUnknown]}, not before ${row.settleAfter}`;
    case "held":
      return row.questionId === null
        ? "crm-sync status --all shows the hold"
        : `crm-sync approve ${row.id} --reason TEXT for this one, or crm-sync approve ${row.questionId} --reason TEXT ` +
            "for all that it holds, or reject";
    case "planned":
      return "nothing: the next run carries it out or plans anew";
    case "rejected":
      return (
        "correct the field that the service names; crm-sync tries again when the record changes, or with " +
        resyncCommand(row.customer)
      );
    case "done":
    case "dropped":
      return "nothing";
  }
}

/** `apply UNDO` stands for the file that `undo RUN --out FILE` made. */
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
      const approved = ofUndo ? `${approve} and then crm-sync apply UNDO, since no other run carries it out` : approve;
      const some =
        count > 1 ? `; to approve one of its ${count} operations: ${explainCommand("customers", customer)}` : "";
      return `${approved}, or crm-sync reject ${id} --reason TEXT${some}`;
    }
    case "approved":
      return ofUndo
        ? "crm-sync apply UNDO, with the file of the undo: no other run carries it out"
        : "nothing: the next run carries it out, where the set is still the same";
    case "rejected":
      return `nothing, or ${withdrawCommand(id)}`;
    case "used":
    case "moot":
      return "nothing";
  }
}
