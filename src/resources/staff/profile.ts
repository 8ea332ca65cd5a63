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

/** In clear, only in memory. Null: empty; undefined: not compared. */
export type ClearProfile = { readonly [Field in ShownField]?: string | null | undefined };

export const fieldNames: Record<ShownField, string> = {
  name: "name",
  remark: "note",
  mobile: "mobile number",
  departmentId: "department",
};
export const shownFields: readonly ShownField[] = ["name", "remark", "mobile", "departmentId"];

/** Commitments; null: the CRM gives no value. */
export const commitments = z.object({
  userName: z.string(),
  name: z.string(),
  remark: z.string().nullable(),
  mobile: z.string().nullable(),
  departmentId: z.string().nullable(),
});

export function profileOf(body: DesiredStaff): StaffProfile {
  return {
    userName: body.userName.commitment,
    name: body.name.commitment,
    remark: body.remark?.commitment ?? null,
    mobile: body.mobile?.commitment ?? null,
    departmentId: body.departmentId ?? null,
  };
}

/** In clear, as M5 shows it. Null: the CRM gives no value; undefined: erased. */
export function clearProfile(privateValues: ReadonlyMap<string, string>, body: DesiredStaff): ClearProfile {
  const text = (marker: PrivateMarker | undefined): string | null | undefined =>
    marker === undefined ? null : privateValues.get(markerKey(marker));
  const { name, remark, mobile, departmentId } = body;
  return { name: text(name), remark: text(remark), mobile: text(mobile), departmentId };
}

/** Differing or masked fields get a value that no CRM gives, so they count as changed in the CRM. */
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

/** The values that M5 should show: fields that the CRM gives now and gave when they were sent. */
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

/** Values that M5 masks with stars prove nothing. */
export function shownOtherwise(member: ObservedMember, wanted: ClearProfile): ShownField[] {
  return shownFields.filter((field) => {
    const text = wanted[field];
    const shown = member[field] ?? "";
    return text !== undefined && !isMasked(shown) && shown !== (text ?? "");
  });
}

/** Returns a function that names the fields of a member that M5 shows differently than sent. */
export async function differing({ state }: Ledger, customer: RecordKey): Promise<(member: ObservedMember) => string[]> {
  const left = await state.readTogether((rows) => rows.staff.leftProfiles(customer));
  return (member) => {
    const wanted = left.get(member.globalId);
    return wanted === undefined ? [] : shownOtherwise(member, wanted).map((field) => fieldNames[field]);
  };
}

export function isMasked(shown: string | null): boolean {
  return shown?.includes("*") === true;
}

/** The shown name may end with the enterprise code: the known one, or any of allowed length. */
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

export interface StaffMatch {
  added: { key: RecordKey; globalId: string }[];
  refused: RefusedPerson[];
  code: string | undefined;
}

/**
 * All rows must have one common suffix, and each person must come back exactly once. Otherwise undefined: M5 decides.
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

/** Undefined if no suffix fits, or several do. */
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
