import { usage } from "../base/errors.ts";
import { limits } from "../contract/limits.ts";
import { personalDataIn } from "../crm/personal-data.ts";

/** Throws without a reason. The audit log keeps it for good, so it must not contain personal data. */
export function requireReason(reason: string | undefined): string {
  const text = reason?.trim() ?? "";
  if (text === "") throw usage("a decision needs a reason; it is kept in the audit log", "add --reason TEXT");
  const held = personalIn(text);
  if (held !== undefined) throw usage(`--reason holds ${held.what}; ${held.means}`, held.cure);
  return text;
}

export function personalIn(words: string): { what: string; means: string; cure: string } | undefined {
  const data = personalDataIn(words, isAssetNumber);
  if (data === undefined) return undefined;
  return {
    what: `what looks like ${data}`,
    means: "it would enter the audit log, which nobody can erase, so it is refused",
    cure:
      "name people by their role, such as the service desk, and records by their ids, such as crm/10248; " +
      "write # or its kind (such as order) before a long number that is not a phone number",
  };
}

function isAssetNumber(digits: string): boolean {
  return digits.length === limits.assetDigits && limits.assetFirstDigits.some((digit) => digits.startsWith(digit));
}
