import type { View } from "./text.ts";
import { instantText, printable } from "./text.ts";

/** Since when a person has it that nothing is written to the services, who, and why. */
export interface Paused {
  /** ISO instant. */
  since: string;
  by: string;
  reason: string;
}

/** The one sentence that every output and every page shows as long as it is paused. */
export function pausedText({ since, by, reason }: Paused, view: View): string {
  return printable(
    `Paused since ${instantText(since, view)} by ${by} (${reason}): nothing is written to either service. ` +
      "`crm-sync resume` ends it.",
  );
}

/** What a person is told who resumes; `word`: the last word on it, by this person where it `isNew`. */
export function resumedText(word: (Paused & { isNew: boolean }) | undefined, view: View): string {
  if (word?.isNew === true) return "Resumed: the next run sends what waited.";
  const last = word === undefined ? "" : ` It was resumed ${instantText(word.since, view)} by ${word.by}.`;
  return printable(`It is not paused, and nothing changed.${last}`);
}

/** How many calls go on that had begun before. */
export function callsGoingOnText(calls: number): string {
  const those = calls === 1 ? "1 call that began before is" : `${calls} calls that began before are`;
  return `${those} still in progress; what becomes of each is recorded as ever.`;
}
