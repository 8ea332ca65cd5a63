import type { CrmNow, Line, PersonNow } from "./model.ts";

/*
 * Who may hold what. Lines of one row, each renewed by the next, may have asset numbers in common, and a number has one
 * holder: so many people hold something of a row at most as any line has assets that one of them claims. Who claims a
 * line that ended holds what renewed it.
 */

/** Lines of a customer of which an asset is left for one more person. */
export function freeLines(crm: CrmNow, customer: string): string[] {
  return crm
    .lines()
    .filter(({ order, line }) => order.customer === customer && fits(crm, customer, line.id, 1))
    .map(({ line }) => line.id);
}

/** Whether people who hold something of a line's row, and so many more who hold that line, can each have an asset. */
function fits(crm: CrmNow, customer: string, line: string, more: number): boolean {
  const row = crm.lineage.root(line);
  const claims = holdersOf(crm, customer).flatMap((person) =>
    person.holds.filter((claim) => crm.lineage.root(claim) === row),
  );
  const claimed = more > 0 ? [...claims, line] : claims;
  return claimed.every((claim) => mostOf(claim, crm.meantBy(claim, customer)) >= claims.length + more);
}

/** Of a line that is wanted its own assets count, and not what a line that renews it has more. */
function mostOf(claim: string, lines: readonly Line[]): number {
  const own = lines.filter(({ id }) => id === claim);
  return Math.max(0, ...(own.length > 0 ? own : lines).map(({ quantity }) => quantity));
}

function holdersOf(crm: CrmNow, customer: string): PersonNow[] {
  return crm.people.filter((person) => !person.gone && person.customer === customer);
}

/** Whether somebody holds something of a line's row already. */
export function holdsOf(crm: CrmNow, person: PersonNow, line: string): boolean {
  return person.holds.some((claim) => crm.lineage.root(claim) === crm.lineage.root(line));
}

/** Nobody holds what is gone, and nobody anything of a row that has not enough for all of them any more. */
export function release(crm: CrmNow): void {
  for (const person of crm.people)
    person.holds = person.holds.filter(
      (claim) => crm.away.has(claim) || crm.meantBy(claim, person.customer).length > 0,
    );
  for (const person of crm.people)
    for (const claim of person.holds) {
      if (crm.away.has(claim) || fits(crm, person.customer, claim, 0)) continue;
      const row = crm.lineage.root(claim);
      for (const other of holdersOf(crm, person.customer))
        other.holds = other.holds.filter((item) => crm.lineage.root(item) !== row);
    }
}

/** The CRM names what somebody holds by another line of its row that is wanted: the same asset. */
export function nameByStanding(crm: CrmNow, person: PersonNow): void {
  person.holds = person.holds.map((claim) => {
    const meant = crm.meantBy(claim, person.customer);
    return meant.some(({ id }) => id === claim) ? claim : (meant[0]?.id ?? claim);
  });
}
