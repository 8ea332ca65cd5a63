import { documentedCodes } from "../../contract/codes.ts";

export const orderMoving = "order.moving";
export const moveStopped = "order.move-stopped";

export type Owner = "crm" | "configuration" | "platform" | "operator" | "program";

const codesOf: Readonly<Record<Owner, string>> = {
  crm: `
    asset. customer. loan. order. order.move-stopped quarantine. rejected. request.refused revokes. staff.
    staff.still-used
  `,
  configuration: `
    assumption.contradicted assumption.missing claimed-twice enterprise.no-single-customer enterprise.unlinked
    no-sealing-key order.amended-elsewhere order.elsewhere order.form-lost order.moved-changed order.not-observable
    order.shown-elsewhere payload. policy. rejected.50003 source.removed staff.no-password staff.no-sealing-key
    staff.not-cleared staff.protected staff.would-set-back
  `,
  platform: `
    asset.held-by-another asset.lending-unknown asset.lent asset.not-shown asset.readings-disagree asset.taken-away
    customer.restless
    enterprise. loan.lock-not-shown loan.no-member loan.not-read operation.open order.assets-ambiguous
    order.earlier-locked order.earlier-not-shown order.earlier-unknown order.maybe-moved
    order.not-shown order.number-unknown order.overlap order.shown-differently order.shown-in-part
    order.shown-otherwise order.there-already order.twin-product order.unnamed platform. pool. rejected.40006
    rejected.60009 rejected.60023 rejected.60024 rejected.60026 rejected.60028 request.failed service.
    staff.member-taken staff.not-read staff.not-shown staff.other-account staff.other-ending staff.shown-otherwise
    staff.still-borrows staff.still-holds
  `,
  operator: `
    hold. revokes.rejected
  `,
  program: `
    asset.ending customer.blocked customer.not-looked-up customer.stale defect operation.waits order.absence-unsure
    order.changed-meanwhile order.contents-not-read order.earlier-not-placed order.earlier-too-few order.moving
    paused plan.not-chosen rebuild. record.missing rejected.40021 rejected.60013 request.changed request.open run.
    settle-time stored-form undo.
  `,
};

const owners = new Map<string, Owner>(
  (["crm", "configuration", "platform", "operator", "program"] as const).flatMap((owner) =>
    wordsOf(codesOf[owner]).map((code) => [code, owner] as const),
  ),
);

function wordsOf(text: string): string[] {
  return text.trim().split(/\s+/u);
}

/** Nothing is left to do: a person decided so, or the record needs nothing. Shown, never counted. */
const settled = new Set([
  "asset.ending",
  "customer.gone",
  "enterprise.unlinked",
  "policy.reported",
  "revokes.rejected",
]);

/** A person stopped or limited this run, so the next run does these records. */
const leftToNextRun = new Set(["run.scope", "run.stopped"]);

export function namedOwner(code: string): Owner | undefined {
  return owners.get(code) ?? owners.get(`${code.split(".")[0] ?? ""}.`);
}

const unusable: ReadonlySet<string> = new Set(
  wordsOf(`
    bad-term broken-quote broken-text clock-change differing-rows does-not-fit duplicate-id duplicate-instance
    duplicate-key duplicate-member duplicate-number duplicate-row id-names-another instance-cycle
    line-may-have-moved lines-renumbered looks-like-another missing name-taken no-asset no-details no-key
    no-product-uri no-trial-end no-value no-zone not-a-boolean not-a-date not-a-list not-a-number not-a-whole-number
    not-an-amount not-an-instant not-an-object not-exact not-json orphan-detail orphan-instance
    package-number-disagrees package-too-deep parts-unclear terms-disagree too-deep too-large too-long too-many too-many-numbers
    too-wide twin-unclear unknown-word unlisted-word wrong-parent wrong-type
  `),
);

/** A code of the program or the contract stays. Others become their family (`rejected.other`) or `other`. */
export function closedRecordCode(code: string): string {
  if (unusable.has(code) || owners.has(code)) return code;
  const [family = "", word = "", ...rest] = code.split(".");
  if (!owners.has(`${family}.`)) return "other";
  // A service's code follows `rejected.`.
  const isOurs = family === "rejected" ? documentedCodes.includes(word) : /^[a-z-]{1,40}$/u.test(word);
  return rest.length === 0 && isOurs ? code : `${family}.other`;
}

export function ownerOf(code: string): Owner {
  return namedOwner(code) ?? "program";
}

export function ownerOfQuarantine(code: string): Owner {
  return owners.get(code) ?? "crm";
}

/** Open work counts in exit codes, `status`, `/healthz` and alerts. */
export function counts(code: string): boolean {
  return !settled.has(code) && !leftToNextRun.has(code);
}

export function waitsForNextRun(code: string): boolean {
  return leftToNextRun.has(code);
}
