import type { JsonObject } from "../base/canonical-json.ts";

export const orderDesk = "the service desk of the order service";
export const memberDesk = "the service desk of the member-center";
const mostShown = 10;

/** The enterprise that an operation was sent for, in words. */
export function withinEnterprise({ context, target }: { context: JsonObject; target: JsonObject }): string {
  const enterprise = textAt(context, "enterpriseGlobalId") ?? textAt(target, "enterpriseGlobalId");
  return enterprise === undefined ? "the customer's enterprise" : `the enterprise ${enterprise}`;
}

/** A text that is not empty, of an object that an older version may have written. */
export function textAt(object: JsonObject, key: string): string | undefined {
  const value = object[key];
  return typeof value === "string" && value !== "" ? value : undefined;
}

export function listAt(object: JsonObject, key: string): string[] {
  const value = object[key];
  return Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
}

/** The first of these, and how many more there are. */
export function some(items: readonly string[]): string {
  if (items.length === 0) return "(none known)";
  const more = items.length - mostShown;
  return more > 0 ? `${items.slice(0, mostShown).join(", ")} and ${more} more` : items.join(", ");
}
