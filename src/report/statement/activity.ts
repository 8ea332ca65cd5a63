import type { PartRow, StatementShape } from "./shape.ts";

/** What people do, by the kind of the audit entry that says so; whatever else bears a name is `other`. */
const whatByKind: Readonly<Record<string, string>> = {
  "hold-approved": "approved",
  "operation-approved": "approved",
  "hold-rejected": "rejected",
  "rejection-taken-back": "rejection taken back",
  "linked-by-hand": "linked",
  "unlinked-by-hand": "unlinked",
  "request-made": "requested",
  "request-withdrawn": "request withdrawn",
  "quarantine-retry": "retried",
  "mapped-anew": "mapped anew",
  "done-by-hand": "noted as done",
  "by-hand-read-back": "noted as done",
  "assumption-accepted": "accepted",
  "shrink-accepted": "overrode a limit",
  "drift-accepted": "overrode a limit",
  "password-handed-out": "saw a password",
  "private-shown": "saw personal data",
  erased: "erased",
  "period-closed": "closed the books",
  "period-reopened": "opened the books again",
  "signed-off": "signed off",
};

/** Who did what, and why. */
export const activityStatement: StatementShape = {
  kind: "activity",
  version: 1,
  title: "Activity",
  about:
    "Who ran, approved, settled, overrode, linked, requested, looked at or decided what, and why: one row for each " +
    "audit " +
    "entry that bears a person's name, and for each run.",
  parts: [
    {
      name: "activity",
      title: "Activity",
      about: "What people did, and what the schedule ran, in the order of time.",
      groupBy: "what",
      columns: [
        { name: "at", type: "instant", title: "At", about: "When it was done; of a run, when it began." },
        {
          name: "who",
          type: "text",
          title: "Who",
          about: "The person as the audit record names them; empty for the schedule.",
        },
        {
          name: "what",
          type: "text",
          title: "What",
          about:
            "`ran`, `ran by schedule`, `settled`, `approved`, `rejected`, `rejection taken back`, `linked`, " +
            "`unlinked`, " +
            "`requested`, `request withdrawn`, `retried`, `noted as done`, `accepted`, `overrode a limit`, " +
            "`saw a password`, `saw personal data`, `erased`, `closed the books`, `opened the books again`, " +
            "`signed off`, or `other`.",
        },
        { name: "kind", type: "text", title: "Kind", about: "The kind of the audit entry, or of the run." },
        { name: "subject", type: "text", title: "Subject", about: "What it was done to; of a run, its job." },
        {
          name: "customer",
          type: "text",
          title: "Customer",
          about: "The customer whom it is about, where it is about one.",
        },
        {
          name: "decision",
          type: "text",
          title: "Decision",
          about: "`applied` or `not-applied`, of what was settled.",
        },
        { name: "reason", type: "text", title: "Reason", about: "Why, in that person's words." },
        { name: "run", type: "text", title: "Run", about: "The run that it was, or that it belongs to." },
        { name: "hold", type: "text", title: "Hold", about: "The hold that was decided on." },
        { name: "operation", type: "text", title: "Operation", about: "The operation that it is about." },
        { name: "audit_sequence", type: "integer", title: "Audit entry", about: "The audit entry that says so." },
      ],
    },
  ],
};

/** Something that a person did, or a run. */
export interface ActivityFacts {
  at: string;
  who: string | null;
  /** How a run began; null for anything else. */
  trigger: string | null;
  kind: string;
  subject: string;
  customer: string | null;
  decision: string | null;
  reason: string | null;
  run: string | null;
  hold: string | null;
  operation: string | null;
  auditSequence: number | null;
}

/** The same as a row. */
export function activityRow({ trigger, auditSequence, ...facts }: ActivityFacts): PartRow {
  return { part: "activity", row: { ...facts, what: whatOf(trigger, facts), audit_sequence: auditSequence } };
}

function whatOf(trigger: string | null, { kind, decision }: Pick<ActivityFacts, "kind" | "decision">): string {
  if (trigger !== null) return trigger === "schedule" ? "ran by schedule" : "ran";
  return decision === null ? (whatByKind[kind] ?? "other") : "settled";
}
