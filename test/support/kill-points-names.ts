/** The exact points at which the program is killed, in the order in which an operation comes to them. */
export const killPoints = [
  "before the plan row",
  "in the intent transaction",
  "after the intent",
  "half the request written",
  "all written, nothing committed there",
  "committed there, no reply",
  "half the reply read",
  "reply parsed",
  "in the outcome transaction",
  "after the outcome",
  "in settling, after a look-up that shows it",
  "in settling, after a look-up that does not",
  "in settling, after a resend",
] as const;
export type KillPoint = (typeof killPoints)[number];
