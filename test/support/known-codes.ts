import { readFileSync } from "node:fs";
import { join } from "node:path";
import { isJsonObject, type Json } from "../../src/base/canonical-json.ts";

/** Codes that the reference explains. */

const reference = join(import.meta.dirname, "../../docs/reference");
const listed = new Set(
  ["codes.md", "audit/format.md"].flatMap((name) =>
    [...readFileSync(join(reference, name), "utf8").matchAll(/^\| `([^`]+)` \|/gmu)].map(([, code = ""]) => code),
  ),
);

function isExplained(code: string): boolean {
  const [family, ...rest] = code.split(".");
  const isOfFamily = family === "rejected" || (family === "order" && listed.has(rest.join(".")));
  return listed.has(code) || isOfFamily || code.startsWith("bad-");
}

/** The codes in a result for programs that stand beside words for people and that no page explains. */
export function unexplainedCodes(value: Json): string[] {
  if (Array.isArray(value)) return value.flatMap(unexplainedCodes);
  // In a statement, `code` is a column with words of its own, such as the state of a hold.
  if (!isJsonObject(value) || ("header" in value && "parts" in value)) return [];
  const { code } = value;
  const isTold = typeof code === "string" && ["message", "cure", "reason"].some((name) => name in value);
  const own = isTold && !isExplained(code) ? [code] : [];
  return [...own, ...Object.values(value).flatMap((one) => unexplainedCodes(one ?? null))];
}
