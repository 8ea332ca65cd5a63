import type { ExplainFacts } from "./explain.ts";
import type { Verdict } from "./explain-verdict.ts";

/** How a record does, in a word that a colour may stand beside. */
export type Mood = "good" | "wait" | "bad";

/** Whose turn it is, by what there is to be done. */
export function whoseTurn({ because, next }: Verdict): string {
  const due = next.find((step) => !step.startsWith("nothing"));
  if (due === undefined)
    return because.length === 0 ? "nobody's: there is nothing to do" : "nobody's: the next run looks at it by itself";
  if (/\bin the CRM\b|\bfrom the CRM\b|the source of/u.test(due)) return "that of whoever keeps the CRM";
  if (/\bon the platform\b/u.test(due)) return "that of a provider of the platform";
  return "that of an operator of crm-sync";
}

/** What a verdict comes to: in trouble where a person has to do something, waiting where the program goes on alone. */
export function moodOf(facts: ExplainFacts, { because, next }: Verdict): Mood {
  if (because.length === 0) return facts.record === null ? "bad" : "good";
  return next.some((step) => !step.startsWith("nothing")) ? "bad" : "wait";
}

/** Since when what stops a record does, or else since when it stands as it does. */
export function sinceWhen(facts: ExplainFacts): string | null {
  const { record, customer } = facts;
  const stops = [
    ...facts.quarantine.filter(({ state }) => state !== "resolved").map(({ firstSeen }) => firstSeen),
    ...(record?.deferred === null || record === null ? [] : [record.deferred.since]),
    ...(customer?.openOperations ?? []).map(({ createdAt }) => createdAt),
    ...(customer?.holds ?? []).filter(({ state }) => state === "open").map(({ createdAt }) => createdAt),
    ...facts.unusable.map(({ firstSeen }) => firstSeen),
  ].sort();
  if (stops[0] !== undefined) return stops[0];
  const stands = [...facts.placed, ...facts.staffLinks, ...(facts.stream === "customers" ? facts.links : [])];
  return stands.find(({ to }) => to === null)?.from ?? record?.changedAt ?? null;
}
