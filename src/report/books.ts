import { canonicalJson, sha256, type JsonObject } from "../base/canonical-json.ts";
import { formatKey } from "../crm/keys.ts";
import type { HoldFacts, OperationFacts } from "./facts.ts";
import { instantText, plainView, printable, renderTable, withLocalInstants, type View } from "./text.ts";

/** What a person can sign off. */
export interface Signable {
  /** As it is named to be signed off, such as `operation:op_0mup8um80000090da5e`. */
  id: string;
  /** What it is, in words and ids. */
  what: string;
  /** SHA-256 of what is signed: where it changes, an earlier signature counts no more. */
  facts: string;
  /** The key of the customer whom it is about, where that is known and its id does not say it. */
  customer?: string;
}

/** What stands in the way of closing a period: it is solved, or a person signs it off. */
export interface Blocker extends Signable {
  kind: "outcome-unknown" | "held" | "source-unread" | "run" | "sum" | "money";
  signedOff: { by: string; at: string; reason: string } | null;
}

/** Something that can be signed off, made from what it is. */
export function signableOf(id: string, what: string, facts: JsonObject): Signable {
  return { id, what, facts: sha256(canonicalJson({ id, ...facts })) };
}

/** A blocker that nobody signed off yet, made from what it is. */
export function blockerOf(kind: Blocker["kind"], id: string, what: string, facts: JsonObject): Blocker {
  return { kind, ...signableOf(id, what, facts), signedOff: null };
}

/** An operation of which nobody knows yet whether it was done. */
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

/** A hold that nobody decided on, or that is not carried out. */
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

/** What stands in the way, for people, and what to do about each kind of it. */
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

/** One closing of a period, as people get it. Instants are ISO text in UTC. */
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

/** One frozen file of a closing. */
export interface ClosedFileFacts {
  name: string;
  kind: string;
  format: string;
  sha256: string;
  bytes: number;
}

/** The closings, as a list. */
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
