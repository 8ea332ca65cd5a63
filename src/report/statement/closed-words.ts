/**
 * The only texts that closed periods may contain: figures, ids, codes and field names. Words of the CRM and the
 * services may name people, so these words stay where they can be erased.
 */

const id = "[^\\s;,]{1,120}";
const fieldName = "[A-Za-z]{1,40}";
const figure = '(?:nothing|"?[\\d:.+TZ-]{0,40}"?|true|false)';

const claim = `asset (?:number|instance) ${id}: (?:taken from somebody for this person, and )?`;

const details = [
  `\\d+ (?:missing|extra|different|in-transit|not-observable)`,
  `the CRM wants \\d+ of it, and (?:\\d+ have no asset number yet|there are \\d+)`,
  "amount: the CRM has another one than it was sent with",
  `${fieldName}: sent ${figure}, shown ${figure}`,
  `CRM ${fieldName}: (?:placed|sent) with ${figure}, now ${figure}`,
  "CRM term: sent with P?[A-Z0-9]{1,20}, now P?[A-Z0-9]{1,20}",
  `(?:channelOrderId|licenseOrderId): sent ${id}, shown ${id}`,
  "adopted: compared with the CRM",
  "not sent(?: yet|: the record waits in quarantine|: the order was placed without it)?",
  "the newest form of the record waits in quarantine; compared is the last usable one",
  "(?:E3|M5) does not show the (?:enterprise|member)",
  "M7 does not show it under its asset",
  "neither M6 nor E8 shows (?:its|the) asset number",
  "nobody holds the asset number",
  `held by (?:the member ${id}|a member that crm-sync did not assign it to)`,
  `E3 shows ${id} too, which is not linked to this customer`,
  `M5 shows it with the member ${id}, and M6 (?:with nobody|with the member ${id}); nothing is done on it \\(A34\\)`,
  `M5 shows another ${fieldName}(?: and ${fieldName})* than was sent`,
  "name, branch and address: no endpoint reads them back",
  "never read back: crm-sync run verify",
  "the last reading of the platform did not end",
  "sent so lately that it may be on its way",
  "it was sent after the platform was last read for the customer",
  "the CRM no longer (?:has the customer; its enterprise stays|has this person; the account stays)",
  "the CRM no longer (?:gives it to this person|has it in the order, which stays unchanged)",
  "the order (?:was cancelled in the CRM|is gone from the CRM) and stays placed",
  "the order moved to another customer in the CRM, and is still placed here",
  "the platform has shown no \\w{1,40} yet \\(A43\\)",
  "the platform shows it, and (?:this ledger does not know that it was sent|it belongs to no order of this customer)",
  "the platform shows it under a number of this customer's orders, and by what this ledger knows it is gone",
  "the platform shows the (?:asset number|product under this asset number) \\d+ times; it may have been placed twice",
  "a call removed it, and the platform still shows it (?:with the same person|as an account that can be used)",
  "the old form stays beside the new one until it is removed",
];
const isClosed = new RegExp(`^(?:${details.join("|")})$`, "u");

const shortened: readonly (readonly [RegExp, (...parts: string[]) => string])[] = [
  [
    new RegExp(`^((?:${claim})?)(not sent|waits|waits in quarantine): ([a-z0-9.-]{1,60})$`, "u"),
    (what, stands, code) => `${what}${stands}: ${closedDeferral(code)}`,
  ],
  [/^waits in quarantine: /u, () => "waits in quarantine"],
  [/^not sent: /u, () => "not sent: the record waits"],
  [/^waits: /u, () => "the newest form of the record waits; compared is the last one"],
  [/^(\w+): sent .*, shown /su, (field) => `${field}: shown otherwise than it was sent`],
  [/^CRM (\w+): (placed|sent) with /u, (field, how) => `CRM ${field}: another one than it was ${how} with`],
  [new RegExp(`^(${claim})not sent\\b`, "u"), (what) => `${what}not sent`],
];

export function closedDetail(detail: string): string {
  if (isClosed.test(detail)) return detail;
  for (const [pattern, left] of shortened) {
    const found = pattern.exec(detail);
    if (found !== null) return left(...found.slice(1));
  }
  return "something else; `crm-sync explain customer` says what";
}

const ofService = /^(?:\d{3,6}|(?:service|payload|operation|platform|order|staff|asset|enterprise|pool)\.[a-z-]+)$/u;

/** A code of the program, or a number of the services; any other code becomes `other`. */
export function closedCode(code: string | null): string | null {
  if (code === null || code === "" || ofService.test(code)) return code;
  const refused = /^rejected\.(.*)$/su.exec(code)?.[1];
  return refused === undefined ? "other" : `rejected.${closedCode(refused)}`;
}

/** The code of a waiting record. Only the part after `rejected.` may come from a service. */
export function closedDeferral(code: string): string {
  return code.startsWith("rejected.") ? (closedCode(code) ?? code) : code;
}

const verdicts = [
  "not sent",
  "(?:not )?applied",
  "not applied; planned anew",
  "applied in part; the rest is planned anew",
  "lost",
  "the numbers are spent and lost",
  "(?:was refused and is shown; )?waits for a person",
  "a person decided: (?:not[ -])?applied",
];
const isVerdict = new RegExp(`^(?:${verdicts.join("|")})$`, "u");

export function closedVerdict(verdict: string | null): string | null {
  return verdict !== null && isVerdict.test(verdict) ? verdict : null;
}

/** A term as both sides write it. The platform may show any text instead. */
export function closedTerm(term: string | null): string | null {
  return term === null || /^\d{1,4}-\d{1,4}-\d{1,5}$/u.test(term) ? term : "other";
}
