import { usage } from "../base/errors.ts";
import { limits } from "../contract/limits.ts";
import { personalDataIn } from "../crm/personal-data.ts";

/**
 * Why a person decides so; without it nothing is decided. It stands in the audit log for good, so it may hold
 * nothing personal: that stands in the one table that can be erased.
 */
export function requireReason(reason: string | undefined): string {
  const text = reason?.trim() ?? "";
  if (text === "") throw usage("a decision needs a reason; it is kept in the audit log", "add --reason TEXT");
  const held = personalIn(text);
  if (held !== undefined) throw usage(`--reason holds ${held.what}; ${held.means}`, held.cure);
  return text;
}

/** What is wrong with words that are to stand in the audit log; undefined where nothing is. */
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

/** As E9 hands them out. */
function isAssetNumber(digits: string): boolean {
  return digits.length === limits.assetDigits && limits.assetFirstDigits.some((digit) => digits.startsWith(digit));
}
