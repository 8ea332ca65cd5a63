import { canonicalJson, sha256, type JsonObject } from "../base/canonical-json.ts";
import { formatKey } from "../crm/keys.ts";
import type { HoldFacts, OperationFacts } from "./facts.ts";
import { instantText, plainView, printable, renderTable, withLocalInstants, type View } from "./text.ts";

export interface Signable {
  /** The id for signing off, such as `operation:op_0mup8um80000090da5e`. */
  id: string;
  what: string;
  /** SHA-256 of the signed facts. If they change, an earlier signature no longer counts. */
  facts: string;
  /** The customer's key, if it is known and `id` does not contain it. */
  customer?: string;
}

/** It blocks the close of a period until somebody solves it or signs it off. */
export interface Blocker extends Signable {
  kind: "outcome-unknown" | "held" | "source-unread" | "run" | "sum" | "money";
  signedOff: { by: string; at: string; reason: string } | null;
}

export function signableOf(id: string, what: string, facts: JsonObject): Signable {
  return { id, what, facts: sha256(canonicalJson({ id, ...facts })) };
}

export function blockerOf(kind: Blocker["kind"], id: string, what: string, facts: JsonObject): Blocker {
  return { kind, ...signableOf(id, what, facts), signedOff: null };
}

export function outcomeBlocker({
  id,
  kind,
  endpoint,
  subject,
  state,
}: Pick<OperationFacts, "id" | "kind" | "endpoint" | "subject" | "state">): Blocker {
  const what = `${kind} (${endpoint}) of ${subject} is ${state}: nobody knows yet whether it was done`;
  return blockerOf("outcome-unknown", `operation:${id}`, what, { state });
}

export function holdBlocker({ id, customer, state, count, explanation }: HoldFacts): Blocker {
  const what =
    `a held change of customer ${formatKey(customer)} waits for a decision, or for the run that makes ` +
    `it: ${explanation}`;
  return blockerOf("held", `hold:${id}`, what, { state, count });
}

const next: Record<Blocker["kind"], string> = {
  "outcome-unknown": "`crm-sync settle list` shows it with its evidence and what decides it",
  held: "decide it, then run: `crm-sync status` lists it with what decides it",
  "source-unread": "run the job that reads it",
  run: "wait for it, or look at it: `crm-sync runs`",
  sum: "the statement of that name shows both figures; verify the record: `crm-sync audit verify`",
  money: "correct the amount in the CRM, and run the job that reads it",
};

export function blockersText(blockers: readonly Blocker[], period: string, view: View = plainView): string {
  const open = blockers.filter(({ signedOff }) => signedOff === null);
  const table = renderTable(
    ["blocker", "what", "signed off"],
    blockers.map(({ id, what, signedOff }) => [
      id,
      withLocalInstants(printable(what), view),
      signedOff === null ? "" : `${signedOff.by}, ${instantText(signedOff.at, view)}: ${printable(signedOff.reason)}`,
    ]),
    view,
  );
  if (open.length === 0) return table;
  const kinds = [...new Set(open.map(({ kind }) => kind))];
  return [
    table,
    ...kinds.map((kind) => `  → ${kind}: ${next[kind]}`),
    `  → or as it is: crm-sync report sign-off ${period} ${open[0]?.id ?? "BLOCKER"} --by NAME --reason TEXT`,
    "",
  ].join("\n");
}

export interface ClosingFacts {
  period: string;
  closing: number;
  zone: string;
  from: string;
  to: string;
  closedAt: string;
  closedBy: string;
  reason: string | null;
  asOf: string;
  entry: number;
  hash: string;
  size: number;
  root: string;
  program: string;
  configuration: string;
  reopened: { at: string; by: string; reason: string } | null;
}

export interface ClosedFileFacts {
  name: string;
  kind: string;
  format: string;
  sha256: string;
  bytes: number;
}

export function closingsText(closings: readonly ClosingFacts[], view: View = plainView): string {
  if (closings.length === 0) return "no period is closed";
  return renderTable(
    ["period", "closing", "closed", "by", "entry", "opened again"],
    closings.map(({ period, closing, closedAt, closedBy, entry, reopened }) => [
      period,
      String(closing),
      instantText(closedAt, view),
      printable(closedBy),
      String(entry),
      reopened === null
        ? ""
        : `${instantText(reopened.at, view)} by ${printable(reopened.by)}: ${printable(reopened.reason)}`,
    ]),
    view,
  );
}
