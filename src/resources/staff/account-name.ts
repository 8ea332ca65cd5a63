import { readableMessage } from "../../contract/answer-json.ts";
import type { AddedStaff, RefusedStaff } from "../../contract/member-center.ts";
import type { RecordKey } from "../../crm/model.ts";
import type { RefusedPerson } from "../../engine/model/operation-type.ts";
import type { ObservedMember } from "../../platform/snapshot.ts";

/** Whether M5 shows an account under this name: bare, or with the enterprise code, known or of any length allowed. */
export function isAccountOf(
  { userName }: Pick<ObservedMember, "userName">,
  login: string,
  code: { known: string | undefined; maxLength: number },
): boolean {
  if (userName === login) return true;
  if (!userName.startsWith(login)) return false;
  const ending = userName.slice(login.length);
  return code.known === undefined ? ending.length <= code.maxLength : ending === code.known;
}

/** Who was added, who was refused, and the enterprise code that the account names show. */
export interface StaffMatch {
  added: { key: RecordKey; globalId: string }[];
  refused: RefusedPerson[];
  code: string | undefined;
}

/**
 * Ties the rows of M1's answer to the staff that were sent. The service appends the enterprise code: it must be one
 * suffix common to all rows, and every person sent must come back exactly once, added or refused. Undefined where that
 * does not work out: then the staff list decides.
 */
export function matchAddedStaff(
  sent: readonly { key: RecordKey; userName: string }[],
  answer: { succeeded: readonly AddedStaff[]; failed: readonly RefusedStaff[] },
  knownCode: string | undefined,
): StaffMatch | undefined {
  const bySentName = new Map(sent.map((person) => [person.userName, person.key]));
  const code = commonSuffix(
    [...bySentName.keys()],
    answer.succeeded.map((row) => row.userName),
    knownCode,
  );
  if (answer.succeeded.length > 0 && code === undefined) return undefined;
  const seen = new Set<string>();
  const match: StaffMatch = { added: [], refused: [], code };
  for (const row of answer.succeeded) {
    const name = row.userName.slice(0, row.userName.length - (code?.length ?? 0));
    const key = bySentName.get(name);
    if (key === undefined || seen.has(name)) return undefined;
    seen.add(name);
    match.added.push({ key, globalId: row.globalId });
  }
  for (const row of answer.failed) {
    const suffix = code ?? knownCode ?? "";
    const bare = bySentName.has(row.userName)
      ? row.userName
      : row.userName.slice(0, row.userName.length - suffix.length);
    const key = bySentName.get(bare);
    if (key === undefined || seen.has(bare)) return undefined;
    seen.add(bare);
    match.refused.push({ key, message: readableMessage(row.message ?? "") });
  }
  return seen.size === bySentName.size ? match : undefined;
}

/**
 * The one suffix that turns every shown account name into one of the sent names, or undefined (none, or more than one).
 */
export function commonSuffix(
  sent: readonly string[],
  shown: readonly string[],
  known: string | undefined,
): string | undefined {
  const [first] = shown;
  if (first === undefined) return undefined;
  const names = new Set(sent);
  const candidates =
    known === undefined
      ? sent.filter((name) => first.startsWith(name)).map((name) => first.slice(name.length))
      : [known];
  const fitting = candidates.filter((suffix) =>
    shown.every((name) => name.endsWith(suffix) && names.has(name.slice(0, name.length - suffix.length))),
  );
  return fitting.length === 1 ? fitting[0] : undefined;
}
