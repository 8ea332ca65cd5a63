import type { JsonObject } from "../../base/canonical-json.ts";
import { isJsonObject } from "../../base/canonical-json.ts";
import type { Uniqueness } from "../../operation/kind.ts";
import { kindOf } from "../../operation/registry.ts";
import type { OperationKind } from "../../operation/registry.ts";

type Claim = { column: "payload" | "target"; field: string };

/** Where an open operation says the number that it claims for itself alone. */
const claims: Record<Uniqueness["what"], Claim> = {
  order: { column: "payload", field: "channelOrderId" },
  enterprise: { column: "target", field: "channelCustomerId" },
};

/** Whether the claim of an operation can be read, whatever the form of the rest; true where its kind claims nothing. */
export function isClaimReadable(kind: OperationKind, columns: JsonObject): boolean {
  const what = kindOf({ kind }).claims;
  if (what === undefined) return true;
  const { column, field } = claims[what];
  const value = columns[column];
  return isJsonObject(value) && typeof value[field] === "string";
}
