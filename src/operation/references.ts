import { isJsonObject } from "../base/canonical-json.ts";
import type { Json, JsonObject } from "../base/canonical-json.ts";

/** What a plan cannot know yet. `of` says which one: a licence type, a staff subject, an asset instance. */
export type Reference =
  | { $ref: "enterpriseGlobalId" }
  | { $ref: "customerId"; of: string }
  | { $ref: "assetNumber"; of: string }
  | { $ref: "memberGlobalId"; of: string }
  | { $ref: "licenseOrderId"; of: string };

/**
 * A value that lives in the ledger's private table: which record, which version of it, which field, and the salted
 * commitment to it.
 */
export interface PrivateMarker {
  $private: string;
  field: string;
  version: number;
  commitment: string;
}

export function isReference(value: Json | undefined): value is Reference & JsonObject {
  return isJsonObject(value) && typeof value["$ref"] === "string";
}

export function isPrivateMarker(value: Json | undefined): value is PrivateMarker & JsonObject {
  return (
    isJsonObject(value) &&
    typeof value["$private"] === "string" &&
    typeof value["field"] === "string" &&
    typeof value["version"] === "number" &&
    typeof value["commitment"] === "string"
  );
}

/** Which endpoint makes a reference known, as a plan prints it: "(known after E3)". */
export const knownAfter: Record<Reference["$ref"], string> = {
  enterpriseGlobalId: "E2",
  customerId: "E3",
  assetNumber: "E9",
  memberGlobalId: "M1",
  licenseOrderId: "E5",
};

/** The key under which a private value is looked up in a loaded set. */
export function markerKey(marker: Pick<PrivateMarker, "$private" | "field" | "version">): string {
  return `${marker.$private}@${marker.version}#${marker.field}`;
}
