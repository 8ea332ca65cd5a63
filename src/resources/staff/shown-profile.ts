import type { ObservedMember } from "../../platform/snapshot.ts";
import type { ShownField } from "./state.ts";

/** In clear and in memory only; null: nothing; undefined: not compared. */
export type ClearProfile = { readonly [Field in ShownField]?: string | null | undefined };

/** Whether M5 hides a text behind stars. */
export function isMasked(shown: string | null): boolean {
  return shown?.includes("*") === true;
}

/** The fields that M5 shows otherwise than they should be. A text that it masks with stars says nothing. */
export function shownOtherwise(member: ObservedMember, wanted: ClearProfile): ShownField[] {
  const fields: ShownField[] = ["name", "remark", "mobile", "departmentId"];
  return fields.filter((field) => {
    const text = wanted[field];
    const shown = member[field] ?? "";
    return text !== undefined && !isMasked(shown) && shown !== (text ?? "");
  });
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
