import { z } from "zod";
import type { RecordKey } from "../../crm/model.ts";
import type { DesiredStaff } from "../../engine/model/desired.ts";
import { markerKey, type PrivateMarker } from "../../engine/model/references.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import type { ObservedMember } from "../../platform/snapshot.ts";
import type { ShownField, StaffProfile } from "./state.ts";
import { readableMessage } from "../../contract/answer-json.ts";
import type { AddedStaff, RefusedStaff } from "../../contract/member-center.ts";
import type { RefusedPerson } from "../../engine/model/operation-type.ts";

/** In clear and in memory only; null: nothing; undefined: not compared. */
export type ClearProfile = { readonly [Field in ShownField]?: string | null | undefined };

/** What the fields that M5 shows are called. */
export const fieldNames: Record<ShownField, string> = {
  name: "name",
  remark: "note",
  mobile: "mobile number",
  departmentId: "department",
};
export const shownFields: readonly ShownField[] = ["name", "remark", "mobile", "departmentId"];

/** Commitments to what M1 and M2 are told of a person; null where the CRM says nothing. */
export const commitments = z.object({
  userName: z.string(),
  name: z.string(),
  remark: z.string().nullable(),
  mobile: z.string().nullable(),
  departmentId: z.string().nullable(),
});

/** What M1 and M2 are told of a person besides the password, as commitments. */
export function profileOf(body: DesiredStaff): StaffProfile {
  return {
    userName: body.userName.commitment,
    name: body.name.commitment,
    remark: body.remark?.commitment ?? null,
    mobile: body.mobile?.commitment ?? null,
    departmentId: body.departmentId ?? null,
  };
}

/** What the CRM says of a person in clear, as M5 shows it; null: it says nothing, undefined: that was erased. */
export function clearProfile(privateValues: ReadonlyMap<string, string>, body: DesiredStaff): ClearProfile {
  const text = (marker: PrivateMarker | undefined): string | null | undefined =>
    marker === undefined ? null : privateValues.get(markerKey(marker));
  const { name, remark, mobile, departmentId } = body;
  return { name: text(name), remark: text(remark), mobile: text(mobile), departmentId };
}

/**
 * What M5 shows of a person as the CRM has it, as commitments. Each field that it shows differently, or masks, has a
 * value that no CRM gives: nobody has sent it, so that it counts as changed in the CRM since.
 */
export function shownProfile(
  { privateValues }: { privateValues: ReadonlyMap<string, string> },
  body: DesiredStaff,
  member: ObservedMember,
): StaffProfile {
  const own = clearProfile(privateValues, body);
  const otherwise = shownOtherwise(member, own);
  const unknown = shownFields.filter((field) => typeof own[field] === "string" && isMasked(member[field]));
  const unsent: Partial<StaffProfile> = Object.fromEntries(
    [...otherwise, ...unknown].map((field) => [field, field === "name" ? "" : null]),
  );
  return { ...profileOf(body), ...unsent };
}

/**
 * What M5 should show of a person: each field that the CRM gives and gave already when something was last sent. What
 * the CRM does not give, or has changed since, is not compared.
 */
export function leftProfile(
  privateValues: ReadonlyMap<string, string>,
  body: DesiredStaff,
  sent: StaffProfile,
): ClearProfile {
  const wanted = profileOf(body);
  const own = clearProfile(privateValues, body);
  const left = shownFields.filter((field) => wanted[field] !== null && wanted[field] === sent[field]);
  return Object.fromEntries(left.map((field) => [field, own[field]]));
}

/** The fields that M5 shows differently than they should be. A text that it masks with stars says nothing. */
export function shownOtherwise(member: ObservedMember, wanted: ClearProfile): ShownField[] {
  return shownFields.filter((field) => {
    const text = wanted[field];
    const shown = member[field] ?? "";
    return text !== undefined && !isMasked(shown) && shown !== (text ?? "");
  });
}

/** Reads what was sent last of a customer's people, and gives the names of the fields that M5 shows differently. */
export async function differing({ state }: Ledger, customer: RecordKey): Promise<(member: ObservedMember) => string[]> {
  const left = await state.readTogether((rows) => rows.staff.leftProfiles(customer));
  return (member) => {
    const wanted = left.get(member.globalId);
    return wanted === undefined ? [] : shownOtherwise(member, wanted).map((field) => fieldNames[field]);
  };
}

/** Whether M5 hides a text behind stars. */
export function isMasked(shown: string | null): boolean {
  return shown?.includes("*") === true;
}

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
