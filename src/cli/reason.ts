import { usage } from "../base/errors.ts";

/** Why a person decides so; without it nothing is decided. */
export function requireReason(reason: string | undefined): string {
  const text = reason?.trim() ?? "";
  if (text !== "") return text;
  throw usage("a decision needs a reason; it is kept in the audit record", "add --reason TEXT");
}
