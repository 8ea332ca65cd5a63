import type { HoldFacts, OperationFacts, QuarantineFacts } from "./facts.ts";

const itself = "nothing: the next run looks at it again by itself";
const correctCrm = "correct the record in the CRM; the next run takes it up";

/** What a person does about a deferral, by its code. A code ending in a dot stands for all that begin with it. */
const byCode: Record<string, string> = {
  "amendment.not-enabled":
    "nothing can be done here yet: amendments are not enabled; change it on the platform by hand where it is urgent",
  "asset.claimed-twice": "give the asset to one person only in the CRM",
  "asset.held-by-another": "take the asset away from its holder on the platform, or correct the CRM",
  "asset.not-ordered": "check that the order that brings the asset is in the CRM and not deferred itself",
  "asset.not-shown": itself,
  "asset.number-taken": "correct the asset number in the CRM: it belongs to another asset",
  "assumption.missing": "crm-sync check names the setting and its choices; set it, then run again",
  "customer.blocked": "look at the customer: that is what has to be solved",
  "customer.gone": "nothing: the CRM no longer has the customer and nothing was made for it",
  "customer.incomplete": correctCrm,
  "customer.not-looked-up": itself,
  "customer.not-orderable": "fill in the fields named in the CRM (or in the mapping); the next run takes the order up",
  "customer.quarantined": "solve the customer's quarantine entry: crm-sync quarantine list",
  "customer.restless": itself,
  "customer.stale": itself,
  "customer.unknown": "check that the source of the customers has this customer: crm-sync check",
  "enterprise.ambiguous":
    "give the customer a channel customer number of its own in the CRM, or merge the enterprises on the platform",
  "enterprise.no-single-customer":
    "set assumptions.customerSelection so that exactly one customer of the enterprise fits (A12)",
  "operation.open": "crm-sync settle list shows the operation that has to be settled first",
  "operation.unknown-form":
    "start the version of this program that wrote the operation, or restore the ledger from a backup; then run again",
  "order.": "correct the order's lines in the CRM; the next run takes it up",
  "order.same-channel-number": "give one of the two orders another channel order number",
  "payload.": "check the mapping and the settings of this field, then crm-sync resync",
  "pool.": "nothing, unless it persists: then ask the operator of the order service why E9 hands out no numbers",
  "rejected.":
    "do what the reason names; it is tried once more when the record or a setting changes, " +
    "or with crm-sync resync --customer (orders: --order)",
  "request.": itself,
  "request.refused": "ask for the right one, and take back this one: the command that asked for it, with --withdraw",
  "revokes.blocked": "solve what is named; the next run looks at it again by itself",
  "revokes.rejected": "nothing: a person decided that these assets stay; change the CRM where that is wrong",
  "run.": "nothing: the next run takes it up",
  "service.": "nothing, unless it persists: crm-sync check tries the services",
  "service.refused":
    "ask the operator of the service why it refuses this application; " +
    "once it does not any more, crm-sync resync --customer (or --source for all)",
  "settle-time": itself,
  "staff.ambiguous": "leave one of the accounts on the platform, or correct the account name in the CRM",
  "staff.protected": "give the person another account name in the CRM or in the mapping",
  "staff.erased": "the person's values were erased from the ledger; let the CRM send the record anew",
  "staff.no-password": "give a password in the CRM, or set assumptions.passwordSource to generate (A30)",
  "staff.no-sealing-key": "set ledger.sealKey",
  "staff.refused":
    "correct what the service names in the CRM; the person is sent in three runs by itself, " +
    "then again when the record changes, or with crm-sync resync --customer",
  "staff.same-account": "give each person an account name of their own in the CRM",
  "staff.": correctCrm,
};

/** What a person does about a deferred record. Never empty. */
export function nextForDeferral(code: string): string {
  const exact = byCode[code];
  if (exact !== undefined) return exact;
  const area = byCode[`${code.split(".")[0] ?? ""}.`];
  return area ?? "solve what the reason names; the next run looks at it again";
}

export function nextForQuarantine(row?: Pick<QuarantineFacts, "id" | "state" | "code">): string {
  if (row === undefined) return "crm-sync quarantine list";
  if (row.state === "resolved") return "nothing: it is resolved";
  if (row.state === "retry") return "nothing: the next run maps it anew";
  if (row.code === "claimed-twice")
    return "let one source alone claim the record, or give each source a namespace of its own";
  if (row.code === "duplicate-id") return "let the source give each id once; the next complete read takes it up";
  if (row.code === "no-sealing-key") return `set ledger.sealKey, then crm-sync quarantine retry ${row.id}`;
  return `correct the record in the CRM, or the mapping; or as it is: crm-sync quarantine retry ${row.id}`;
}

/** What a run does about an operation whose outcome is unknown. */
const whenUnknown: Record<NonNullable<OperationFacts["whenUnknown"]>, string> = {
  read: "settles it by reading the platform",
  "send-again": "sends it again with the same values",
  lost: "records that what it brought is lost",
};

const notKnown = "start the version of this program that made it: this one does not know it";

export function nextForOperation(
  row: Pick<OperationFacts, "id" | "state" | "settleAfter" | "holdId" | "whenUnknown">,
): string {
  switch (row.state) {
    case "parked":
      if (row.whenUnknown === null) return notKnown;
      return `look on the platform, then crm-sync settle ${row.id} --applied|--not-applied --reason TEXT`;
    case "sending":
    case "unknown":
      if (row.whenUnknown === null) return notKnown;
      return row.settleAfter === null
        ? `nothing: the next run ${whenUnknown[row.whenUnknown]}`
        : `nothing: a run ${whenUnknown[row.whenUnknown]}, not before ${row.settleAfter}`;
    case "held":
      return row.holdId === null
        ? "crm-sync status shows the hold"
        : `crm-sync approve ${row.holdId} --reason TEXT, or reject`;
    case "planned":
      return "nothing: the next run carries it out or plans anew";
    case "rejected":
      return "correct what the service names; it is tried again when the record changes, or with crm-sync resync";
    case "done":
    case "dropped":
      return "nothing";
  }
}

export function nextForHold(hold: Pick<HoldFacts, "id" | "state">): string {
  switch (hold.state) {
    case "open":
      return `crm-sync approve ${hold.id} --reason TEXT, or crm-sync reject ${hold.id} --reason TEXT`;
    case "approved":
      return "nothing: the next run carries it out, where the set is still the same";
    case "rejected":
    case "used":
    case "lapsed":
      return "nothing";
  }
}
