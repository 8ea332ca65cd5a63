import { ageOf, counted } from "./text.ts";

/**
 * How many customers are linked and how many were read whole `within` a time, how many should have been and were not
 * (`behind`: they were linked all that time), and when the oldest reading was.
 */
export interface Coverage {
  linked: number;
  read: number;
  behind: number;
  /** As `durationSchema` has it. */
  within: string;
  oldest: string | null;
  at: string;
}

/** `1,200 of 4,000 customers read back within 7d, the oldest reading is 6d old`. */
export function coverageText({ linked, read, within, oldest, at }: Coverage): string {
  const age = oldest === null ? "nothing was read yet" : `the oldest reading is ${ageOf(oldest, at)} old`;
  return `${read.toLocaleString("en")} of ${counted(linked, "customer")} read back within ${within}, ${age}`;
}

/** What is wrong where a budget is too small for the time within which all are to be read. */
export function behindText({ behind, within }: Coverage): string {
  return (
    `${counted(behind, "customer")} linked for longer than ${within} and not read back within it, so nobody knows ` +
    "how they stand: the budget is too small (`jobs: budget: calls`, or run the job more often)"
  );
}
