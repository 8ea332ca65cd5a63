import { column } from "./column.ts";
import type { Part, PartRow } from "./shape.ts";

/** What stood in the way of closing the period, and what was accepted beside that, and who takes it as it is. */
export const signOffsPart: Part = {
  name: "sign_offs",
  title: "Signed off",
  about:
    "One row for each blocker of the period that somebody signed off: an outcome, a " +
    "hold, a source, a run, an amount or a sum; and for each row in quarantine, record that waits or " +
    "refusal that somebody accepted. A sign-off covers the state of its time: a later change needs a new " +
    "one. A statement " +
    "that is limited to a source, customer, branch or product has none.",
  groupBy: "kind",
  columns: [
    column(
      "text",
      "kind",
      "Kind",
      "`operation`, `hold`, `source`, `run`, `money` or `sum`; of accepted rows `quarantined`, " +
        "`deferred` or `rejected`.",
    ),
    column("text", "blocker", "Blocker", "Its name in `crm-sync report blockers` or in `sign_off_id` of `exceptions`."),
    column("text", "what", "What", "What it was."),
    column("text", "signed_off_by", "Signed off by", "Who signed it off."),
    column("instant", "signed_off_at", "Signed off", "When that was."),
    column("text", "sign_off_reason", "Reason", "Why it was accepted, in that person's words."),
    column("text", "facts", "Facts", "SHA-256 of the signed facts."),
    column("integer", "audit_sequence", "Audit entry", "The audit entry that says so."),
  ],
};

/** A sign-off as its audit entry says it. */
export interface SignOffFacts {
  at: string;
  blocker: string;
  what: string;
  by: string;
  reason: string;
  facts: string;
  auditSequence: number;
}

/** The same as a row. */
export function signOffRow({ at, blocker, what, by, reason, facts, auditSequence }: SignOffFacts): PartRow {
  const row = {
    kind: blocker.split(":", 1)[0] ?? null,
    blocker,
    what,
    signed_off_by: by,
    signed_off_at: at,
    sign_off_reason: reason,
    facts,
    audit_sequence: auditSequence,
  };
  return { part: signOffsPart.name, row };
}
