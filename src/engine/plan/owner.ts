import { documentedCodes } from "../../contract/codes.ts";

/** The code of an order that moved and waits until its old customer has nothing of it any more. */
export const orderMoving = "order.moving";

/**
 * Who can resolve what stops a record: the people of the CRM, of the configuration or of the platform, the operator, or
 * the program itself.
 */
export type Owner = "crm" | "configuration" | "platform" | "operator" | "program";

/**
 * Owners by the code that stops a record. A code that ends in a dot covers all codes with that prefix; a longer code
 * has precedence.
 */
const owners: Record<string, Owner> = {
  "asset.": "crm",
  "asset.ending": "program",
  "asset.held-by-another": "platform",
  "asset.lending-unknown": "platform",
  "asset.lent": "platform",
  "asset.not-shown": "platform",
  "asset.readings-disagree": "platform",
  "assumption.contradicted": "configuration",
  "assumption.missing": "configuration",
  "claimed-twice": "configuration",
  "customer.": "crm",
  "customer.blocked": "program",
  "customer.not-looked-up": "program",
  "customer.restless": "platform",
  "customer.stale": "program",
  defect: "program",
  "plan.not-chosen": "program",
  "record.missing": "program",
  "enterprise.": "platform",
  "enterprise.no-single-customer": "configuration",
  "loan.": "crm",
  "loan.lock-not-shown": "platform",
  "loan.not-read": "platform",
  "loan.no-member": "platform",
  "enterprise.unlinked": "configuration",
  "hold.": "operator",
  "no-sealing-key": "configuration",
  "operation.open": "platform",
  "operation.waits": "program",
  "order.": "crm",
  "order.absence-unsure": "program",
  "order.amended-elsewhere": "configuration",
  "order.assets-ambiguous": "platform",
  "order.changed-meanwhile": "program",
  "order.earlier-locked": "platform",
  "order.earlier-not-placed": "program",
  "order.earlier-not-shown": "platform",
  "order.earlier-too-few": "program",
  "order.earlier-unknown": "platform",
  "order.elsewhere": "configuration",
  "order.form-lost": "configuration",
  "order.contents-not-read": "program",
  "order.maybe-moved": "platform",
  "order.moved-changed": "configuration",
  "order.move-stopped": "crm",
  "order.moving": "program",
  "order.not-observable": "configuration",
  "order.not-shown": "platform",
  "order.not-repaired": "platform",
  "order.overlap": "platform",
  "order.shown-differently": "platform",
  "order.number-unknown": "platform",
  "order.shown-elsewhere": "configuration",
  "order.shown-in-part": "platform",
  "order.shown-otherwise": "platform",
  "order.there-already": "platform",
  "order.twin-product": "platform",
  "order.unnamed": "platform",
  paused: "program",
  "payload.": "configuration",
  "platform.": "platform",
  "policy.": "configuration",
  "pool.": "platform",
  "quarantine.": "crm",
  "rebuild.": "program",
  "rejected.": "crm",
  "rejected.40006": "platform",
  "rejected.40021": "program",
  "rejected.50003": "configuration",
  "rejected.60009": "platform",
  "rejected.60013": "program",
  "rejected.60023": "platform",
  "rejected.60024": "platform",
  "rejected.60026": "platform",
  "rejected.60028": "platform",
  "request.changed": "program",
  "request.failed": "platform",
  "request.open": "program",
  "request.refused": "crm",
  "revokes.": "crm",
  "revokes.rejected": "operator",
  "run.": "program",
  "service.": "platform",
  "stored-form": "program",
  "settle-time": "program",
  "source.removed": "configuration",
  "undo.": "program",
  "staff.": "crm",
  "staff.member-taken": "platform",
  "staff.not-cleared": "configuration",
  "staff.no-password": "configuration",
  "staff.no-sealing-key": "configuration",
  "staff.not-read": "platform",
  "staff.not-shown": "platform",
  "staff.other-account": "platform",
  "staff.other-ending": "platform",
  "staff.protected": "configuration",
  "staff.shown-otherwise": "platform",
  "staff.still-borrows": "platform",
  "staff.still-holds": "platform",
  "staff.still-used": "crm",
  "staff.would-set-back": "configuration",
};

/** Codes with nothing left to do: a person decided so, or there was nothing. They are shown and never counted. */
const settled = new Set([
  "asset.ending",
  "customer.gone",
  "enterprise.unlinked",
  "policy.reported",
  "revokes.rejected",
]);

/** Codes of records for the next run, because a person stopped this run or limited it. */
const leftToNextRun = new Set(["run.scope", "run.stopped"]);

/** The owner of a code; undefined if the table does not have it. */
export function namedOwner(code: string): Owner | undefined {
  return owners[code] ?? owners[`${code.split(".")[0] ?? ""}.`];
}

/**
 * Further codes for unusable source records, beside the owners' table. They come from the program, whatever the record
 * contains.
 */
const unusable: ReadonlySet<string> = new Set([
  "bad-term",
  "broken-quote",
  "broken-text",
  "clock-change",
  "differing-rows",
  "does-not-fit",
  "duplicate-id",
  "duplicate-instance",
  "duplicate-key",
  "duplicate-member",
  "duplicate-number",
  "duplicate-row",
  "id-names-another",
  "instance-cycle",
  "line-may-have-moved",
  "lines-renumbered",
  "looks-like-another",
  "missing",
  "name-taken",
  "no-asset",
  "no-details",
  "no-key",
  "no-product-uri",
  "no-trial-end",
  "no-value",
  "no-zone",
  "not-a-boolean",
  "not-a-date",
  "not-a-list",
  "not-a-number",
  "not-a-whole-number",
  "not-an-amount",
  "not-an-instant",
  "not-an-object",
  "not-exact",
  "not-json",
  "orphan-detail",
  "orphan-instance",
  "package-number-disagrees",
  "package-too-deep",
  "terms-disagree",
  "too-deep",
  "too-large",
  "too-long",
  "too-many",
  "too-many-numbers",
  "too-wide",
  "unknown-word",
  "unlisted-word",
  "wrong-parent",
  "wrong-type",
]);

/**
 * Maps a code into a closed list, whatever a source or a service made of it. It stays if the program (`order.moving`)
 * or the contract (`rejected.60009`) has it; otherwise it becomes its family (`rejected.other`), or `other`.
 */
export function closedRecordCode(code: string): string {
  if (unusable.has(code) || Object.hasOwn(owners, code)) return code;
  const [family = "", word = "", ...rest] = code.split(".");
  if (!Object.hasOwn(owners, `${family}.`)) return "other";
  // The code of a service follows `rejected.`.
  const isOurs = family === "rejected" ? documentedCodes.includes(word) : /^[a-z-]{1,40}$/u.test(word);
  return rest.length === 0 && isOurs ? code : `${family}.other`;
}

/** Who can resolve a waiting or rejected record with this code. */
export function ownerOf(code: string): Owner {
  return namedOwner(code) ?? "program";
}

/** Who can resolve a quarantine with this code: the CRM, unless settings are the cause. */
export function ownerOfQuarantine(code: string): Owner {
  return owners[code] ?? "crm";
}

/** Whether a record with this code is open work. It then counts in exit codes, `status`, `/healthz` and alerts. */
export function counts(code: string): boolean {
  return !settled.has(code) && !leftToNextRun.has(code);
}

export function waitsForNextRun(code: string): boolean {
  return leftToNextRun.has(code);
}
